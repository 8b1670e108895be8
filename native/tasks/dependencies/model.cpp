#include "tasks/dependencies/model.hpp"

#include <stdexcept>
#include <utility>

namespace structlearn::parsing {

ParserModel::ParserModel(std::vector<std::string> labels, LabelSets sets, ParserOptions options,
                         LargeArray<float> weights, LargeArray<float> pruner)
    : ParserModel(std::move(labels), std::move(sets), options,
                  Table<float>(weights.data(), weights.size()),
                  Table<float>(pruner.data(), pruner.size())) {
  own_weight_ = std::move(weights);  // the tables stay where they are
  own_pruner_ = std::move(pruner);
}

ParserModel::ParserModel(std::vector<std::string> labels, LabelSets sets, ParserOptions options,
                         Table<float> weights, Table<float> pruner)
    : labels_(std::move(labels)),
      sets_(std::move(sets)),
      options_(options),
      weight_(weights),
      pruner_(pruner) {
  if (labels_.empty() || labels_.size() > kMaxLabels) {
    throw std::invalid_argument("a parser needs 1 to " + std::to_string(kMaxLabels) + " labels");
  }
  if (options_.order < 1 || options_.order > 2 || options_.iterations < 1 ||
      options_.pruning.most < 1 || !(options_.pruning.least > 0.0)) {
    throw std::invalid_argument("options of the parser out of bounds");
  }
}

std::map<std::uint16_t, double> ParserModel::reasons(const Sentence& s, int h, int m,
                                                     std::size_t label) const {
  std::map<std::uint16_t, double> found;
  const Table<float> t = table();
  const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
  arc_features(s, h, m, [&](const keys::Key& key) {
    const float* line = t.weight + t.line(key);
    found[key.id] += static_cast<double>(line[place(key, dd)] + line[place(key, d)]);
  });
  const auto group = static_cast<std::uint32_t>(label / kLine);
  label_features(s, h, m, [&](const keys::Key& key) {
    found[key.id] += static_cast<double>(t.weight[t.line(group_key(key, group)) + label % kLine]);
  });
  return found;
}

}  // namespace structlearn::parsing
