// The k best derivations of a forest whose best ones are known (Huang & Chiang 2005, algorithm 3):
// a node's second, third, ... derivation is computed only when a better one needs it. Nodes that no
// list needs cost nothing.
//
// A Forest defines, for nodes that are numbers of its own choosing,
//   double best(node)               the score of the best derivation, -inf if there is none;
//   std::uint32_t ways(node)        the number of edges that lead to it;
//   double way(node, e, tails)      the score of edge e itself; lists its tails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

template <class Forest>
class LazyKBest {
 public:
  using Tails = std::vector<std::uint64_t>;

  explicit LazyKBest(const Forest& forest) : forest_(forest) {}

  // Whether the node has a derivation of this rank, the best being 0. Without recursion: forests
  // may be deep.
  bool find(std::uint64_t node, std::uint32_t rank) {
    wanted_.assign(1, {node, rank});
    while (!wanted_.empty()) {
      const auto [v, r] = wanted_.back();
      Node& at = open(v);
      if (at.list.size() > r || at.exhausted()) {
        wanted_.pop_back();
        continue;
      }
      if (!at.extended && !extend(at, v)) continue;  // its dependencies come first
      if (at.heap.empty()) continue;
      std::pop_heap(at.heap.begin(), at.heap.end(), worse);
      at.list.push_back(std::move(at.heap.back()));
      at.heap.pop_back();
      at.extended = false;
    }
    return nodes_.at(node).list.size() > rank;
  }

  // The score of one that was computed.
  double score(std::uint64_t node, std::uint32_t rank) const {
    return nodes_.at(node).list[rank].score;
  }

  // Calls visit(node, edge) for every edge of one that was computed.
  template <class Visit>
  void walk(std::uint64_t root, std::uint32_t rank, Visit&& visit) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> stack{{root, rank}};
    while (!stack.empty()) {
      const auto [v, r] = stack.back();
      stack.pop_back();
      find(v, r);
      const Way& way = nodes_.at(v).list[r];
      visit(v, way.edge);
      forest_.way(v, way.edge, tails_);
      for (std::size_t i = 0; i < tails_.size(); ++i) stack.emplace_back(tails_[i], way.at(i));
    }
  }

 private:
  struct Way {
    double score;
    std::uint32_t edge;
    std::vector<std::uint32_t> rank;  // the rank of each tail's derivation; empty: all best
    std::uint32_t at(std::size_t i) const { return rank.empty() ? 0 : rank[i]; }
  };
  struct Node {
    std::vector<Way> list, heap;
    bool extended = true;  // the heap has the successors of the last of the list
    bool exhausted() const { return extended && heap.empty(); }
  };

  // Ties go to the first edge.
  static bool worse(const Way& a, const Way& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.edge > b.edge || (a.edge == b.edge && a.rank > b.rank);
  }

  Node& open(std::uint64_t v) {
    const auto [at, added] = nodes_.try_emplace(v);
    Node& node = at->second;
    if (!added) return node;
    const std::uint32_t ways = forest_.ways(v);
    for (std::uint32_t e = 0; e < ways; ++e) {
      double x = forest_.way(v, e, tails_);
      for (const std::uint64_t tail : tails_) x += forest_.best(tail);
      if (x > kMinusInfinity) node.heap.push_back({x, e, {}});
    }
    std::make_heap(node.heap.begin(), node.heap.end(), worse);
    return node;
  }

  // Pushes the successors of the last of the list on the heap: one tail takes its next derivation.
  // Each combination has one predecessor only, in which its last tail that is not at its best is
  // one better.
  bool extend(Node& node, std::uint64_t v) {
    const Way last = node.list.back();
    const double gain = forest_.way(v, last.edge, tails_);
    const Tails tails = tails_;
    std::size_t first = tails.size();
    while (first > 1 && last.at(first - 1) == 0) --first;
    first = first > 0 ? first - 1 : 0;
    bool waits = false;
    for (std::size_t i = first; i < tails.size(); ++i) {
      const Node& tail = open(tails[i]);
      if (tail.list.size() > last.at(i) + 1 || tail.exhausted()) continue;
      wanted_.emplace_back(tails[i], last.at(i) + 1);
      waits = true;
    }
    if (waits) return false;
    for (std::size_t i = first; i < tails.size(); ++i) {
      if (nodes_.at(tails[i]).list.size() <= last.at(i) + 1) continue;
      Way next{gain, last.edge, last.rank};
      next.rank.resize(tails.size(), 0);
      ++next.rank[i];
      for (std::size_t t = 0; t < tails.size(); ++t) {
        next.score += next.rank[t] == 0 ? forest_.best(tails[t])
                                        : nodes_.at(tails[t]).list[next.rank[t]].score;
      }
      if (next.score == kMinusInfinity) continue;
      node.heap.push_back(std::move(next));
      std::push_heap(node.heap.begin(), node.heap.end(), worse);
    }
    node.extended = true;
    return true;
  }

  const Forest& forest_;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> wanted_;
  Tails tails_;
};

// The n best outputs of a forest. `write(node, edge, y)` writes the share of an edge into the
// output y, which starts as `blank`.
template <class Forest, class Write>
std::vector<std::pair<double, Output>> kbest_outputs(const Forest& forest, std::uint64_t root,
                                                     std::size_t n, const Output& blank,
                                                     Write&& write) {
  LazyKBest<Forest> search(forest);
  std::vector<std::pair<double, Output>> found;
  for (std::uint32_t r = 0; r < n && search.find(root, r); ++r) {
    found.emplace_back(search.score(root, r), blank);
    search.walk(root, r,
                [&](std::uint64_t v, std::uint32_t e) { write(v, e, found.back().second); });
  }
  // Best scores add up in the chart's order, others in the forest's: they may differ in the last
  // bit.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return found;
}

}  // namespace structlearn
