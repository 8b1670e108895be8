#include "structures/trees/eisner.hpp"

#include "structures/forest.hpp"
#include "structures/lazy_kbest.hpp"
#include "structures/trees/eisner_chart.hpp"

namespace structlearn {
namespace {

// Eisner's chart as a forest. A node is a span, the whole sentence, or, if arcs have labels, an arc
// to be labelled: number (kind * N + i) * N + j.
class ProjectiveForest {
 public:
  ProjectiveForest(const EisnerChart& chart, const ArcScores& arcs, bool single_root)
      : chart_(chart), arcs_(arcs), N_(arcs.n + 1), single_root_(single_root) {}

  std::uint64_t top() const { return kTop * N_ * N_; }
  double best(std::uint64_t v) const {  // never called for the top
    return kind(v) == kLabel ? arcs_.best[v % (N_ * N_)] : chart_.score(span(v));
  }
  std::uint32_t ways(std::uint64_t v) const {
    if (kind(v) == kTop) return single_root_ ? static_cast<std::uint32_t>(arcs_.n) : 1;
    if (kind(v) == kLabel) return static_cast<std::uint32_t>(arcs_.R);
    return static_cast<std::uint32_t>(eisner_ways(span(v), chart_.siblings()));
  }

  double way(std::uint64_t v, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    using enum EisnerKind;
    tails.clear();
    if (kind(v) == kLabel) return arcs_.labelled[v % (N_ * N_) * arcs_.R + e];
    if (kind(v) == kTop) {
      const std::size_t n = arcs_.n, m = 1 + e;
      if (!single_root_) {
        tails = {EisnerSpan{kRight, 0, n}.place(N_)};
        return 0.0;
      }
      tails = {EisnerSpan{kLeft, 1, m}.place(N_), EisnerSpan{kRight, m, n}.place(N_)};
      return with_arc(0, m, 0, tails);
    }
    const EisnerSpan at = span(v);
    const EisnerWay found = eisner_way(at, chart_.siblings(), e);
    for (std::size_t t = 0; t < found.tails; ++t) tails.push_back(found.tail[t].place(N_));
    return at.is_arc() ? with_arc(at.head(), at.word(), found.sibling, tails) : 0.0;
  }

  void write(std::uint64_t v, std::uint32_t e, Output& y) const {
    if (kind(v) == kTop) return;
    const EisnerSpan at = span(v);
    if (kind(v) == kLabel) {
      y[arcs_.n + at.j - 1] = static_cast<std::int32_t>(e);
    } else if (at.is_arc()) {
      y[at.word() - 1] = static_cast<std::int32_t>(at.head());
    }
  }

 private:
  static constexpr std::size_t kLabel = 5, kTop = 6;  // beside the kinds of spans

  std::size_t kind(std::uint64_t v) const { return v / (N_ * N_); }
  EisnerSpan span(std::uint64_t v) const {
    return {static_cast<EisnerKind>(kind(v)), v / N_ % N_, v % N_};
  }
  // The scores of an arc and of its sibling; that of the arc is a choice among the tails if it has
  // labels.
  double with_arc(std::size_t h, std::size_t m, std::size_t sibling,
                  std::vector<std::uint64_t>& tails) const {
    const double gain = chart_.siblings() ? chart_.pair(h, sibling, m) : 0.0;
    if (arcs_.R == 1) return gain + arcs_.best[h * N_ + m];
    tails.push_back((kLabel * N_ + h) * N_ + m);
    return gain;
  }

  const EisnerChart& chart_;
  const ArcScores& arcs_;
  std::size_t N_;
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
  EisnerChart chart(arcs.best, sibling, arcs.n, ws);
  chart.fill(single_root ? 1 : 0);
  const ProjectiveForest forest(chart, arcs, single_root);
  const Output blank(arcs.R > 1 ? 2 * arcs.n : arcs.n, 0);
  return kbest_outputs(forest, forest.top(), k, blank, writer_of(forest));
}

}  // namespace structlearn
