#include "structures/trees/tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/lazy_kbest.hpp"
#include "structures/trees/tree_view.hpp"

namespace structlearn {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("parents: " + what);
}

void check_parents(std::span<const std::int64_t> parents) {
  const auto n = static_cast<std::int64_t>(parents.size());
  std::int64_t root = -1;
  for (std::int64_t v = 0; v < n; ++v) {
    const std::int64_t p = parents[static_cast<std::size_t>(v)];
    if (p < -1 || p >= n) {
      refuse("node " + std::to_string(v) + " has the parent " + std::to_string(p) +
             ", which is neither a node nor -1 (the root)");
    }
    if (p == v) refuse("node " + std::to_string(v) + " is its own parent");
    if (p >= 0) continue;
    if (root >= 0) {
      refuse("nodes " + std::to_string(root) + " and " + std::to_string(v) +
             " are both roots (-1); a tree has one. Give the trees of a forest as examples of "
             "their own");
    }
    root = v;
  }
  if (root < 0) refuse("there is no root: one node must have -1");
  std::vector<std::uint32_t> order(parents.size()), first(parents.size() + 1),
      children(parents.size());
  const std::size_t found =
      from_the_root(parents.data(), parents.size(), order.data(), first.data(), children.data());
  if (found == parents.size()) return;
  std::vector<bool> reached(parents.size(), false);
  for (std::size_t i = 0; i < found; ++i) reached[order[i]] = true;
  std::size_t v = 0;
  while (reached[v]) ++v;
  // There is no root from here up: after as many steps as there are nodes, u is on the cycle.
  for (std::int64_t i = 0; i < n; ++i) v = static_cast<std::size_t>(parents[v]);
  std::string cycle = std::to_string(v);
  for (std::size_t u = static_cast<std::size_t>(parents[v]); u != v;
       u = static_cast<std::size_t>(parents[u])) {
    cycle += " -> " + std::to_string(u);
  }
  refuse("they go round in a cycle: " + cycle + " -> " + std::to_string(v));
}

bool in_order(std::span<const std::int64_t> parents) {
  for (std::size_t v = 0; v < parents.size(); ++v) {
    const bool fine =
        v == 0 ? parents[v] == -1 : parents[v] >= 0 && parents[v] < static_cast<std::int64_t>(v);
    if (!fine) return false;
  }
  return true;
}

}  // namespace

void Tree::check(const Layout& layout) const {
  const Block &label = layout.block[kLabel], &table = layout.block[kEdge];
  const std::size_t N = label.sites, K = label.outcomes;
  if (!label.present || N == 0 || K == 0) {
    throw std::invalid_argument(
        "label must have shape (N, K) with at least one node and one label");
  }
  if (layout.topology.empty()) {
    throw std::invalid_argument(
        "the parents of the nodes are missing: give them to Tree(parents), or with the example as "
        "parents");
  }
  if (layout.topology.size() != N) {
    throw std::invalid_argument("parents has " + std::to_string(layout.topology.size()) +
                                " nodes, label has " + std::to_string(N));
  }
  if (!in_order(layout.topology)) check_parents(layout.topology);
  if (table.present && (table.outcomes != K * K || table.sites != (table.anchored ? N - 1 : 1))) {
    throw std::invalid_argument(
        "edge must have shape (K, K), or that with " + std::to_string(N - 1) +
        " edges in front; label has N = " + std::to_string(N) + ", K = " + std::to_string(K));
  }
}

namespace {

// best[u][k]: of the labellings of the tree below u with label k there; sent[u][k]: the best of
// these for label k of u's parent, the edge included.
struct Messages {
  double *best, *sent;
};

Messages best_messages(const TreeView& v, Workspace& ws) {
  enum Scratch { kBest, kSent };
  const std::size_t K = v.K;
  double *best = ws.real(kBest, v.N * K), *sent = ws.real(kSent, v.N * K);
  std::copy(v.label, v.label + v.N * K, best);
  for (std::size_t i = v.N; i-- > 1;) {
    const std::size_t u = v.order[i];
    double *message = sent + u * K, *above = best + v.parent(u) * K;
    kernels().max_step_back(v.table(u), best + u * K, message, K, K);
    for (std::size_t k = 0; k < K; ++k) above[k] += message[k];
  }
  return {best, sent};
}

// The messages as a forest: a node with a label, a message for a label of the parent, the root.
class MessageForest {
 public:
  MessageForest(const TreeView& view, const Messages& messages)
      : v_(view), messages_(messages), children_(view.N) {
    for (std::size_t i = 1; i < v_.N; ++i) children_[v_.parent(v_.order[i])].push_back(v_.order[i]);
  }
  std::uint64_t root() const { return 2 * v_.N * v_.K; }
  double best(std::uint64_t at) const {  // never called for the root
    const std::size_t size = v_.N * v_.K;
    return at < size ? messages_.best[at] : messages_.sent[at - size];
  }
  std::uint32_t ways(std::uint64_t at) const {
    return at < v_.N * v_.K ? 1 : static_cast<std::uint32_t>(v_.K);
  }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const std::size_t K = v_.K, u = at / K, k = at % K;
    tails.clear();
    if (u < v_.N) {
      for (const std::uint32_t c : children_[u]) tails.push_back((v_.N + c) * K + k);
      return v_.label[at];
    }
    tails.push_back((at == root() ? v_.root() : u - v_.N) * K + e);
    return at == root() ? 0.0 : v_.table(u - v_.N)[k * K + e];
  }

 private:
  const TreeView& v_;
  Messages messages_;
  std::vector<std::vector<std::uint32_t>> children_;
};

}  // namespace

double Tree::argmax(const Layout& layout, const Scores& scores, Output& y, Workspace& ws) const {
  const TreeView v(layout, scores, ws);
  const std::size_t K = v.K;
  const auto [best, sent] = best_messages(v, ws);
  const double* top = best + v.root() * K;
  const std::size_t first = first_max(top, K);
  const double value = top[first];
  y.assign(v.N, 0);
  if (value == kMinusInfinity) return value;
  y[v.root()] = static_cast<std::int32_t>(first);
  for (std::size_t i = 1; i < v.N; ++i) {
    const std::size_t u = v.order[i], above = static_cast<std::size_t>(y[v.parent(u)]);
    const double *row = v.table(u) + above * K, *below = best + u * K;
    const double wanted = sent[u * K + above];
    std::size_t k = 0;
    while (k + 1 < K && row[k] + below[k] != wanted) ++k;
    y[u] = static_cast<std::int32_t>(k);
  }
  return value;
}

void Tree::encode(const Layout& layout, std::span<const std::int32_t> y,
                  std::vector<std::uint32_t>& parts) const {
  const Block &label = layout.block[kLabel], &table = layout.block[kEdge];
  const std::size_t N = label.sites, K = label.outcomes;
  const auto push = [&parts](std::size_t i) { parts.push_back(static_cast<std::uint32_t>(i)); };
  for (std::size_t v = 0; v < N; ++v) {
    push(label.offset + v * K + static_cast<std::size_t>(y[v]));
  }
  if (!table.present) return;
  std::size_t edge = 0;
  for (std::size_t v = 0; v < N; ++v) {
    if (layout.topology[v] < 0) continue;
    const auto above = static_cast<std::size_t>(y[static_cast<std::size_t>(layout.topology[v])]);
    push(table.offset + (table.anchored ? edge * K * K : 0) + above * K +
         static_cast<std::size_t>(y[v]));
    ++edge;
  }
}

std::vector<std::pair<double, Output>> Tree::kbest(const Layout& layout, const Scores& scores,
                                                   std::size_t n, Workspace& ws) const {
  const TreeView v(layout, scores, ws);
  const MessageForest forest(v, best_messages(v, ws));
  return kbest_outputs(forest, forest.root(), n, Output(v.N),
                       [&](std::uint64_t at, std::uint32_t, Output& y) {
                         if (at < v.N * v.K) y[at / v.K] = static_cast<std::int32_t>(at % v.K);
                       });
}

}  // namespace structlearn
