#include "models/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace structlearn {

using text::Json;

namespace {

constexpr double kMost = 0.9999;

bool is_temperature(double x) {
  return x > 0.0 && std::isfinite(x);
}

}  // namespace

std::vector<double> CalibrationRecord::certainty() const {
  std::vector<double> numbers{highest_confidence(parts)};
  numbers.insert(numbers.end(), curve.begin(), curve.end());
  return numbers;
}

double highest_confidence(std::size_t n) {
  const auto parts = static_cast<double>(n);
  return std::min((parts + 1.0) / (parts + 2.0), kMost);
}

CalibrationRecord read_calibration(const Json& stored) {
  CalibrationRecord read;
  read.temperature = stored.at("temperature").number("the temperature of a calibration");
  read.parts = stored.at("n_parts").size("n_parts of a calibration", 0, std::size_t{1} << 52);
  read.error = stored.at("error").number("the error of a calibration");
  const Json& curve = stored.at("curve");
  if (!curve.is_null()) {
    for (const Json& x : curve.list("the curve of a calibration")) {
      read.curve.push_back(x.number("the curve of a calibration"));
    }
    if (read.curve.size() != 3 ||
        !std::all_of(read.curve.begin(), read.curve.end(),
                     [](double x) { return std::isfinite(x); }) ||
        read.curve[0] < 0.0 || read.curve[1] < 0.0) {
      throw std::invalid_argument("a calibration whose curve makes no sense");
    }
  }
  if (!is_temperature(read.temperature) || !(read.error >= 0.0 && read.error <= 1.0)) {
    throw std::invalid_argument("a calibration that makes no sense");
  }
  return read;
}

std::optional<double> loss_temperature(const Json& learner, const Json& given) {
  if (given.is_null()) {
    // Learners that minimise a log loss or count, whatever their parameters say.
    const std::string name = learner.is_text() ? learner.text("the learner") : "";
    if (name == "crf" || name == "hmm" || name == "pcfg") return 1.0;
    return std::nullopt;
  }
  const double x = given.number("a temperature");
  if (x == 0.0) return std::nullopt;
  if (!is_temperature(x)) throw std::invalid_argument("a temperature of " + std::to_string(x));
  return x;
}

ProbabilityScale probability_scale(const Json& training) {
  ProbabilityScale scale;
  const Json none;
  const Json* calibration = training.find("calibration");
  const Json* learner = training.find("learner");
  const Json* parameters = training.find("learner_parameters");
  const Json* given = parameters == nullptr ? nullptr : parameters->find("temperature");
  const std::optional<double> loss =
      loss_temperature(learner ? *learner : none, given ? *given : none);
  if (calibration != nullptr && !calibration->is_null()) {
    const CalibrationRecord read = read_calibration(*calibration);
    scale.temperature = read.temperature;
    scale.certainty = read.certainty();
  } else if (loss) {
    scale.temperature = *loss;
  }
  return scale;
}

}  // namespace structlearn
