#include "structures/multiclass.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "numeric/softmax.hpp"

namespace structlearn {

enum class MulticlassScratch { kProbabilities };

void Multiclass::check(const Layout& layout) const {
  const Block& label = layout.block[0];
  if (!label.present || label.outcomes == 0 || label.sites != 1) {
    throw std::invalid_argument("label must have shape (K,) with K >= 1");
  }
}

double Multiclass::argmax(const Layout& layout, const Scores& scores, Output& y, Workspace&) const {
  const std::size_t k = first_max(scores.block[0], layout.block[0].outcomes);
  y.assign(1, static_cast<std::int32_t>(k));
  return scores.block[0][k];
}

double Multiclass::infer(const Layout& layout, const Scores& scores, double eps,
                         const Marginals& out, Workspace& ws) const {
  const std::size_t K = layout.block[0].outcomes;
  return softmax(scores.block[0], K, eps,
                 out.block[0] ? out.block[0] : ws.real(MulticlassScratch::kProbabilities, K));
}

void Multiclass::encode(const Layout& layout, std::span<const std::int32_t> y,
                        std::vector<std::uint32_t>& parts) const {
  parts.push_back(static_cast<std::uint32_t>(layout.block[0].offset) +
                  static_cast<std::uint32_t>(y[0]));
}

std::vector<std::pair<double, Output>> Multiclass::kbest(const Layout& layout, const Scores& scores,
                                                         std::size_t n, Workspace&) const {
  const std::size_t K = layout.block[0].outcomes;
  const double* x = scores.block[0];
  std::vector<std::int32_t> order(K);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [x](std::int32_t a, std::int32_t b) { return x[a] > x[b]; });
  std::vector<std::pair<double, Output>> result;
  for (std::size_t i = 0; i < std::min(n, K) && x[order[i]] > kMinusInfinity; ++i) {
    result.emplace_back(x[order[i]], Output{order[i]});
  }
  return result;
}

std::vector<Output> Multiclass::sample(const Layout& layout, const Scores& scores, double eps,
                                       std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const std::size_t K = layout.block[0].outcomes;
  double* p = ws.real(MulticlassScratch::kProbabilities, K);
  if (softmax(scores.block[0], K, eps, p) == kMinusInfinity) return {};
  std::vector<Output> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i);
    result[i].assign(1, static_cast<std::int32_t>(draw(p, K, 1, random)));
  }
  return result;
}

}  // namespace structlearn
