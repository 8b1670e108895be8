#include "tasks/dependencies/model.hpp"

#include <stdexcept>
#include <utility>

namespace structlearn::parsing {

ParserModel::ParserModel(std::vector<std::string> labels, LabelSets sets, ParserOptions options,
                         LargeArray<float> weights, LargeArray<float> pruner)
    : labels_(std::move(labels)),
      sets_(std::move(sets)),
      options_(options),
      weight_(std::move(weights)),
      pruner_(std::move(pruner)) {
  if (labels_.empty() || labels_.size() > kMaxLabels) {
    throw std::invalid_argument("a parser needs 1 to " + std::to_string(kMaxLabels) + " labels");
  }
  if (options_.order < 1 || options_.order > 2 || options_.iterations < 1 ||
      options_.pruning.most < 1 || !(options_.pruning.least > 0.0)) {
    throw std::invalid_argument("options of the parser out of bounds");
  }
}

SentenceParser::SentenceParser(const ParserModel& model, bool projective_sums)
    : model_(model),
      pruner_(model.pruner_table(), model.options().pruning, model.options().projective,
              projective_sums),
      scorer_(model.table(), model.sets(), model.labels().size()),
      decoder_(model.options().projective, model.options().iterations) {}

void SentenceParser::score(const Sentence& s) {
  pruner_.prune(s, candidates_);
  parts_.set(candidates_, model_.options().order > 1);
  const std::size_t width = label_width(model_.labels().size());
  scores_.resize(parts_.arcs() * width + parts_.siblings() + parts_.grands());
  scorer_.score(s, parts_, 1.0, scores_.data());
}

Decoded SentenceParser::parse(const Sentence& s, std::vector<std::int32_t>& heads,
                              std::vector<std::uint16_t>& labels) {
  score(s);
  const std::size_t width = label_width(model_.labels().size());
  best_labels(scores_.data(), parts_.arcs(), width, arc_, label_);
  const double* siblings = scores_.data() + parts_.arcs() * width;
  const Decoded found =
      decoder_.decode(parts_, {arc_.data(), siblings, siblings + parts_.siblings()}, heads);
  labels.assign(heads.size(), 0);
  for (std::size_t m = 1; m < heads.size(); ++m) {
    labels[m] = label_[parts_.find(heads[m], static_cast<int>(m))];
  }
  return found;
}

std::map<std::uint16_t, double> SentenceParser::reasons(const Sentence& s, int h, int m,
                                                        std::size_t label) const {
  std::map<std::uint16_t, double> found;
  const Table<float> t = model_.table();
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
