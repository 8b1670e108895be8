#include "structures/lattice.hpp"

#include <algorithm>

#include "numeric/elementary.hpp"
#include "numeric/softmax.hpp"
#include "structures/forest.hpp"
#include "structures/lazy_kbest.hpp"

namespace structlearn {
namespace {

enum LatticeArray { kNode, kEdgeSum, kMass, kShare };

const LatticeShape& shape_of(const Layout& layout) {
  return static_cast<const LatticeShape&>(*layout.shape);
}

// The best score of a path to each node: the last is the target's.
void best_of_nodes(const LatticeShape& s, const double* theta, double* node) {
  node[0] = 0.0;
  for (std::size_t v = 1; v < s.nodes(); ++v) {
    double most = kMinusInfinity;
    for (std::size_t e = s.first[v]; e < s.first[v + 1]; ++e) {
      most = std::max(most, node[s.from[e]] + theta[e]);
    }
    node[v] = most;
  }
}

// The log of the sum of exp(score / eps) over the paths to each node, and over those by each edge.
void sums_of_nodes(const LatticeShape& s, const double* theta, double eps, double* node,
                   double* edge) {
  node[0] = 0.0;
  for (std::size_t v = 1; v < s.nodes(); ++v) {
    double top = kMinusInfinity;
    for (std::size_t e = s.first[v]; e < s.first[v + 1]; ++e) {
      edge[e] = node[s.from[e]] + theta[e] / eps;
      top = std::max(top, edge[e]);
    }
    node[v] = top;
    if (top == kMinusInfinity) continue;
    double sum = 0.0;
    for (std::size_t e = s.first[v]; e < s.first[v + 1]; ++e) sum += elementary::exp(edge[e] - top);
    node[v] = top + elementary::log(sum);
  }
}

// A lattice as lazy_kbest.hpp and forest.hpp read it.
struct PathForest {
  const LatticeShape& shape;
  const double* theta;
  const double* node;

  double best(std::uint64_t v) const { return node[v]; }
  std::uint32_t ways(std::uint64_t v) const {
    return v == 0 ? 1 : shape.first[v + 1] - shape.first[v];
  }
  double way(std::uint64_t v, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    tails.clear();
    if (v == 0) return 0.0;
    tails.push_back(shape.from[shape.first[v] + e]);
    return theta[shape.first[v] + e];
  }
  // Edges come from the target to the source.
  void write(std::uint64_t v, std::uint32_t e, Output& y) const {
    if (v != 0) y.push_back(static_cast<std::int32_t>(shape.first[v] + e));
  }
};

}  // namespace

std::uint32_t LatticeShape::head(std::uint32_t edge) const {
  return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), edge) -
                                    first.begin() - 1);
}

Layout Lattice::layout(std::shared_ptr<const LatticeShape> shape) {
  Layout layout;
  layout.add(kEdge, shape->edges(), 1, true);
  layout.shape = std::move(shape);
  return layout;
}

void Lattice::check(const Layout& layout) const {
  const auto* s = dynamic_cast<const LatticeShape*>(layout.shape.get());
  if (s == nullptr) throw std::invalid_argument("an example of Lattice has a graph");
  bool fine = s->first.size() > 2 && s->first[0] == 0 && s->first[1] == 0 &&
              s->first.back() == s->edges() && std::is_sorted(s->first.begin(), s->first.end()) &&
              layout.block[kEdge].sites == s->edges();
  for (std::size_t v = 1; fine && v < s->nodes(); ++v) {
    for (std::size_t e = s->first[v]; e < s->first[v + 1]; ++e) fine = fine && s->from[e] < v;
  }
  if (!fine) throw std::invalid_argument("the nodes of the lattice are not in topological order");
}

double Lattice::argmax(const Layout& layout, const Scores& scores, Output& y, Workspace& ws) const {
  const LatticeShape& s = shape_of(layout);
  const double* theta = scores.block[kEdge];
  double* node = ws.real(kNode, s.nodes());
  best_of_nodes(s, theta, node);
  y.clear();
  std::size_t v = s.nodes() - 1;
  if (node[v] == kMinusInfinity) return kMinusInfinity;
  const double value = node[v];
  while (v != 0) {
    std::size_t e = s.first[v];  // the first that gives the maximum
    while (node[s.from[e]] + theta[e] != node[v]) ++e;
    y.push_back(static_cast<std::int32_t>(e));
    v = s.from[e];
  }
  std::reverse(y.begin(), y.end());
  return value;
}

double Lattice::infer(const Layout& layout, const Scores& scores, double eps, const Marginals& out,
                      Workspace& ws) const {
  const LatticeShape& s = shape_of(layout);
  const std::size_t n = s.nodes();
  double* node = ws.real(kNode, n);
  double* edge = ws.real(kEdgeSum, s.edges());
  sums_of_nodes(s, scores.block[kEdge], eps, node, edge);
  double* p = out.block[kEdge];
  if (p == nullptr) return eps * node[n - 1];
  std::fill_n(p, s.edges(), 0.0);
  if (node[n - 1] == kMinusInfinity) return kMinusInfinity;
  // Outside, as probabilities: an edge takes its share of its head's mass, and shares add up to 1.
  double* mass = ws.real(kMass, n);
  std::fill_n(mass, n, 0.0);
  mass[n - 1] = 1.0;
  for (std::size_t v = n; v-- > 1;) {
    const std::size_t first = s.first[v], count = s.first[v + 1] - first;
    if (mass[v] == 0.0 || count == 0) continue;
    double* share = ws.real(kShare, count);
    softmax(edge + first, count, 1.0, share);
    for (std::size_t k = 0; k < count; ++k) {
      p[first + k] = mass[v] * share[k];
      mass[s.from[first + k]] += p[first + k];
    }
  }
  return eps * node[n - 1];
}

std::optional<double> Lattice::exact_entropy(const Layout& layout, const Scores& scores, double eps,
                                             Workspace& ws) const {
  const LatticeShape& s = shape_of(layout);
  double* node = ws.real(kNode, s.nodes());
  double* edge = ws.real(kEdgeSum, s.edges());
  sums_of_nodes(s, scores.block[kEdge], eps, node, edge);
  // H(node) = sum of p(e) (-log p(e) + H of where it comes from), every term at least 0.
  double* open = ws.real(kMass, s.nodes());
  open[0] = 0.0;
  for (std::size_t v = 1; v < s.nodes(); ++v) {
    open[v] = 0.0;
    if (node[v] == kMinusInfinity) continue;
    const double* first = edge + s.first[v];
    const double* last = edge + s.first[v + 1];
    const double* top = std::max_element(first, last);
    double rest = 0.0, mean = 0.0;  // weights are relative to that of the top, which is 1
    for (const double* x = first; x != last; ++x) {
      if (*x == kMinusInfinity) continue;
      const double weight = elementary::exp(*x - *top);
      mean += weight * (*top - *x + open[s.from[static_cast<std::size_t>(x - edge)]]);
      if (x != top) rest += weight;
    }
    open[v] = elementary::log1p(rest) + mean / (1.0 + rest);
  }
  return open[s.nodes() - 1];
}

bool Lattice::allows(const Layout& layout, std::span<const std::int32_t> y) const {
  const LatticeShape& s = shape_of(layout);
  std::uint32_t at = 0;
  for (const std::int32_t e : y) {
    if (e < 0 || static_cast<std::size_t>(e) >= s.edges()) return false;
    const auto edge = static_cast<std::uint32_t>(e);
    if (s.from[edge] != at) return false;
    at = s.head(edge);
  }
  return at + 1 == s.nodes();
}

void Lattice::encode(const Layout& layout, std::span<const std::int32_t> y,
                     std::vector<std::uint32_t>& parts) const {
  const std::size_t offset = layout.block[kEdge].offset;
  for (const std::int32_t e : y) parts.push_back(static_cast<std::uint32_t>(offset) + e);
}

std::vector<std::pair<double, Output>> Lattice::kbest(const Layout& layout, const Scores& scores,
                                                      std::size_t n, Workspace& ws) const {
  const LatticeShape& s = shape_of(layout);
  double* node = ws.real(kNode, s.nodes());
  best_of_nodes(s, scores.block[kEdge], node);
  const PathForest forest{s, scores.block[kEdge], node};
  auto found = kbest_outputs(forest, s.nodes() - 1, n, {}, writer_of(forest));
  for (auto& [score, y] : found) std::reverse(y.begin(), y.end());
  return found;
}

std::vector<Output> Lattice::sample(const Layout& layout, const Scores& scores, double eps,
                                    std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const LatticeShape& s = shape_of(layout);
  double* node = ws.real(kNode, s.nodes());
  sums_of_nodes(s, scores.block[kEdge], eps, node, ws.real(kEdgeSum, s.edges()));
  if (node[s.nodes() - 1] == kMinusInfinity) return {};
  for (std::size_t v = 0; v < s.nodes(); ++v) node[v] *= eps;
  const PathForest forest{s, scores.block[kEdge], node};
  std::vector<Output> drawn =
      drawn_outputs(forest, s.nodes() - 1, eps, n, seed, {}, writer_of(forest));
  for (Output& y : drawn) std::reverse(y.begin(), y.end());
  return drawn;
}

}  // namespace structlearn
