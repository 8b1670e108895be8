#include "structures/hypergraph.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/elementary.hpp"
#include "numeric/random.hpp"
#include "numeric/softmax.hpp"
#include "structures/lazy_kbest.hpp"
#include "structures/structure.hpp"

namespace structlearn {

Hypergraph::Hypergraph(std::size_t nodes, std::size_t parts, std::vector<std::uint32_t> head,
                       std::vector<std::uint32_t> tail_ptr, std::vector<std::uint32_t> tail,
                       std::vector<std::uint32_t> part_ptr, std::vector<std::uint32_t> part)
    : nodes_(nodes),
      parts_(parts),
      head_(std::move(head)),
      tail_ptr_(std::move(tail_ptr)),
      tail_(std::move(tail)),
      part_ptr_(std::move(part_ptr)),
      part_(std::move(part)) {
  const std::size_t edges = head_.size();
  const auto offsets_fit = [edges](const std::vector<std::uint32_t>& ptr, std::size_t n) {
    return ptr.size() == edges + 1 && ptr.front() == 0 && ptr.back() == n &&
           std::is_sorted(ptr.begin(), ptr.end());
  };
  if (nodes_ == 0) throw std::invalid_argument("a hypergraph needs at least one node");
  if (!offsets_fit(tail_ptr_, tail_.size()) || !offsets_fit(part_ptr_, part_.size())) {
    throw std::invalid_argument("the offsets of tails or parts do not match the edges");
  }
  in_ptr_.assign(nodes_ + 1, 0);
  for (std::size_t e = 0; e < edges; ++e) {
    if (head_[e] >= nodes_ || (e > 0 && head_[e] < head_[e - 1])) {
      throw std::invalid_argument("edge " + std::to_string(e) +
                                  ": edges must be sorted by head, each head a node");
    }
    ++in_ptr_[head_[e] + 1];
    for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) {
      if (tail_[i] >= head_[e]) {
        throw std::invalid_argument("edge " + std::to_string(e) + ": tail " +
                                    std::to_string(tail_[i]) + " does not come before head " +
                                    std::to_string(head_[e]) +
                                    "; number the nodes in topological order");
      }
    }
    for (std::size_t i = part_ptr_[e]; i < part_ptr_[e + 1]; ++i) {
      if (part_[i] >= parts_) {
        throw std::invalid_argument("edge " + std::to_string(e) + ": part " +
                                    std::to_string(part_[i]) + " does not exist");
      }
    }
  }
  for (std::size_t v = 0; v < nodes_; ++v) in_ptr_[v + 1] += in_ptr_[v];
}

double Hypergraph::edge_score(const double* theta, std::size_t e) const {
  double sum = 0.0;
  for (std::size_t i = part_ptr_[e]; i < part_ptr_[e + 1]; ++i) sum += theta[part_[i]];
  return sum;
}

double Hypergraph::best(const double* theta, Edges& derivation) const {
  std::vector<double> score(nodes_, kMinusInfinity);
  std::vector<std::uint32_t> choice(nodes_, 0);
  for (std::size_t e = 0; e < head_.size(); ++e) {
    double x = edge_score(theta, e);
    for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) x += score[tail_[i]];
    if (x > score[head_[e]]) {
      score[head_[e]] = x;
      choice[head_[e]] = static_cast<std::uint32_t>(e);
    }
  }
  derivation.clear();
  if (score.back() == kMinusInfinity) return kMinusInfinity;
  std::vector<std::uint32_t> open{static_cast<std::uint32_t>(nodes_ - 1)};
  while (!open.empty()) {
    const std::uint32_t e = choice[open.back()];
    open.pop_back();
    derivation.push_back(e);
    for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) open.push_back(tail_[i]);
  }
  return score.back();
}

std::vector<double> Hypergraph::inside(const double* theta, double eps,
                                       std::vector<double>& edge) const {
  std::vector<double> node(nodes_, kMinusInfinity);
  edge.assign(head_.size(), kMinusInfinity);
  for (std::size_t v = 0; v < nodes_; ++v) {
    double top = kMinusInfinity;
    for (std::size_t e = in_ptr_[v]; e < in_ptr_[v + 1]; ++e) {
      double x = edge_score(theta, e) / eps;
      for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) x += node[tail_[i]];
      edge[e] = x;
      top = std::max(top, x);
    }
    if (top == kMinusInfinity) continue;
    double sum = 0.0;
    for (std::size_t e = in_ptr_[v]; e < in_ptr_[v + 1]; ++e) sum += elementary::exp(edge[e] - top);
    node[v] = top + elementary::log(sum);
  }
  return node;
}

// Outside, as probabilities: an edge takes its share of its head's mass. Shares add up to 1, even
// if the sum of a node is so large that it is only rounding error.
template <class Body>
void Hypergraph::outside(const std::vector<double>& edge, std::vector<double>& mass,
                         Body&& body) const {
  std::vector<double> share;
  mass.back() = 1.0;
  for (std::size_t v = nodes_; v-- > 0;) {
    if (mass[v] == 0.0) continue;
    const std::size_t first = in_ptr_[v], count = in_ptr_[v + 1] - first;
    share.resize(count);
    softmax(edge.data() + first, count, 1.0, share.data());
    for (std::size_t x = 0; x < count; ++x) {
      const std::size_t e = first + x;
      const double m = mass[v] * share[x];
      for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) mass[tail_[i]] += m;
      body(e, m);
    }
  }
}

double Hypergraph::infer(const double* theta, double eps, double* p) const {
  std::vector<double> edge;
  const std::vector<double> node = inside(theta, eps, edge);
  std::fill(p, p + parts_, 0.0);
  if (node.back() == kMinusInfinity) return kMinusInfinity;
  std::vector<double> mass(nodes_, 0.0);
  outside(edge, mass, [&](std::size_t e, double m) {
    for (std::size_t i = part_ptr_[e]; i < part_ptr_[e + 1]; ++i) p[part_[i]] += m;
  });
  return eps * node.back();
}

Hypergraph::Chart Hypergraph::chart(const double* theta, double eps) const {
  Chart found;
  found.mass.assign(nodes_, 0.0);
  if (eps == 0.0) {
    found.node.assign(nodes_, kMinusInfinity);
    for (std::size_t e = 0; e < head_.size(); ++e) {
      double x = edge_score(theta, e);
      for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) x += found.node[tail_[i]];
      found.edge.push_back(x);
      found.node[head_[e]] = std::max(found.node[head_[e]], x);
    }
    Edges derivation;
    best(theta, derivation);
    for (const std::uint32_t e : derivation) found.mass[head_[e]] = 1.0;
    return found;
  }
  found.node = inside(theta, eps, found.edge);
  if (found.node.back() > kMinusInfinity) outside(found.edge, found.mass, [](auto...) {});
  for (double& x : found.node) x *= eps;
  for (double& x : found.edge) x *= eps;
  return found;
}

double Hypergraph::entropy(const double* theta, double eps) const {
  std::vector<double> edge;
  const std::vector<double> node = inside(theta, eps, edge);
  if (node.back() == kMinusInfinity) return kMinusInfinity;
  // H(node) = sum_e p(e) (-log p(e) + H of its tails), every term at least 0.
  std::vector<double> result(nodes_, 0.0);
  for (std::size_t v = 0; v < nodes_; ++v) {
    if (node[v] == kMinusInfinity) continue;
    const auto first = edge.begin() + in_ptr_[v], last = edge.begin() + in_ptr_[v + 1];
    const auto top = std::max_element(first, last);
    double rest = 0.0, mean = 0.0;  // weights are relative to that of the top, which is 1
    for (auto x = first; x != last; ++x) {
      if (*x == kMinusInfinity) continue;
      const auto e = static_cast<std::size_t>(x - edge.begin());
      const double weight = elementary::exp(*x - *top);
      double surprise = *top - *x;
      for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) surprise += result[tail_[i]];
      mean += weight * surprise;
      if (x != top) rest += weight;
    }
    result[v] = elementary::log1p(rest) + mean / (1.0 + rest);
  }
  return result.back();
}

struct Hypergraph::Forest {
  const Hypergraph& graph;
  const double* theta;
  std::vector<double> score;

  double best(std::uint64_t v) const { return score[v]; }
  std::uint32_t ways(std::uint64_t v) const { return graph.in_ptr_[v + 1] - graph.in_ptr_[v]; }
  double way(std::uint64_t v, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    e += graph.in_ptr_[v];
    tails.assign(graph.tail_.begin() + graph.tail_ptr_[e],
                 graph.tail_.begin() + graph.tail_ptr_[e + 1]);
    return graph.edge_score(theta, e);
  }
};

std::vector<std::pair<double, Hypergraph::Edges>> Hypergraph::kbest(const double* theta,
                                                                    std::size_t k) const {
  Forest forest{*this, theta, std::vector<double>(nodes_, kMinusInfinity)};
  for (std::size_t e = 0; e < head_.size(); ++e) {
    double x = edge_score(theta, e);
    for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) x += forest.score[tail_[i]];
    forest.score[head_[e]] = std::max(forest.score[head_[e]], x);
  }
  LazyKBest<Forest> search(forest);
  std::vector<std::pair<double, Edges>> result;
  for (std::uint32_t r = 0; r < k && search.find(nodes_ - 1, r); ++r) {
    result.emplace_back(search.score(nodes_ - 1, r), Edges());
    search.walk(nodes_ - 1, r, [&](std::uint64_t v, std::uint32_t e) {
      result.back().second.push_back(in_ptr_[v] + e);
    });
  }
  return result;
}

std::vector<Hypergraph::Edges> Hypergraph::sample(const double* theta, double eps, std::size_t n,
                                                  std::uint64_t seed) const {
  std::vector<double> edge;
  const std::vector<double> node = inside(theta, eps, edge);
  if (node.back() == kMinusInfinity) return {};
  std::vector<double> weight;
  std::vector<Edges> result(n);
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    std::vector<std::uint32_t> open{static_cast<std::uint32_t>(nodes_ - 1)};
    while (!open.empty()) {
      const std::uint32_t v = open.back();
      open.pop_back();
      const std::size_t begin = in_ptr_[v], count = in_ptr_[v + 1] - begin;
      weight.resize(count);
      for (std::size_t i = 0; i < count; ++i)
        weight[i] = elementary::exp(edge[begin + i] - node[v]);
      const std::size_t e = begin + draw(weight.data(), count, 1, random);
      result[s].push_back(static_cast<std::uint32_t>(e));
      for (std::size_t i = tail_ptr_[e]; i < tail_ptr_[e + 1]; ++i) open.push_back(tail_[i]);
    }
  }
  return result;
}

std::vector<std::uint32_t> Hypergraph::parts_of(const Edges& derivation) const {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t e : derivation) {
    result.insert(result.end(), part_.begin() + part_ptr_[e], part_.begin() + part_ptr_[e + 1]);
  }
  return result;
}

}  // namespace structlearn
