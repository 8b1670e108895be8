// Branch and bound on small graphs: labels are tried node by node, pruning whatever cannot beat the
// best labelling so far.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "structures/graphs/pairwise.hpp"

namespace structlearn {
namespace {

template <class Watch>
class Branching {
 public:
  Branching(const Pairwise& m, std::size_t most_steps, std::vector<std::int32_t>& y, Watch& watch)
      : m_(m),
        left_(most_steps),
        best_(y),
        value_(m.score(y.data())),
        y_(m.nodes, -1),
        watch_(watch) {
    near_.resize(m.nodes);
    for (std::size_t e = 0; e < m.n_edges; ++e) {
      const auto [p, q] = m.edge(e);
      near_[p].push_back({e, q, false});
      near_[q].push_back({e, p, true});
    }
    // Nodes with most edges first: they settle most.
    order_.resize(m.nodes);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return near_[a].size() > near_[b].size();
    });
    std::vector<std::size_t> place(m.nodes);
    for (std::size_t d = 0; d < m.nodes; ++d) place[order_[d]] = d;
    // An upper bound of the edges between nodes at places >= d.
    open_.assign(m.nodes + 1, 0.0);
    for (std::size_t e = 0; e < m.n_edges; ++e) {
      const auto [p, q] = m.edge(e);
      double most = kMinusInfinity;
      for (std::size_t a = 0; a < m.labels; ++a) {
        for (std::size_t b = 0; b < m.labels; ++b) most = std::max(most, m.pair_score(e, a, b));
      }
      const std::size_t first = std::min(place[p], place[q]);
      for (std::size_t d = 0; d <= first; ++d) open_[d] += most;
    }
    alone_.resize(m.nodes + 1);
    alone_[0].assign(m.label, m.label + m.nodes * m.labels);
  }

  // Whether all labellings were tried or pruned.
  bool run() {
    if constexpr (Watch::kOn) watch_("start", {order_.begin(), order_.end()}, {value_});
    return descend(0, 0.0);
  }

 private:
  struct Link {
    std::size_t edge, other;
    bool turned;  // the node is the edge's second one
  };

  bool descend(std::size_t depth, double settled) {
    if (depth == m_.nodes) {
      const double value = m_.score(y_.data());
      if constexpr (Watch::kOn) watch_("leaf", {value > value_}, {value});
      if (value > value_) {
        value_ = value;
        best_ = y_;
      }
      return true;
    }
    const std::size_t v = order_[depth], K = m_.labels;
    const std::vector<double>& scores = alone_[depth];
    std::vector<std::size_t> labels(K);
    std::iota(labels.begin(), labels.end(), std::size_t{0});
    std::stable_sort(labels.begin(), labels.end(), [&](std::size_t a, std::size_t b) {
      return scores[v * K + a] > scores[v * K + b];
    });
    for (const std::size_t k : labels) {
      const double now = settled + scores[v * K + k];
      if (now == kMinusInfinity) break;
      if (left_ == 0) return false;
      --left_;
      y_[v] = static_cast<std::int32_t>(k);
      // The scores of the remaining nodes, alone and with the labelled ones.
      std::vector<double>& next = alone_[depth + 1];
      next = scores;
      for (const Link& link : near_[v]) {
        if (y_[link.other] >= 0) continue;
        double* row = next.data() + link.other * K;
        for (std::size_t b = 0; b < K; ++b) {
          row[b] += link.turned ? m_.pair_score(link.edge, b, k) : m_.pair_score(link.edge, k, b);
        }
      }
      double bound = now + open_[depth + 1] + clique_bound();
      for (std::size_t d = depth + 1; d < m_.nodes; ++d) {
        const double* row = next.data() + order_[d] * K;
        bound += *std::max_element(row, row + K);
      }
      if constexpr (Watch::kOn) {
        const auto number = [](std::size_t i) { return static_cast<std::int64_t>(i); };
        watch_("try", {number(depth), number(v), number(k)}, {now, bound, value_});
      }
      if (bound > value_ && !descend(depth + 1, now)) return false;
      y_[v] = -1;
    }
    return true;
  }

  // An upper bound of the scores of groups of nodes, given the labels so far.
  double clique_bound() const {
    const Cliques& cliques = m_.cliques;
    double total = 0.0;
    for (std::size_t c = 0; c < cliques.count; ++c) {
      double most = 0.0;
      for (std::size_t k = 0; k < m_.labels; ++k) {
        double missing = 0.0;
        for (auto i = cliques.start[c]; i < cliques.start[c + 1]; ++i) {
          const std::int32_t given = y_[static_cast<std::size_t>(cliques.members[i])];
          missing += given >= 0 && given != static_cast<std::int32_t>(k) ? 1.0 : 0.0;
        }
        const double share = std::max(0.0, 1.0 - missing / cliques.slack[c]);
        most = std::max(most, share * cliques.reward[c * m_.labels + k]);
      }
      total += most;
    }
    return total;
  }

  const Pairwise& m_;
  std::size_t left_;
  std::vector<std::int32_t>& best_;
  double value_;
  std::vector<std::int32_t> y_;
  std::vector<std::vector<Link>> near_;
  std::vector<std::size_t> order_;
  std::vector<double> open_;
  std::vector<std::vector<double>> alone_;  // by depth
  Watch& watch_;
};

}  // namespace

bool branch_and_bound(const Pairwise& m, std::size_t most_steps, std::vector<std::int32_t>& y) {
  Unwatched watch;
  return Branching<Unwatched>(m, most_steps, y, watch).run();
}

bool watched_branching(const Pairwise& m, std::size_t most_steps, std::vector<std::int32_t>& y,
                       Recorder& watch) {
  return Branching<Recorder>(m, most_steps, y, watch).run();
}

}  // namespace structlearn
