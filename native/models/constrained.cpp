#include "models/constrained.hpp"

#include "structures/chains/semimarkov.hpp"

namespace structlearn {

const ConstrainedSequence& AutomataOfLabels::instead_of(const Structure& structure) const {
  std::size_t max_length = 0;
  if (const auto* segments = dynamic_cast<const SemiMarkov*>(&structure)) {
    max_length = segments->max_length();
  } else if (dynamic_cast<const Chain*>(&structure) == nullptr) {
    throw Incapable(
        "automata are constraints on sequences of labels, and this model's outputs are none. What "
        "works: constraints on taggers and segmenters");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& made = made_[max_length];
  if (!made) made = std::make_unique<ConstrainedSequence>(automata_, max_length, settings_);
  return *made;
}

const Scored& ConstrainedReader::scores(std::size_t input, Purpose purpose) {
  constrain(reader_->scores(input, purpose));
  if (outcomes_are_labels()) return scored_;
  Output y;
  const auto rejected = [&] {
    return scored_.structure->argmax(scored_.layout, scored_.scores, y, workspace) ==
           kMinusInfinity;
  };
  while (rejected() && widen() != nullptr) continue;
  return scored_;
}

const Scored* ConstrainedReader::widen() {
  const Scored* wider = reader_->widen();
  if (wider == nullptr) return nullptr;
  constrain(*wider);
  return &scored_;
}

void ConstrainedReader::constrain(const Scored& scored) {
  const ConstrainedSequence& structure = automata_.instead_of(*scored.structure);
  scored_ = scored;
  scored_.structure = &structure;
  if (!outcomes_are_labels()) {
    const Block& label = scored.layout.block[scored.first];
    map_->symbol.resize(label.size());
    for (std::size_t j = 0; j < label.size(); ++j) {
      map_->symbol[j] = part(j / label.outcomes, j % label.outcomes).label;
    }
    scored_.layout.shape = map_;
  }
  structure.check(scored_.layout);
}

}  // namespace structlearn
