#include "structures/graphs/standard_pairwise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace structlearn {
namespace {

// Rounding of a bound and of a value, in units of the last place of the terms' magnitudes.
constexpr double kUlps = 16.0;

double rounding(double size) {
  return kUlps * std::numeric_limits<double>::epsilon() * size;
}

double magnitude(double score) {
  return score == kMinusInfinity ? 0.0 : std::fabs(score);
}

double largest_score(const double* from, std::size_t n) {
  double most = 0.0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, magnitude(from[i]));
  return most;
}

// The power of two that scales a number to lie from 1 to below 2.
double power_of_two(double x) {
  if (!(x > 0.0 && std::isfinite(x))) return 1.0;
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::clamp(1 - exponent, -1000, 1000));
}

// Compensated sums (Neumaier 1974).
class CarefulSum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    rest_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0.0, rest_ = 0.0;
};

// Subtracts the largest score from each row of n; 0 if all are forbidden.
void take_offsets(std::vector<double>& scores, std::size_t n, double times, CarefulSum& offset) {
  for (std::size_t at = 0; n > 0 && at < scores.size(); at += n) {
    double* row = scores.data() + at;
    const double top = *std::max_element(row, row + n);
    if (!std::isfinite(top)) continue;
    for (std::size_t k = 0; k < n; ++k) row[k] -= top;
    offset.add(times * top);
  }
}

// The number of separate rows of a group of edges, and the number of edges that share each.
std::size_t rows_of(const PairScores& s) {
  return s.count > 0 && s.step == 0 ? 1 : s.count;
}
double times_of(const PairScores& s) {
  return s.step == 0 ? static_cast<double>(s.count) : 1.0;
}

}  // namespace

StandardPairwise::StandardPairwise(const Pairwise& given) : model_(given) {
  const std::size_t K = given.labels;
  CarefulSum offset;
  label_.assign(given.label, given.label + given.nodes * K);
  take_offsets(label_, K, 1.0, offset);
  double most = largest_score(label_.data(), label_.size());
  for (std::size_t g = 0; g < given.pairs.size(); ++g) {
    const PairScores& s = given.pairs[g];
    const double* from = s.table != nullptr ? s.table : s.strength;
    if (from == nullptr) continue;
    pairs_[g].assign(from, from + rows_of(s) * (s.table != nullptr ? K * K : 1));
    if (s.table != nullptr) take_offsets(pairs_[g], K * K, times_of(s), offset);
    most = std::max(most, largest_score(pairs_[g].data(), pairs_[g].size()));
  }
  if (given.cliques.count > 0) {
    reward_.assign(given.cliques.reward, given.cliques.reward + given.cliques.count * K);
    most = std::max(most, largest_score(reward_.data(), reward_.size()));
  }
  offset_ = offset.value();
  scale_ = power_of_two(most);
  for (std::vector<double>* all : {&label_, &reward_, &pairs_[0], &pairs_[1]}) {
    for (double& x : *all) x *= scale_;
  }
  model_.label = label_.data();
  model_.cliques.reward = reward_.data();
  for (std::size_t g = 0; g < model_.pairs.size(); ++g) {
    PairScores& s = model_.pairs[g];
    if (s.table != nullptr) s.table = pairs_[g].data();
    if (s.strength != nullptr) s.strength = pairs_[g].data();
  }
}

double StandardPairwise::trivial_bound() const {
  double bound = 0.0;
  for (const PairScores& s : model_.pairs) {
    if (s.strength == nullptr) continue;
    for (std::size_t i = 0; i < rows_of(s); ++i) {
      bound += times_of(s) * std::max(0.0, -s.strength[i * s.step]);  // for strengths below 0
    }
  }
  for (std::size_t c = 0; c < model_.cliques.count; ++c) {
    const double* row = reward_.data() + c * model_.labels;
    bound += std::max(0.0, *std::max_element(row, row + model_.labels));
  }
  return bound;
}

double StandardPairwise::size(double most) const {
  const std::size_t K = model_.labels;
  double total = 0.0;
  for (std::size_t v = 0; v < model_.nodes; ++v) {
    total += std::min(most, largest_score(label_.data() + v * K, K));
  }
  for (const PairScores& s : model_.pairs) {
    const double* from = s.table != nullptr ? s.table : s.strength;
    const std::size_t n = s.table != nullptr ? K * K : 1;
    for (std::size_t i = 0; from != nullptr && i < rows_of(s); ++i) {
      total += times_of(s) * std::min(most, largest_score(from + i * n, n));
    }
  }
  for (std::size_t c = 0; c < model_.cliques.count; ++c) {
    total += std::min(most, largest_score(reward_.data() + c * K, K));
  }
  return total;
}

double StandardPairwise::given_bound(double value, double bound, double given_value) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (bound == kInfinity) return bound;  // none was requested
  const double trivial = trivial_bound();
  bound = std::min(bound, trivial);
  if (bound <= value) return given_value;
  const double terms = std::fabs(value) + size(std::max(trivial - value, 0.0));
  if (bound - value <= rounding(terms)) return given_value;
  const double gap = (bound - value + rounding(terms)) / scale_;
  return std::nextafter(given_value + gap, kInfinity);
}

}  // namespace structlearn
