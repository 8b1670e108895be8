#include "structures/graphs/pairwise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "structures/graphs/cuts.hpp"

namespace structlearn {

std::array<std::size_t, 2> Pairwise::edge(std::size_t e) const {
  if (height == 0) {
    return {static_cast<std::size_t>(ends[2 * e]), static_cast<std::size_t>(ends[2 * e + 1])};
  }
  const std::size_t across = height * (width - 1);
  if (e >= across) return {e - across, e - across + width};
  const std::size_t v = e / (width - 1) * width + e % (width - 1);
  return {v, v + 1};
}

namespace {

// The sum of term(0), ..., term(n - 1) in four sums side by side, none of which waits for another.
template <class Term>
double sum_over(std::size_t n, Term&& term) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += term(i + k);
  }
  for (; i < n; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

double Pairwise::score(const std::int32_t* y) const {
  const auto pair = [&](std::size_t e, std::size_t p, std::size_t q) {
    return pair_score(e, static_cast<std::size_t>(y[p]), static_cast<std::size_t>(y[q]));
  };
  double total =
      sum_over(nodes, [&](std::size_t v) { return node_score(v, static_cast<std::size_t>(y[v])); });
  if (height == 0) {
    total += sum_over(n_edges, [&](std::size_t e) {
      return pair(e, static_cast<std::size_t>(ends[2 * e]),
                  static_cast<std::size_t>(ends[2 * e + 1]));
    });
    return total + clique_score(y);
  }
  // The n edges from `first` on: nodes p, p + 1, ... and those `step` further.
  const auto row = [&](std::size_t first, std::size_t n, std::size_t p, std::size_t step) {
    const double* strength = n > 0 ? this->strength(first) : nullptr;
    if (strength == nullptr) {
      total += sum_over(n, [&](std::size_t j) { return pair(first + j, p + j, p + j + step); });
      return;
    }
    const std::size_t next = pairs[first >= pairs[0].count].step;
    total -= sum_over(n, [&](std::size_t j) {
      // Nothing where they are equal, without a branch: half of them would be mispredicted.
      const std::uint64_t all = std::uint64_t{0} - (y[p + j] != y[p + j + step] ? 1 : 0);
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(strength[j * next]) & all);
    });
  };
  for (std::size_t i = 0; i < height; ++i) row(i * (width - 1), width - 1, i * width, 1);
  row(height * (width - 1), nodes - width, 0, width);
  return total;
}

double Pairwise::clique_score(const std::int32_t* y) const {
  double total = 0.0;
  for (std::size_t c = 0; c < cliques.count; ++c) {
    const auto [common, missing] = cliques.common(c, y);
    const double share = 1.0 - missing / cliques.slack[c];
    if (share > 0.0) total += share * cliques.reward[c * labels + static_cast<std::size_t>(common)];
  }
  return total;
}

// By majority vote (Boyer and Moore 1981): a label with a reward has more than half of the members.
Cliques::Common Cliques::common(std::size_t c, const std::int32_t* y) const {
  const std::int64_t *first = members + start[c], *last = members + start[c + 1];
  std::int32_t label = y[*first];
  std::int64_t lead = 0;
  for (const std::int64_t* member = first; member != last; ++member) {
    if (lead == 0) label = y[*member];
    lead += y[*member] == label ? 1 : -1;
  }
  const auto have = std::count_if(first, last, [&](std::int64_t v) { return y[v] == label; });
  return {label, static_cast<double>(last - first - have)};
}

bool Pairwise::anything_forbidden() const {
  const auto any = [](const double* from, std::size_t n) {
    return from != nullptr && std::find(from, from + n, kMinusInfinity) != from + n;
  };
  bool found = any(label, nodes * labels);
  for (const PairScores& s : pairs) {
    const std::size_t sites = s.count > 0 && s.step == 0 ? 1 : s.count;
    found = found || any(s.table, sites * labels * labels);
  }
  return found;
}

double Pairwise::forbidding_cost() const {
  double total = 1.0;
  for (std::size_t i = 0; i < nodes * labels; ++i) {
    if (std::isfinite(label[i])) total += std::fabs(label[i]);
  }
  for (std::size_t i = 0; i < cliques.count * labels; ++i) total += std::fabs(cliques.reward[i]);
  for (const PairScores& s : pairs) {
    if (s.count == 0) continue;
    const double times = s.step == 0 ? static_cast<double>(s.count) : 1.0;
    const std::size_t sites = s.step == 0 ? 1 : s.count;
    const double* all = s.table != nullptr ? s.table : s.strength;
    const std::size_t n = sites * (s.table != nullptr ? labels * labels : 1);
    for (std::size_t i = 0; all != nullptr && i < n; ++i) {
      if (std::isfinite(all[i])) total += times * std::fabs(all[i]);
    }
  }
  return total;
}

namespace {

// Copies report to the same recorder.
struct Recording : Unwatched {
  static constexpr bool kOn = true;
  Recorder* to;
  void operator()(const char* kind, std::vector<std::int64_t> nodes,
                  std::vector<double> values = {}) {
    (*to)(kind, std::move(nodes), std::move(values));
  }
};

template <class Network, class Watch>
void tell_network(Network& net, Watch& watch) {
  std::vector<std::int64_t> nodes, ends;
  std::vector<double> excess, capacity;
  net.for_each_node([&](std::size_t, std::size_t at) {
    nodes.push_back(static_cast<std::int64_t>(at));
    excess.push_back(net.excess(at));
  });
  net.for_each_edge([&](std::size_t, std::size_t, std::size_t, std::size_t at, std::int32_t arc) {
    ends.push_back(static_cast<std::int64_t>(at));
    ends.push_back(static_cast<std::int64_t>(net.head(at, arc)));
    capacity.push_back(net.capacity(at, arc));
    capacity.push_back(net.reverse_capacity(at, arc));
  });
  watch("nodes", std::move(nodes), std::move(excess));
  watch("edges", std::move(ends), std::move(capacity));
}

template <class Network, class Watch>
CutResult cut(Network& net, const Pairwise& m, std::vector<std::int32_t>& y, Interrupt* interrupt,
              Watch watch) {
  const double forbidden = m.anything_forbidden() ? m.forbidding_cost() : 0.0;
  const auto cost = [forbidden](double score) {
    return score == kMinusInfinity ? forbidden : -score;
  };
  net.for_each_node([&](std::size_t v, std::size_t at) {
    net.excess(at) = cost(m.label[2 * v + 1]) - cost(m.label[2 * v]);
  });
  CutResult result;
  net.for_each_edge([&](std::size_t e, std::size_t, std::size_t, std::size_t at, std::int32_t arc) {
    if (const double* strength = m.strength(e); strength != nullptr && *strength >= 0.0) {
      net.capacity(at, arc) += *strength;
      net.reverse_capacity(at, arc) += *strength;
      return;
    }
    const PairCosts c{cost(m.pair_score(e, 0, 0)), cost(m.pair_score(e, 0, 1)),
                      cost(m.pair_score(e, 1, 0)), cost(m.pair_score(e, 1, 1))};
    const double w = c.separation();
    if (w >= 0.0) {
      add_pair(net, at, arc, c, w);
    } else if (result.not_submodular < 0 || static_cast<std::int64_t>(e) < result.not_submodular) {
      result.not_submodular = static_cast<std::int64_t>(e);
    }
  });
  if (result.not_submodular >= 0) return result;
  add_cliques(net, m, [&](std::size_t c) {
    const double* reward = m.cliques.reward + 2 * c;
    const double slack = m.cliques.slack[c];
    return CliqueTerm{reward[0], reward[1], reward[0] / slack, reward[1] / slack};
  });
  if constexpr (Watch::kOn) tell_network(net, watch);
  MaxFlow<Network, Watch> flow(net, watch);
  result.complete = flow.run(interrupt);
  y.resize(m.nodes);
  net.for_each_node([&](std::size_t v, std::size_t at) { y[v] = flow.on_sink_side(at) ? 1 : 0; });
  return result;
}

}  // namespace

CutResult binary_cut(const Pairwise& m, std::vector<std::int32_t>& y, Interrupt* interrupt) {
  return with_network(m, [&](auto& net) { return cut(net, m, y, interrupt, Unwatched{}); });
}

CutResult watched_cut(const Pairwise& m, std::vector<std::int32_t>& y, Recorder& watch) {
  Recording recording;
  recording.to = &watch;
  return with_network(m, [&](auto& net) { return cut(net, m, y, nullptr, recording); });
}

}  // namespace structlearn
