#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "structures/graphs/pairwise.hpp"

namespace structlearn {

double pseudo_likelihood(const Pairwise& m, const std::int32_t* y, double temperature, double* node,
                         double* pair) {
  const std::size_t K = m.labels;
  const auto label = [y](std::size_t v) { return static_cast<std::size_t>(y[v]); };
  std::copy(m.label, m.label + m.nodes * K, node);
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    const auto [p, q] = m.edge(e);
    for (std::size_t k = 0; k < K; ++k) {
      node[p * K + k] += m.pair_score(e, k, label(q));
      node[q * K + k] += m.pair_score(e, label(p), k);
    }
  }
  double value = m.score(y);
  for (std::size_t v = 0; v < m.nodes; ++v) {
    double* s = node + v * K;
    const double top = *std::max_element(s, s + K), gold = s[label(v)];
    double total = 0.0;
    for (std::size_t k = 0; k < K; ++k) total += s[k] = elementary::exp((s[k] - top) / temperature);
    for (std::size_t k = 0; k < K; ++k) s[k] /= total;
    value += (top - gold) + temperature * elementary::log(total);
  }
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    const auto [p, q] = m.edge(e);
    double* table = pair + e * K * K;
    for (std::size_t k = 0; k < K; ++k) {
      table[k * K + label(q)] += node[p * K + k];
      table[label(p) * K + k] += node[q * K + k];
    }
    table[label(p) * K + label(q)] -= 1.0;  // twice in the sum over nodes, once in score(y)
  }
  return value;
}

}  // namespace structlearn
