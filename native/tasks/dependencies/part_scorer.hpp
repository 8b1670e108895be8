// Scores of the parts of a sentence under a table of weights, and which weights a part has.
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

// How many scores an arc has: one a label, in whole lines.
inline std::size_t label_width(std::size_t labels) {
  return (labels + kLine - 1) / kLine * kLine;
}

template <class Real>
class PartScorer {
 public:
  PartScorer(Table<Real> table, const LabelSets& sets, std::size_t labels)
      : table_(table),
        sets_(sets),
        groups_(label_width(labels) / kLine),
        parts_(table),
        labelled_(table) {}

  // `scale` times the scores of the arcs with each label (-inf where one is not allowed), of the
  // siblings and of the grandparents, one after another.
  void score(const Sentence&, const Parts&, double scale, double* out);

 private:
  struct Scored {
    std::uint32_t places[2];  // of the weights in a line; the same one twice: once
    double scale;
    double* out;
  };
  struct Labelled {
    const LabelMask* mask;
    std::uint32_t groups;  // a bit for each that has a label that is allowed
    std::size_t arc;
  };
  using Keys = std::span<const std::uint64_t>;

  void arcs(const Sentence&, const Parts&, double scale, double* out);
  void siblings(const Sentence&, const Parts&, double scale, double* out);
  void grandparents(const Sentence&, const Parts&, double scale, double* out);
  void sum(const Scored&, Keys) const;
  void add_labels(const Labelled&, Keys, double scale, double* out) const;

  Table<Real> table_;
  const LabelSets& sets_;
  std::size_t groups_;
  KeyQueue<Real, Scored> parts_;
  KeyQueue<Real, Labelled> labelled_;
  std::vector<double> unlabelled_;
};

extern template class PartScorer<float>;
extern template class PartScorer<double>;

// The best label of each arc and its score, -inf where it has none.
void best_labels(const double* scores, std::size_t arcs, std::size_t width,
                 std::vector<double>& best, std::vector<std::uint16_t>& label);

inline std::uint32_t sibling_class(int h, int a, int b) {
  return b == kNoToken ? (a < h ? 7u : 0u) : direction_distance(a, b);
}
inline bool sibling_side(int h, int a, int b) {
  return (b == kNoToken ? a : b) > h;
}

// Call step(index) for every weight of a part.
template <class Step>
void for_arc_weights(const Lines& t, const Sentence& s, int h, int m, Step&& step) {
  const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
  arc_features(s, h, m, [&](std::uint64_t key) {
    step(t.line(key) + place(key, dd));
    step(t.line(key) + place(key, d));
  });
}
template <class Step>
void for_sibling_weights(const Lines& t, const Sentence& s, int h, int a, int b, Step&& step) {
  const std::uint32_t dd = sibling_class(h, a, b), d = direction_place(sibling_side(h, a, b));
  sibling_features(s, h, a, b, [&](std::uint64_t key) {
    step(t.line(key) + place(key, dd));
    step(t.line(key) + place(key, d));
  });
}
template <class Step>
void for_grandparent_weights(const Lines& t, const Sentence& s, int g, int h, int m, Step&& step) {
  const std::uint32_t c = grandparent_class(g, h, m);
  grandparent_features(s, g, h, m, [&](std::uint64_t key) { step(t.line(key) + place(key, c)); });
}

}  // namespace structlearn::parsing
