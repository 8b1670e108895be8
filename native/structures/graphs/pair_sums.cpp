#include "structures/graphs/pair_sums.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/softmax.hpp"

namespace structlearn {
namespace {

// If no pair is scored, labels are independent.
void independent_sums(const Pairwise& m, double temperature, PairSums& sums) {
  const std::size_t K = m.labels;
  sums.node.assign(m.label, m.label + m.nodes * K);
  sums.value = sums.entropy = 0.0;
  for (std::size_t v = 0; v < m.nodes; ++v) {
    double entropy;
    sums.value += softmax_with_entropy(sums.node.data() + v * K, K, temperature, &entropy);
    sums.entropy += entropy;
    if (sums.value == kMinusInfinity) return;
  }
  sums.pair.resize(m.n_edges * K * K);
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    const auto [p, q] = m.edge(e);
    double* table = sums.pair.data() + e * K * K;
    for (std::size_t a = 0; a < K; ++a) {
      for (std::size_t b = 0; b < K; ++b) {
        table[a * K + b] = sums.node[p * K + a] * sums.node[q * K + b];
      }
    }
  }
}

double entropy(const double* p, std::size_t n) {
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (p[i] > 0.0) total -= p[i] * elementary::log(p[i]);
  }
  return total;
}

}  // namespace

std::vector<double> all_tables(const Pairwise& m) {
  const std::size_t K = m.labels;
  std::vector<double> tables(m.n_edges * K * K);
  double* to = tables.data();
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    for (std::size_t a = 0; a < K; ++a) {
      for (std::size_t b = 0; b < K; ++b) *to++ = m.pair_score(e, a, b);
    }
  }
  return tables;
}

bool exact_sums(const Pairwise& m, double temperature, EliminationPlans& plans, PairSums& sums) {
  if (m.cliques.count > 0) return false;
  if (const auto plan = plans.find(m)) {
    const std::size_t K = m.labels;
    sums.node.assign(m.nodes * K, 0.0);
    sums.pair.assign(m.n_edges * K * K, 0.0);
    sums.value = plan->sums(m.label, all_tables(m).data(), temperature, sums.node.data(),
                            sums.pair.data(), &sums.entropy);
    return true;
  }
  if (m.has_pairs()) return false;
  independent_sums(m, temperature, sums);
  return true;
}

bool loopy_sums(const Pairwise& m, double temperature, double damping, PairSums& sums,
                Interrupt* interrupt) {
  if (!m.has_pairs()) {
    independent_sums(m, temperature, sums);
    return true;
  }
  const std::size_t K = m.labels;
  sums.node.assign(m.nodes * K, 0.0);
  sums.pair.assign(m.n_edges * K * K, 0.0);
  std::vector<std::int32_t> y;
  const MessageResult r = pass_messages(m, {temperature, false, damping, 500, 1e-9}, y,
                                        sums.node.data(), sums.pair.data(), interrupt);
  if (!r.complete) return false;
  std::vector<double> more(m.nodes, -1.0);  // edges minus one
  double mean = 0.0, total = 0.0;
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    for (const std::size_t v : m.edge(e)) more[v] += 1.0;
    const double* b = sums.pair.data() + e * K * K;
    for (std::size_t i = 0; i < K * K; ++i) {
      if (b[i] > 0.0) mean += b[i] * m.pair_score(e, i / K, i % K);
    }
    total += entropy(b, K * K);
  }
  for (std::size_t v = 0; v < m.nodes; ++v) {
    const double* b = sums.node.data() + v * K;
    for (std::size_t k = 0; k < K; ++k) {
      if (b[k] > 0.0) mean += b[k] * m.node_score(v, k);
    }
    total -= more[v] * entropy(b, K);
  }
  sums.value = mean + temperature * total;
  sums.entropy = std::max(0.0, total);
  return true;
}

}  // namespace structlearn
