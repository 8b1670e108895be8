// Chains over strings: ours, and those of CRFsuite's files.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "library/opened_model.hpp"
#include "models/calibration.hpp"
#include "models/confidence.hpp"
#include "models/container.hpp"
#include "models/crfsuite_file.hpp"
#include "models/decision.hpp"
#include "models/stored_chain.hpp"
#include "numeric/pool.hpp"
#include "text/json.hpp"

namespace structlearn::library {
namespace {

using text::Json;

// What a chain is made of, and what it borrows.
struct ChainParts {
  const char* kind = "chain";
  std::vector<char> content;
  CrfsuiteModel crfsuite;
  std::vector<std::string> labels;
  text::StringTable names;
  ArrayViews arrays;
  std::size_t order = 1;
  ProbabilityScale scale;
};

class ChainModel final : public OpenedModel {
 public:
  explicit ChainModel(std::unique_ptr<ChainParts> parts)
      : parts_(std::move(parts)),
        chain_(chain_weights(parts_->arrays, parts_->names.size(), parts_->labels.size(),
                             parts_->order)),
        certainty_(parts_->scale.certainty),
        sessions_([this] { return std::make_unique<Session>(chain_); }) {
    std::vector<std::string> sorted = parts_->labels;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw std::invalid_argument("a label appears twice");
    }
  }

  const char* kind() const override { return parts_->kind; }
  const std::vector<std::string>& labels() const override { return parts_->labels; }

  void label(const Tokens& tokens, const Question& asked, Labels& out) const override {
    std::unique_ptr<Session> taken = sessions_.take();
    Session& session = *taken;
    read(tokens, session.rows);
    const Scored& scored = session.reader.scores(0, Purpose::kBest);
    decide(session.reader, scored,
           {.nbest = asked.nbest,
            .confidence = asked.confidence,
            .scores = asked.probability,
            .temperature = parts_->scale.temperature},
           session.decision);
    const Decision& found = session.decision;
    if (found.value == kMinusInfinity) throw BadTokens("no labelling is legal");
    out.labellings = found.outputs.size();
    for (const Output& y : found.outputs) {
      for (const std::int32_t k : y) {
        out.label.push_back(&parts_->labels[static_cast<std::size_t>(k)]);
      }
    }
    out.probability = found.scores;
    if (asked.confidence) {
      for (const double p : found.confidence) out.confidence.push_back(certainty_(p));
    }
    if (session.rows.capacity() <= kMostKept) sessions_.give_back(std::move(taken));
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 17;

  struct Session {
    explicit Session(const StringChain& chain) : reader(chain, rows) {}
    text::NamedRows rows;
    StringChainReader reader;
    Decision decision;
  };

  void read(const Tokens& tokens, text::NamedRows& rows) const {
    rows.clear();
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      for (std::size_t i = tokens.begin(t); i < tokens.ends[t]; ++i) {
        const std::uint32_t id = parts_->names.find(tokens.strings[i]);
        if (tokens.values != nullptr && !std::isfinite(tokens.values[i])) {
          throw BadTokens("token " + std::to_string(t) + ": the value of '" +
                          std::string(tokens.strings[i]) + "' is not a finite number");
        }
        if (id == text::StringTable::kAbsent) continue;
        rows.id.push_back(static_cast<std::int32_t>(id));
        if (tokens.values != nullptr) rows.value.push_back(tokens.values[i]);
      }
      rows.end.push_back(rows.id.size());
    }
    rows.first.push_back(rows.end.size());
  }

  std::unique_ptr<const ChainParts> parts_;
  StringChain chain_;
  Confidence certainty_;
  Pool<Session> sessions_;
};

}  // namespace

std::unique_ptr<OpenedModel> open_chain(std::vector<char> content) {
  auto parts = std::make_unique<ChainParts>();
  parts->content = std::move(content);
  const Container file = parse_container({parts->content.data(), parts->content.size()}, "model");
  const Json d = text::parse_json(file.description);
  parts->arrays = chain_arrays(file.tensors);
  const auto letters = parts->arrays.items<char>("names.text");
  parts->names = joined_names({letters.data(), letters.size()},
                              parts->arrays.items<std::uint64_t>("names.ends"));
  parts->labels = d.at("labels").texts("the labels");
  parts->order = d.at("order").size("the order", 0, Chain::kMaxOrder);
  const Json& temperature = d.at("temperature");
  const Json& calibration = d.at("calibration");
  if (!calibration.is_null()) {
    const CalibrationRecord read = read_calibration(calibration);
    parts->scale = {read.temperature, read.certainty()};
  } else if (!temperature.is_null()) {
    parts->scale.temperature = temperature.number("the temperature");
    if (!(parts->scale.temperature > 0.0) || !std::isfinite(parts->scale.temperature)) {
      throw std::invalid_argument("a temperature of " + std::to_string(parts->scale.temperature));
    }
  }
  return std::make_unique<ChainModel>(std::move(parts));
}

std::unique_ptr<OpenedModel> open_crfsuite(std::span<const char> content) {
  auto parts = std::make_unique<ChainParts>();
  parts->kind = "crfsuite";
  parts->crfsuite = read_crfsuite({content.data(), content.size()});
  CrfsuiteModel& model = parts->crfsuite;
  parts->labels = std::move(model.labels);
  parts->names = std::move(model.attributes);
  parts->arrays.put_items<std::uint32_t>("row_ptr", model.row_ptr);
  parts->arrays.put_items<std::uint32_t>("column", model.column);
  parts->arrays.put_items<double>("weight", model.weight);
  parts->arrays.put_items<double>("transition1", model.transition);
  return std::make_unique<ChainModel>(std::move(parts));
}

}  // namespace structlearn::library
