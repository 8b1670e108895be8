// Kruskal's algorithm with sums instead of choices. Edges fall into levels with gaps between them
// that are far larger than the temperature. Almost all of the mass is on trees that have as many
// edges of the first level as possible, then of the second, and so on; so the sum is a product: for
// each level, the sum over the spanning trees of what it joins, with each part joined by earlier
// levels contracted to one node. Scores of different levels are never added or compared otherwise,
// so rounding does not decide which trees are the best.
#include "structures/trees/spanning_levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "numeric/elementary.hpp"
#include "numeric/softmax.hpp"
#include "structures/trees/matrix_tree.hpp"

namespace structlearn {
namespace {

// The components so far: for each node the number of one of its component's nodes.
class Parts {
 public:
  explicit Parts(std::size_t n) : part_(n) { std::iota(part_.begin(), part_.end(), 0u); }

  std::size_t of(std::size_t v) const { return part_[v]; }
  void join(std::size_t i, std::size_t j) {
    const std::size_t from = part_[i], to = part_[j];
    if (from != to) std::replace(part_.begin(), part_.end(), from, to);
  }
  bool one() const {
    return std::all_of(part_.begin(), part_.end(), [&](std::size_t p) { return p == part_[0]; });
  }

 private:
  std::vector<std::size_t> part_;
};

// The sum over the spanning trees of one part after a level, of the parts before it.
double sum_joined(std::span<ScoredEdge> level, const Parts& before, const Parts& after,
                  std::size_t joined, std::size_t n, double eps) {
  std::vector<std::size_t> number(n, n);  // of the components before
  std::size_t k = 0;
  for (std::size_t v = 0; v < n; ++v) {
    if (after.of(v) == joined && number[before.of(v)] == n) number[before.of(v)] = k++;
  }
  if (k < 2) return 0.0;
  const double top = level.front().score;
  std::vector<double> arc(k * k, kMinusInfinity), p(k * k);
  const auto place = [&](const ScoredEdge& e, bool turned) {
    const std::size_t a = number[before.of(e.i)], b = number[before.of(e.j)];
    return turned ? b * k + a : a * k + b;
  };
  const auto counts = [&](const ScoredEdge& e) {
    return after.of(e.i) == joined && before.of(e.i) != before.of(e.j);
  };
  for (const ScoredEdge& e : level) {
    if (!counts(e)) continue;
    double& weight = arc[place(e, false)];
    weight = arc[place(e, true)] = log_add(weight, e.score - top, eps);
  }
  const double value = sum_arborescences(arc.data(), k - 1, false, eps, p.data());
  for (ScoredEdge& e : level) {
    if (!counts(e)) continue;
    const std::size_t at = place(e, false);
    e.p = (p[at] + p[place(e, true)]) * elementary::exp((e.score - top - arc[at]) / eps);
  }
  return value + static_cast<double>(k - 1) * top;
}

}  // namespace

double sum_by_levels(std::vector<ScoredEdge>& edges, std::size_t n, double eps) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const ScoredEdge& a, const ScoredEdge& b) { return a.score > b.score; });
  // There are n^(n-2) trees.
  const double gap =
      eps * (750.0 + static_cast<double>(n) * elementary::log(static_cast<double>(n)));
  Parts parts(n);
  double value = 0.0;
  for (std::size_t first = 0, last; first < edges.size(); first = last) {
    last = first + 1;
    while (last < edges.size() && edges[last - 1].score - edges[last].score <= gap) ++last;
    const std::span<ScoredEdge> level(edges.data() + first, last - first);
    const Parts before = parts;
    for (ScoredEdge& e : level) {
      e.p = 0.0;
      parts.join(e.i, e.j);
    }
    std::vector<std::uint8_t> done(n);
    for (const ScoredEdge& e : level) {
      const std::size_t joined = parts.of(e.i);
      if (done[joined]) continue;
      done[joined] = 1;
      value += sum_joined(level, before, parts, joined, n, eps);
    }
  }
  return parts.one() ? value : kMinusInfinity;
}

}  // namespace structlearn
