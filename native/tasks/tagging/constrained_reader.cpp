#include "tasks/tagging/constrained_reader.hpp"

#include <algorithm>

#include "structures/chains/chain.hpp"

namespace structlearn::text {

const Scored& ConstrainedReader::scores(std::size_t sentence, Purpose purpose) {
  take(reader_->scores(sentence, purpose));
  if (label_reader_ == nullptr) return scored_;
  const auto likely = label_reader_->likely();
  if (!likely || is_legal()) return scored_;
  if (likely->restricted) {
    take(label_reader_->consider({}, false));
    const bool legal = is_legal();
    take(label_reader_->consider({}, true));
    if (legal) return scored_;  // what is known is at fault, not what is considered
  }
  if (const Output labels = likely_labels(*likely); !labels.empty()) {
    take(label_reader_->consider(labels, true));
  }
  return scored_;
}

bool ConstrainedReader::is_legal() {
  Output y;
  return structure_->argmax(scored_.layout, scored_.scores, y, workspace) != kMinusInfinity;
}

void ConstrainedReader::take(const Scored& scored) {
  if (!structure_->stands_for(*scored.structure)) {
    throw Incapable(
        "automata are constraints on the labels of sequences, and the outputs of this model are "
        "others. What works: constraints on taggers, segmenters and chains");
  }
  scored_ = scored;
  scored_.structure = structure_.get();
  const Block& block = scored_.layout.block[scored_.first];
  if (block.outcomes == labels_) {
    structure_->check(scored_.layout);
    return;
  }
  if (!symbols_) symbols_ = std::make_shared<SymbolMap>();
  symbols_->symbol.resize(block.size());
  for (std::size_t site = 0, at = 0; site < block.sites; ++site) {
    for (std::size_t k = 0; k < block.outcomes; ++k, ++at) {
      const std::int32_t label = reader_->part(site, k).label;
      // What stands for no label scores -inf, whatever it is called.
      const bool known = label >= 0 && static_cast<std::size_t>(label) < labels_;
      symbols_->symbol[at] = known ? label : 0;
    }
  }
  scored_.layout.shape = symbols_;
  structure_->check(scored_.layout);
}

Output ConstrainedReader::likely_labels(const LabelReader::Likely& likely) {
  const std::size_t L = likely.tokens, K = labels_;
  Layout layout;
  Scores scores;
  layout.add(Chain::kLabel, L, K, true);
  scores.block[Chain::kLabel] = likely.scores;
  const ForbiddenLabels& forbidden = *likely.forbidden;
  if (!forbidden.empty()) {
    if (pairs_.empty()) {
      pairs_.resize(K * K + 2 * K);
      for (std::size_t a = 0; a < K; ++a) {
        for (std::size_t b = 0; b < K; ++b) {
          pairs_[a * K + b] = forbidden.after(a, b) ? kMinusInfinity : 0.0;
        }
        pairs_[K * K + a] = forbidden.first(a) ? kMinusInfinity : 0.0;
        pairs_[K * K + K + a] = forbidden.last(a) ? kMinusInfinity : 0.0;
      }
    }
    layout.add(Chain::kStart, 1, K, false);
    layout.add(Chain::kEnd, 1, K, false);
    layout.add(Chain::transition(1), 1, K * K, false);
    scores.block[Chain::transition(1)] = pairs_.data();
    scores.block[Chain::kStart] = pairs_.data() + K * K;
    scores.block[Chain::kEnd] = pairs_.data() + K * K + K;
  }
  Output y;
  if (structure_->argmax(layout, scores, y, workspace) == kMinusInfinity) return {};
  return y;
}

}  // namespace structlearn::text
