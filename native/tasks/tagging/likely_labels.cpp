#include "tasks/tagging/likely_labels.hpp"

#include <algorithm>
#include <cmath>

#include "structures/chains/shared_table.hpp"

namespace structlearn::text {
namespace {

std::vector<double> exponentials_of(std::span<const double> scores, double temperature) {
  std::vector<double> out(scores.size());
  if (!scores.empty()) exponentials(scores.data(), scores.size(), temperature, out.data());
  return out;
}

// Makes weights add up to one; false: they are all 0.
bool normalise(double* x, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  if (!(sum > 0.0)) return false;
  kernels().scale(1.0 / sum, x, n);
  return true;
}

void multiply(double* x, const double* by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= by[i];
}

}  // namespace

LikelyLabels::LikelyLabels(std::span<const double> start, std::span<const double> transition,
                           std::span<const double> end, double temperature)
    : labels_(static_cast<std::size_t>(std::lround(std::sqrt(transition.size())))),
      temperature_(temperature),
      start_(exponentials_of(start, temperature)),
      end_(exponentials_of(end, temperature)),
      from_(exponentials_of(transition, temperature)),
      into_(from_.size()) {
  for (std::size_t j = 0; j < labels_; ++j) {
    for (std::size_t k = 0; k < labels_; ++k) into_[k * labels_ + j] = from_[j * labels_ + k];
  }
}

void LikelyLabels::choose(const double* weight, Scratch& s) const {
  const double least = kLeastShare * kernels().largest(weight, labels_);
  s.order.clear();
  for (std::size_t k = 0; k < labels_; ++k) {
    if (weight[k] > 0.0 && weight[k] >= least) s.order.push_back(k);
  }
  if (s.order.size() > kMost) {
    std::nth_element(s.order.begin(), s.order.begin() + kMost, s.order.end(),
                     [&](std::size_t a, std::size_t b) {
                       return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
                     });
    s.order.resize(kMost);
    std::sort(s.order.begin(), s.order.end());
  }
  s.kept.insert(s.kept.end(), s.order.begin(), s.order.end());
  s.kept_end.push_back(s.kept.size());
}

bool LikelyLabels::probabilities(const double* theta, std::size_t L, Scratch& s,
                                 std::vector<double>& p) const {
  const std::size_t K = labels_;
  s.node.resize(L * K);
  p.assign(L * K, 0.0);
  s.kept.clear();
  s.kept_end.clear();
  for (std::size_t t = 0; t < L; ++t) {
    double *node = s.node.data() + t * K, *alpha = p.data() + t * K;
    exponentials(theta + t * K, K, temperature_, node);
    if (t == 0) {
      std::copy(node, node + K, alpha);
      if (!start_.empty()) multiply(alpha, start_.data(), K);
    } else {
      for (std::size_t i = t > 1 ? s.kept_end[t - 2] : 0; i < s.kept_end[t - 1]; ++i) {
        const std::size_t j = s.kept[i];
        kernels().add_scaled((alpha - K)[j], from_.data() + j * K, alpha, K);
      }
      multiply(alpha, node, K);
    }
    if (!normalise(alpha, K)) return false;
    choose(alpha, s);
  }
  s.beta.assign(K, 1.0);
  if (!end_.empty()) s.beta = end_;
  for (std::size_t t = L; t-- > 0;) {
    double* alpha = p.data() + t * K;
    multiply(alpha, s.beta.data(), K);
    if (!normalise(alpha, K)) return false;
    if (t == 0) break;
    const double* node = s.node.data() + t * K;
    s.into.assign(K, 0.0);
    for (std::size_t i = s.kept_end[t - 1]; i < s.kept_end[t]; ++i) {
      const std::size_t j = s.kept[i];
      kernels().add_scaled(node[j] * s.beta[j], into_.data() + j * K, s.into.data(), K);
    }
    std::swap(s.beta, s.into);
    const double top = kernels().largest(s.beta.data(), K);
    if (!(top > 0.0)) return false;
    kernels().scale(1.0 / top, s.beta.data(), K);
  }
  return true;
}

}  // namespace structlearn::text
