#include "tasks/dependencies/reader.hpp"

namespace structlearn::parsing {
namespace {

// Whether there are sums over all trees that the parser may find.
bool sums_over_all(const ParserOptions& options) {
  return options.order == 1 || options.projective;
}

Pruner pruner(const ParserModel& model, bool projective_sums) {
  return {model.pruner_table(), model.options().pruning, model.options().projective,
          projective_sums};
}

}  // namespace

DependencyReader::DependencyReader(const ParserModel& model, const text::Corpus& corpus,
                                   const SentenceTags& tags, bool lemmas)
    : model_(model),
      tags_(tags),
      tokens_(corpus, kForm, lemmas ? kLemma : TokenReader::kNone),
      pruner_{pruner(model, false), pruner(model, !sums_over_all(model.options()))},
      trees_{DependencyTrees(model.options().projective, model.options().iterations),
             DependencyTrees(!sums_over_all(model.options()) || model.options().projective, 1)},
      scorer_(model.table(), model.sets(), model.labels().size()) {}

const Scored& DependencyReader::scores(std::size_t sentence, Purpose purpose) {
  tokens_.read(sentence, tags_, sentence_);
  summed_ = purpose == Purpose::kSums;
  pruner_[summed_].prune(sentence_, candidates_);
  parts_.set(candidates_, model_.options().order > 1);
  scored_.structure = &trees();
  scored_.layout = DependencyTrees::layout(parts_, label_width(model_.labels().size()));
  theta_.resize(scored_.layout.parts);
  scored_.parts = theta_.data();
  scorer_.score(sentence_, parts_, 1.0, scored_.parts);
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = scored_.layout.block[b];
    scored_.scores.block[b] = block.present ? scored_.parts + block.offset : nullptr;
  }
  return scored_;
}

bool DependencyReader::to_structure(Output& y) const {
  return trees().contains(scored_.layout, y);
}

std::vector<Part> DependencyReader::parts(const Output& y) const {
  const std::size_t n = y.size() / 2;
  std::vector<Part> arcs;
  for (std::size_t m = 0; m < n; ++m) {
    arcs.push_back({static_cast<std::int32_t>(m) + 1, y[m], y[n + m]});
  }
  return arcs;
}

Part DependencyReader::part(std::size_t arc, std::size_t label) const {
  return {parts_.word[arc], parts_.head[arc], static_cast<std::int32_t>(label)};
}

std::size_t DependencyReader::find(const Part& part) const {
  const std::size_t width = scored_.layout.block[DependencyTrees::kArc].outcomes;
  const auto label = static_cast<std::size_t>(part.label);
  if (part.begin < 1 || part.begin > parts_.n || part.label < 0 || label >= width) return kNowhere;
  const std::uint32_t arc = parts_.find(part.end, part.begin);
  return arc == Parts::kNone ? kNowhere : arc * width + label;
}

}  // namespace structlearn::parsing
