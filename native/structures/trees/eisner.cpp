#include "structures/trees/eisner.hpp"

#include <algorithm>
#include <limits>

#include "structures/lazy_kbest.hpp"
#include "structures/trees/eisner_chart.hpp"

namespace structlearn {
namespace {

// Eisner's chart as a forest with one derivation a tree. A node is a span, the whole sentence, or,
// where arcs have labels, an arc that is to have one: number (kind * N + i) * N + j.
class ProjectiveForest {
 public:
  ProjectiveForest(const EisnerChart& chart, const double* arc, const double* labelled,
                   std::size_t n, std::size_t labels, bool single_root)
      : chart_(chart),
        arc_(arc),
        labelled_(labelled),
        n_(n),
        N_(n + 1),
        R_(labels),
        single_root_(single_root) {}

  static constexpr std::size_t kLabel = 5, kTop = 6;
  struct Place {
    std::size_t kind, i, j;
  };
  std::uint64_t top() const { return node(kTop, 0, 0); }
  Place place(std::uint64_t v) const { return {v / (N_ * N_), v / N_ % N_, v % N_}; }

  double best(std::uint64_t v) const {
    const auto [kind, i, j] = place(v);
    if (kind == kLabel) return arc_[i * N_ + j];
    return chart_.score(static_cast<EisnerChart::Kind>(kind), i, j);  // never asked of the top
  }

  std::uint32_t ways(std::uint64_t v) const {
    const auto [kind, i, j] = place(v);
    std::size_t count = 1;
    if (kind == kTop) count = single_root_ ? n_ : 1;
    if (kind == kLabel) count = R_;
    if (kind < kLabel && i < j && (!is_arc(kind) || chart_.sibling())) count = j - i;
    return static_cast<std::uint32_t>(count);
  }

  double way(std::uint64_t v, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const auto [kind, i, j] = place(v);
    tails.clear();
    const std::size_t k = i + 1 + e;  // the split of what is open at its left end
    switch (kind) {
      case kTop:
        if (!single_root_) {
          tails = {node(EisnerChart::kRight, 0, n_)};
          return 0.0;
        }
        tails = {node(EisnerChart::kLeft, 1, k), node(EisnerChart::kRight, k, n_)};
        return with_arc(0, k, chart_.sibling() ? chart_.right_pair(0, 0, k) : 0.0, tails);
      case kLabel:
        return labelled_[(i * N_ + j) * R_ + e];
      case EisnerChart::kRight:
        if (i < j) tails = {node(EisnerChart::kArcRight, i, k), node(EisnerChart::kRight, k, j)};
        return 0.0;
      case EisnerChart::kLeft:
        if (i < j)
          tails = {node(EisnerChart::kLeft, i, k - 1), node(EisnerChart::kArcLeft, k - 1, j)};
        return 0.0;
      case EisnerChart::kBetween:
        tails = {node(EisnerChart::kRight, i, k - 1), node(EisnerChart::kLeft, k, j)};
        return 0.0;
      case EisnerChart::kArcRight:
        if (chart_.sibling() == nullptr) break;
        if (k == j) {  // after the siblings, as in the chart
          tails = {node(EisnerChart::kLeft, i + 1, j)};
          return with_arc(i, j, chart_.right_pair(i, i, j), tails);
        }
        tails = {node(EisnerChart::kArcRight, i, k), node(EisnerChart::kBetween, k, j)};
        return with_arc(i, j, chart_.right_pair(i, k, j), tails);
      default:
        if (chart_.sibling() == nullptr) break;
        if (k == j) {
          tails = {node(EisnerChart::kRight, i, j - 1)};
          return with_arc(j, i, chart_.left_pair(i, j, j), tails);
        }
        tails = {node(EisnerChart::kBetween, i, k), node(EisnerChart::kArcLeft, k, j)};
        return with_arc(j, i, chart_.left_pair(i, k, j), tails);
    }
    tails = {node(EisnerChart::kBetween, i, j)};
    return kind == EisnerChart::kArcRight ? with_arc(i, j, 0.0, tails) : with_arc(j, i, 0.0, tails);
  }

 private:
  static bool is_arc(std::size_t kind) {
    return kind == EisnerChart::kArcRight || kind == EisnerChart::kArcLeft;
  }
  std::uint64_t node(std::size_t kind, std::size_t i, std::size_t j) const {
    return (kind * N_ + i) * N_ + j;
  }
  // A gain with the arc's score, or with the choice of a label among the tails.
  double with_arc(std::size_t h, std::size_t m, double gain,
                  std::vector<std::uint64_t>& tails) const {
    if (R_ == 1) return gain + arc_[h * N_ + m];
    tails.push_back(node(kLabel, h, m));
    return gain;
  }

  const EisnerChart& chart_;
  const double *arc_, *labelled_;
  std::size_t n_, N_, R_;
  bool single_root_;
};

}  // namespace

double best_projective(const double* arc, const double* sibling, std::size_t n, bool single_root,
                       std::int32_t* heads, Workspace& ws) {
  return EisnerChart(arc, sibling, n, ws).best(single_root, heads);
}

std::vector<std::pair<double, Output>> kbest_projective(const ArcScores& arcs,
                                                        const double* sibling, bool single_root,
                                                        std::size_t k, Workspace& ws) {
  const std::size_t n = arcs.n;
  EisnerChart chart(arcs.best, sibling, n, ws);
  chart.fill(single_root ? 1 : 0);
  const ProjectiveForest forest(chart, arcs.best, arcs.labelled, n, arcs.R, single_root);
  const Output blank(arcs.R > 1 ? 2 * n : n, 0);
  return kbest_outputs(forest, forest.top(), k, blank,
                       [&](std::uint64_t v, std::uint32_t e, Output& y) {
                         const auto [kind, i, j] = forest.place(v);
                         if (kind == EisnerChart::kArcRight)
                           y[j - 1] = static_cast<std::int32_t>(i);
                         if (kind == EisnerChart::kArcLeft) y[i - 1] = static_cast<std::int32_t>(j);
                         if (kind == ProjectiveForest::kLabel)
                           y[n + j - 1] = static_cast<std::int32_t>(e);
                       });
}

}  // namespace structlearn
