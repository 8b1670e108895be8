#include "tasks/tagging/chunk_confidence.hpp"

#include <algorithm>

#include "structures/chains/constrained_sequence.hpp"

namespace structlearn::text {
namespace {

std::vector<Stretch> chunks(const ChunkBoundaries& boundaries, std::span<const std::size_t> names) {
  std::vector<Stretch> found;
  std::size_t before = boundaries.outside();
  bool open = false;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint8_t boundary = boundaries.at(before, names[t]);
    before = names[t];
    if (open && boundary == 0) continue;
    if (open) found.back().end = t;
    open = (boundary & ChunkBoundaries::kBegins) != 0;
    if (open) found.push_back({t, names.size(), boundaries.type[before]});
  }
  return found;
}

}  // namespace

void put_chunk_confidence(const ChunkBoundaries& boundaries, Reader& reader, const Scored& scored,
                          std::span<const std::int32_t> name_of, const Output& y, double eps,
                          const Confidence& certainty, std::vector<double>& confidence) {
  static const ConstrainedSequence unconstrained({}, 0, {});
  const auto name = [&](std::int32_t label) {
    return static_cast<std::size_t>(name_of[static_cast<std::size_t>(label)]);
  };
  std::vector<std::size_t> names;
  for (const std::int32_t label : y) names.push_back(name(label));
  const std::vector<Stretch> stretches = chunks(boundaries, names);
  if (stretches.empty()) return;
  const std::size_t outcomes = scored.layout.block[scored.first].outcomes;
  names.clear();  // of all outcomes
  for (std::size_t t = 0; t < y.size(); ++t) {
    for (std::size_t k = 0; k < outcomes; ++k) {
      const std::int32_t label = reader.part(t, k).label;
      const bool is_one = label >= 0 && static_cast<std::size_t>(label) < name_of.size();
      names.push_back(is_one ? name(label) : 0);  // an outcome that stands for none is forbidden
    }
  }
  const Neighbours fits = [&](const Stretch& chunk, std::size_t t, std::size_t before,
                              std::size_t k) {
    const std::size_t now = names[t * outcomes + k];
    const std::uint8_t boundary = boundaries.at(
        before == kNoOutcome ? boundaries.outside() : names[(t - 1) * outcomes + before], now);
    if (t == chunk.end) return boundary != 0;
    if (t > chunk.begin) return boundary == 0;
    return (boundary & ChunkBoundaries::kBegins) != 0 && boundaries.type[now] == chunk.kind;
  };
  const auto* constrained = dynamic_cast<const ConstrainedSequence*>(scored.structure);
  const ConstrainedSequence& structure = constrained != nullptr ? *constrained : unconstrained;
  const std::vector<double> probability =
      structure.stretches(scored.layout, scored.scores, eps, stretches, fits, reader.workspace);
  for (std::size_t n = 0; n < stretches.size(); ++n) {
    std::fill(confidence.begin() + static_cast<std::ptrdiff_t>(stretches[n].begin),
              confidence.begin() + static_cast<std::ptrdiff_t>(stretches[n].end),
              certainty(probability[n]));
  }
}

}  // namespace structlearn::text
