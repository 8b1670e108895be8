// What the record of a training says of the scale of a model's probabilities.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "text/json.hpp"

namespace structlearn {

// What a dev set said: the temperature of the distribution, how many predicted parts were judged,
// the reliability error on parts that nothing was fitted to, and the curve (a, b, c) of
// `Confidence` or nothing.
struct CalibrationRecord {
  double temperature = 1.0;
  std::size_t parts = 0;
  double error = 0.0;
  std::vector<double> curve;

  // The highest confidence, then the curve if there is one, as `Confidence` takes them.
  std::vector<double> certainty() const;
};

// The probability that a part is right after n right ones in a row; never so high that it would be
// written as 1.0000.
double highest_confidence(std::size_t n);

// Throws std::invalid_argument for what makes no sense.
CalibrationRecord read_calibration(const text::Json&);

// The temperature of the loss that a learner has minimised, by its name and its parameter
// "temperature", null where it has none; nothing: the loss had none. Throws std::invalid_argument.
std::optional<double> loss_temperature(const text::Json& learner, const text::Json& given);

// The scale of a model's probabilities: the temperature at which scores are taken, and the numbers
// of `Confidence`.
struct ProbabilityScale {
  double temperature = 1.0;
  std::vector<double> certainty;
};

// By the record of a task's training. Throws std::invalid_argument.
ProbabilityScale probability_scale(const text::Json& training);

}  // namespace structlearn
