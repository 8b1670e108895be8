#include "tasks/words/likely.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace structlearn::words {
namespace {

double log_sum(double a, double b) {
  const double most = std::max(a, b);
  if (most == kMinusInfinity) return most;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

void likely_words(WordReader& reader, const TextLine& line, std::size_t input, double temperature,
                  double least, std::size_t most, std::vector<LikelyWord>& out) {
  const Scored& scored = reader.scores(input, Purpose::kSums);
  const std::size_t n = line.points.size();
  const double* label = scored.scores.block[Chain::kLabel];
  const double* pair = scored.scores.block[Chain::transition(1)];
  const auto node = [&](std::size_t i, std::size_t k) { return label[2 * i + k] / temperature; };
  const auto edge = [&](std::size_t a, std::size_t b) { return pair[2 * a + b] / temperature; };
  // The logarithms of the sums over what comes before a label, with it, and of what comes behind.
  std::vector<std::array<double, 2>> before(n), behind(n);
  before[0] = {node(0, 0), node(0, 1)};
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      before[i][k] =
          node(i, k) + log_sum(before[i - 1][0] + edge(0, k), before[i - 1][1] + edge(1, k));
    }
  }
  behind[n - 1] = {0.0, 0.0};
  for (std::size_t i = n - 1; i-- > 0;) {
    for (std::size_t k = 0; k < 2; ++k) {
      behind[i][k] = log_sum(edge(k, 0) + node(i + 1, 0) + behind[i + 1][0],
                             edge(k, 1) + node(i + 1, 1) + behind[i + 1][1]);
    }
  }
  const double all = log_sum(before[n - 1][0], before[n - 1][1]);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = before[i][0] - all;
    for (std::size_t end = i + 1; end <= std::min(n, i + most); ++end) {
      const std::size_t last = end == i + 1 ? 0 : 1;
      if (last == 1) sum += edge(end == i + 2 ? 0 : 1, 1) + node(end - 1, 1);
      if (sum == kMinusInfinity) break;
      const double rest = end == n ? 0.0 : edge(last, 0) + node(end, 0) + behind[end][0];
      const double p = std::min(1.0, std::exp(sum + rest));
      if (p >= least) out.push_back({line.place[i], line.place[end - 1] + 1, p});
    }
  }
}

}  // namespace structlearn::words
