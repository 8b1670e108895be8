// Scores of the parts of a sentence under a table of weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/dependencies/features.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/tokens.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

// A gold tree and what other arcs and labels cost, for loss-augmented decoding.
struct Gold {
  std::span<const std::int32_t> heads;    // [1..n]
  std::span<const std::uint16_t> labels;  // [1..n]
  double head_cost = 0.0, label_cost = 0.0;
};

class PartScorer {
 public:
  PartScorer(Table table, const LabelSets& sets, std::size_t labels)
      : table_(table), sets_(sets), groups_((labels + kLine - 1) / kLine), keys_(table) {}

  // Scores the arcs, each with its best label, and then the pairs of arcs.
  void arcs(const Sentence&, Parts&, const Gold* gold = nullptr);
  void second_order(const Sentence&, Parts&);
  // Scores the arcs by the log-sum-exp over their labels, whose scores (`width()` an arc, -inf
  // where a label is not allowed) are kept too.
  void soft_arcs(const Sentence&, Parts&, std::vector<float>& label_scores);
  std::size_t width() const { return groups_ * kLine; }

  // The score of a label of an arc, without the arc's own.
  double label_score(const Sentence&, int h, int m, std::size_t label);

 private:
  // The score of an arc without labels; those of its labels go to rows_.
  double arc_and_labels(const Sentence&, int h, int m, const LabelMask& mask);
  double arc_sum(std::uint32_t distance, std::uint32_t direction) const;

  Table table_;
  const LabelSets& sets_;
  std::size_t groups_;
  KeyList keys_;
  std::vector<float> rows_;
};

// Calls step(index) for every weight of a part.
template <class Step>
void for_arc_weights(const Table& t, const Sentence& s, int h, int m, Step&& step) {
  const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
  arc_features(s, h, m, [&](std::uint64_t key) {
    step(t.line(key) + place(key, dd));
    step(t.line(key) + place(key, d));
  });
}
template <class Step>
void for_label_weights(const Table& t, const Sentence& s, int h, int m, std::size_t label,
                       Step&& step) {
  const auto group = static_cast<std::uint32_t>(label / kLine);
  const auto in = static_cast<std::uint32_t>(label % kLine);
  label_features(s, h, m, [&](std::uint64_t key) { step(t.line(group_key(key, group)) + in); });
}
inline std::uint32_t sibling_class(int h, int a, int b) {
  return b == kNoToken ? (a < h ? 7u : 0u) : direction_distance(a, b);
}
template <class Step>
void for_sibling_weights(const Table& t, const Sentence& s, int h, int a, int b, Step&& step) {
  const bool after = (b == kNoToken ? a : b) > h;
  const std::uint32_t dd = sibling_class(h, a, b), d = direction_place(after);
  sibling_features(s, h, a, b, [&](std::uint64_t key) {
    step(t.line(key) + place(key, dd));
    step(t.line(key) + place(key, d));
  });
}
template <class Step>
void for_grandparent_weights(const Table& t, const Sentence& s, int g, int h, int m, Step&& step) {
  const std::uint32_t c = grandparent_class(g, h, m);
  grandparent_features(s, g, h, m, [&](std::uint64_t key) { step(t.line(key) + place(key, c)); });
}

}  // namespace structlearn::parsing
