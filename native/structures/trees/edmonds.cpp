// Chu-Liu/Edmonds (Chu & Liu 1965, Edmonds 1967) by growing paths (Gabow, Galil, Spencer & Tarjan
// 1986) on a dense matrix.
//
// Every word takes its best arc; if these close a cycle, the cycle becomes a node of its own. The
// best arc into a word does not change when other words are contracted, so only a new node has its
// arcs computed: one row of arcs that leave it (the best over its members), one of arcs that enter
// (the same, minus the value of the member's arc in the cycle). All contractions together read
// O(n^2) scores. The member of an arc is not stored but looked up at the end: the first whose score
// gives the maximum.
//
// A single root comes from the same arcs (Gabow & Tarjan 1984; Zmigrod, Vieira & Cotterell 2020):
// let every arc from the root cost a penalty that rises from 0. A node that hangs from the root
// prefers its best other arc as soon as the penalty reaches their difference; the node with the
// smallest difference changes, a cycle that this closes is contracted, and the first tree with one
// word at the root is the best of those. The penalty is only compared, never added to a score.
#include "structures/trees/edmonds.hpp"

#include <algorithm>
#include <limits>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {

using Node = std::int32_t;

enum class EdmondsScratch { kNodes, kRows };

// Words are the nodes 1..n, contracted cycles those from N = n + 1 on.
template <class Watch>
class Contraction {
 public:
  Contraction(const double* arc, std::size_t n, Workspace& ws, Watch& watch)
      : arc_(arc),
        n_(n),
        N_(n + 1),
        capacity_(2 * N_),
        nodes_(static_cast<Node>(N_)),
        ws_(ws),
        watch_(watch) {
    double* reals = ws.real(EdmondsScratch::kNodes, 3 * capacity_);
    inner_ = reals;
    root_ = reals + capacity_;
    worth_ = reals + 2 * capacity_;
    std::int32_t* integers = ws.integer(EdmondsScratch::kNodes, 7 * capacity_);
    head_ = integers;
    top_ = integers + capacity_;
    place_ = integers + 2 * capacity_;
    active_ = integers + 3 * capacity_;
    first_ = integers + 4 * capacity_;
    members_ = integers + 5 * capacity_;
    path_ = integers + 6 * capacity_;
    hangs_ = ws.flag(EdmondsScratch::kNodes, 2 * capacity_);
    seen_ = hangs_ + capacity_;
  }

  // False if some word has no arc at all.
  bool start() {
    kernels().column_best(arc_ + N_ + 1, N_, n_, inner_ + 1, head_ + 1);
    for (std::size_t m = 1; m < N_; ++m) {
      head_[m] += 1;
      root_[m] = arc_[m];
      if (!possible(static_cast<Node>(m))) return false;
      hangs_[m] = root_[m] >= inner_[m];
      seen_[m] = 0;
      if constexpr (Watch::kOn) {
        const auto node = static_cast<std::int64_t>(m);
        watch_("choose", {node, hangs_[m] ? 0 : head_[m]}, {inner_[m], root_[m]});
      }
    }
    return true;
  }

  // Contracts until every node's arc leads to the root.
  bool grow() {
    bool cycles = false;
    for (std::size_t m = 1; m < N_ && !cycles; ++m) {
      // Usually there is no cycle, and nothing else need be set up.
      Node v = static_cast<Node>(m);
      while (seen_[v] == 0) {
        seen_[v] = 1;
        if (hangs_[v]) break;
        v = head_[v];
      }
      cycles = seen_[v] == 1 && !hangs_[v];
      for (v = static_cast<Node>(m); seen_[v] == 1; v = head_[v]) {
        seen_[v] = 2;
        if (hangs_[v]) break;
      }
    }
    if (!cycles) return true;
    set_up();
    std::fill(seen_, seen_ + N_, std::uint8_t{0});
    for (std::size_t m = 1; m < N_; ++m) {
      std::size_t length = 0;
      Node v = find(static_cast<Node>(m));
      while (seen_[v] == 0) {
        seen_[v] = 1;
        path_[length++] = v;
        if (hangs_[v]) break;
        v = find(head_[v]);
        if (seen_[v] != 1) continue;
        std::size_t from = length;
        while (path_[from - 1] != v) --from;
        --from;
        v = contract(path_ + from, length - from);
        length = from;
        if (!possible(v)) return false;
        hangs_[v] = root_[v] >= inner_[v];
        seen_[v] = 0;
      }
      for (std::size_t i = 0; i < length; ++i) seen_[path_[i]] = 2;
    }
    return true;
  }

  // Leaves one node at the root; false if that is impossible.
  bool make_single_root() {
    std::size_t roots = 0;
    for (std::size_t m = 1; m < N_; ++m) roots += hangs_[m] != 0;
    if (ready_) {
      roots = 0;
      for (std::size_t i = 0; i < n_active_; ++i) roots += hangs_[active_[i]] != 0;
    }
    if (roots == 1) return true;
    if (!ready_) set_up();
    while (roots > 1) {
      Node least = -1;
      double penalty = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < n_active_; ++i) {
        const Node v = active_[i];
        if (hangs_[v] && root_[v] - inner_[v] < penalty) {
          penalty = root_[v] - inner_[v];
          least = v;
        }
      }
      if (least < 0) return false;
      if constexpr (Watch::kOn) watch_("penalty", {least, head_[least]}, {penalty});
      hangs_[least] = 0;
      --roots;
      // Its new arc may come from a node below it.
      for (Node v = least; !hangs_[v];) {
        std::size_t length = 0;
        Node u = v;
        do {
          path_[length++] = u;
          if (hangs_[u]) break;
          u = find(head_[u]);
        } while (u != v);
        if (hangs_[path_[length - 1]]) break;
        v = contract(path_, length);
        if (!possible(v)) return false;
        hangs_[v] = root_[v] - inner_[v] > penalty;
        roots += hangs_[v] != 0;
      }
    }
    return true;
  }

  // The tree of words, from the tree of nodes.
  void expand(std::int32_t* heads) {
    if (!ready_ || nodes_ == static_cast<Node>(N_)) {
      for (std::size_t m = 1; m < N_; ++m) heads[m - 1] = hangs_[m] ? 0 : head_[m];
      return;
    }
    // Pairs of a node and its head, at most one per word at any time.
    std::size_t waiting = 0;
    Node *node = path_, *above = top_;
    for (std::size_t i = 0; i < n_active_; ++i) {
      node[waiting] = active_[i];
      above[waiting++] = hangs_[active_[i]] ? 0 : head_[active_[i]];
    }
    while (waiting > 0) {
      --waiting;
      Node v = node[waiting], h = above[waiting];
      while (v >= static_cast<Node>(N_) || h >= static_cast<Node>(N_)) {
        if (h > v) {
          h = leaving(h, v);
          continue;
        }
        const Node entered = h == 0 ? entered_from_root(v) : entered_from(h, v);
        if constexpr (Watch::kOn) watch_("expand", {v, entered, h});
        for (Node i = first_[v]; i < first_[v + 1]; ++i) {
          if (members_[i] == entered) continue;
          node[waiting] = members_[i];
          above[waiting++] = head_[members_[i]];
        }
        v = entered;
      }
      heads[v - 1] = h;
    }
  }

 private:
  bool possible(Node v) const { return root_[v] > kMinusInfinity || inner_[v] > kMinusInfinity; }

  void set_up() {
    ready_ = true;
    for (std::size_t m = 1; m < N_; ++m) {
      top_[m] = static_cast<Node>(m);
      active_[m - 1] = static_cast<Node>(m);
      place_[m] = static_cast<Node>(m) - 1;
    }
    n_active_ = n_;
    first_[nodes_] = 0;
    rows_ = ws_.real(EdmondsScratch::kRows, 2 * capacity_ * n_);
  }

  // The node that contains v.
  Node find(Node v) {
    while (top_[v] != v) {
      top_[v] = top_[top_[v]];
      v = top_[v];
    }
    return v;
  }

  // Rows of the cycle c: scores of arcs that leave it for a node, and that enter it from one, both
  // for nodes before it. The later of two nodes stores the arcs between them.
  double* rows(Node c) const { return rows_ + 2 * capacity_ * (static_cast<std::size_t>(c) - N_); }
  const double* out(Node c) const { return rows(c); }
  const double* in(Node c) const { return rows(c) + capacity_; }

  double score(Node u, Node v) const {
    if (u > v) return u < static_cast<Node>(N_) ? word_score(u, v) : out(u)[v];
    return v < static_cast<Node>(N_) ? word_score(u, v) : in(v)[u];
  }
  double word_score(Node u, Node v) const {
    return arc_[static_cast<std::size_t>(u) * N_ + static_cast<std::size_t>(v)];
  }

  Node contract(const Node* cycle, std::size_t length) {
    const Node c = nodes_++;
    double *leave = rows(c), *enter = leave + capacity_;
    Node* member = members_ + first_[c];
    std::copy(cycle, cycle + length, member);
    first_[c + 1] = first_[c] + static_cast<Node>(length);
    top_[c] = c;
    root_[c] = kMinusInfinity;
    for (std::size_t i = 0; i < length; ++i) {
      const Node v = member[i];
      root_[c] = std::max(root_[c], root_[v] - inner_[v]);
      top_[v] = c;
      const Node last = active_[--n_active_];  // v leaves the list
      active_[place_[v]] = last;
      place_[last] = place_[v];
    }
    // Arcs to words, in rows; those to removed words do no harm.
    const std::size_t count = length;
    const double* row[kAtOnce];
    for (std::size_t done = 0; done < count; done += kAtOnce) {
      const std::size_t some = std::min(count - done, kAtOnce);
      for (std::size_t i = 0; i < some; ++i) {
        const Node v = member[done + i];
        row[i] = v < static_cast<Node>(N_) ? arc_ + static_cast<std::size_t>(v) * N_ : out(v);
      }
      kernels().max_rows(row, some, done > 0, leave, N_);
    }
    // Words first: most members are words, and their scores are in the matrix.
    std::size_t words = 0;
    for (std::size_t i = 0; i < length; ++i) {
      if (member[i] < static_cast<Node>(N_)) std::swap(member[words++], member[i]);
    }
    for (std::size_t i = 0; i < length; ++i) worth_[i] = inner_[member[i]];
    inner_[c] = kMinusInfinity;
    head_[c] = 0;
    for (std::size_t i = 0; i < n_active_; ++i) {
      const Node u = active_[i];
      double best = kMinusInfinity;
      std::size_t j = 0;
      if (u < static_cast<Node>(N_)) {
        const double* from = arc_ + static_cast<std::size_t>(u) * N_;
        for (; j < words; ++j) {
          const double x = from[member[j]] - worth_[j];
          best = x > best ? x : best;
        }
        for (; j < length; ++j) {
          const double x = in(member[j])[u] - worth_[j];
          best = x > best ? x : best;
        }
      } else {
        leave[u] = kMinusInfinity;
        for (; j < length; ++j) {
          best = std::max(best, score(u, member[j]) - worth_[j]);
          leave[u] = std::max(leave[u], score(member[j], u));
        }
      }
      enter[u] = best;
      if (best > inner_[c]) {
        inner_[c] = best;
        head_[c] = u;
      }
    }
    if constexpr (Watch::kOn) {
      std::vector<std::int64_t> nodes{c, head_[c]};
      std::vector<double> values{inner_[c], root_[c]};
      nodes.insert(nodes.end(), member, member + length);
      for (std::size_t i = 0; i < length; ++i) values.push_back(inner_[member[i]]);
      for (std::size_t i = 0; i < n_active_; ++i) {
        nodes.push_back(active_[i]);
        values.push_back(enter[active_[i]]);
      }
      nodes.push_back(static_cast<std::int64_t>(length));
      watch_("contract", std::move(nodes), std::move(values));
    }
    place_[c] = static_cast<Node>(n_active_);
    active_[n_active_++] = c;
    return c;
  }

  // The member that an arc belongs to: the first that has its score, or else the last.
  template <class Matches>
  Node member_of(Node c, Matches&& matches) const {
    Node i = first_[c];
    while (i + 1 < first_[c + 1] && !matches(members_[i])) ++i;
    return members_[i];
  }
  Node leaving(Node c, Node v) const {
    return member_of(c, [&](Node u) { return score(u, v) == out(c)[v]; });
  }
  Node entered_from(Node u, Node c) const {
    return member_of(c, [&](Node v) { return score(u, v) - inner_[v] == in(c)[u]; });
  }
  Node entered_from_root(Node c) const {
    return member_of(c, [&](Node v) { return root_[v] - inner_[v] == root_[c]; });
  }

  static constexpr std::size_t kAtOnce = 16;
  const double* arc_;
  std::size_t n_, N_, capacity_;
  Node nodes_;
  Workspace& ws_;
  Watch& watch_;
  bool ready_ = false;
  std::size_t n_active_ = 0;
  double* inner_;  // the best arc from another word or cycle
  double* root_;   // the best arc from the root
  double* worth_;  // for members of a cycle: the value of the arc inside it
  double* rows_ = nullptr;
  Node* head_;              // the source of the best inner arc, as a node at the time it was found
  Node* top_;               // the cycle that contains a node, or itself; with path compression
  Node *active_, *place_;   // nodes not inside another, and their places in the list
  Node *first_, *members_;  // of a cycle c: members_[first_[c]..first_[c + 1]]
  Node* path_;
  std::uint8_t *hangs_,
      *seen_;  // whether a node's arc comes from the root; 1: on the path, 2: done
};

template <class Watch>
double search(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
              Workspace& ws, Watch& watch) {
  Contraction<Watch> graph(arc, n, ws, watch);
  if (!graph.start() || !graph.grow()) return kMinusInfinity;
  if (single_root && !graph.make_single_root()) return kMinusInfinity;
  graph.expand(heads);
  double value = 0.0;
  for (std::size_t m = 1; m <= n; ++m) {
    value += arc[static_cast<std::size_t>(heads[m - 1]) * (n + 1) + m];
  }
  return value;
}

}  // namespace

double best_arborescence(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
                         Workspace& ws) {
  Unwatched watch;
  return search(arc, n, single_root, heads, ws, watch);
}

double watched_arborescence(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
                            Workspace& ws, Recorder& watch) {
  return search(arc, n, single_root, heads, ws, watch);
}

}  // namespace structlearn
