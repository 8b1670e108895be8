// Each node appears twice, as itself and negated: every pair can then be represented by a cut, and
// where a node and its negation disagree, as they should, the label is that of a best output.
#include <vector>

#include "structures/graphs/cuts.hpp"

namespace structlearn {

double roof_dual(const Pairwise& m, std::vector<std::int32_t>& y, Interrupt* interrupt) {
  const double forbidden = m.forbidding_cost();
  const auto cost = [forbidden](double score) {
    return score == kMinusInfinity ? forbidden : -score;
  };
  const std::size_t N = m.nodes, E = m.n_edges;
  const auto pair_costs = [&](std::size_t e) {
    return PairCosts{cost(m.pair_score(e, 0, 0)), cost(m.pair_score(e, 0, 1)),
                     cost(m.pair_score(e, 1, 0)), cost(m.pair_score(e, 1, 1))};
  };
  // A node's negation is N further. Edge e has the twin E + e; if a cut cannot represent the pair,
  // each joins a node with the other's negation.
  std::vector<std::int64_t> ends(4 * E);
  std::vector<bool> crossed(E);
  for (std::size_t e = 0; e < E; ++e) {
    const auto [p, q] = m.edge(e);
    crossed[e] = pair_costs(e).separation() < 0.0;
    const std::size_t turn = crossed[e] ? N : 0;
    ends[2 * e] = static_cast<std::int64_t>(p);
    ends[2 * e + 1] = static_cast<std::int64_t>(q + turn);
    ends[2 * (E + e)] = static_cast<std::int64_t>(p + N);
    ends[2 * (E + e) + 1] = static_cast<std::int64_t>(q + N - turn);
  }
  // The costs of an edge or of its twin, in the choices of the nodes that it joins.
  const auto costs_of = [&](std::size_t i) {
    const bool twin = i >= E;
    const PairCosts c = pair_costs(twin ? i - E : i);
    if (!crossed[twin ? i - E : i]) {
      return twin ? PairCosts{c.same1, c.down, c.up, c.same0} : c;
    }
    return twin ? PairCosts{c.down, c.same1, c.same0, c.up}
                : PairCosts{c.up, c.same0, c.same1, c.down};
  };
  SparseNetwork net(2 * N, ends.data(), 2 * E);
  for (std::size_t v = 0; v < N; ++v) {
    const double gain = cost(m.label[2 * v + 1]) - cost(m.label[2 * v]);
    net.excess(v) = gain;
    net.excess(v + N) = -gain;
  }
  net.for_each_edge([&](std::size_t i, std::size_t, std::size_t, std::size_t at, std::int32_t arc) {
    const PairCosts c = costs_of(i);
    add_pair(net, at, arc, c, c.separation());
  });
  MaxFlow<SparseNetwork> flow(net);
  y.assign(N, -1);
  if (!flow.run(interrupt)) return 0.0;
  double total = 0.0;
  for (std::size_t v = 0; v < N; ++v) {
    const bool one = flow.on_sink_side(v), negated = flow.on_sink_side(v + N);
    if (one != negated) y[v] = one ? 1 : 0;
    total += cost(m.label[2 * v + one]) + cost(m.label[2 * v + !negated]);
  }
  for (std::size_t i = 0; i < 2 * E; ++i) {
    const PairCosts c = costs_of(i);
    const bool a = flow.on_sink_side(static_cast<std::size_t>(ends[2 * i]));
    const bool b = flow.on_sink_side(static_cast<std::size_t>(ends[2 * i + 1]));
    total += a ? (b ? c.same1 : c.down) : (b ? c.up : c.same0);
  }
  return -0.5 * total;
}

}  // namespace structlearn
