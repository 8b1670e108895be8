#include "tasks/dependencies/pruner.hpp"

#include <algorithm>
#include <cmath>

#include "tasks/dependencies/features.hpp"

namespace structlearn::parsing {

void Pruner::score(const Sentence& s, int m, double* out) {
  keys_.clear();
  end_.clear();
  const int n = s.size();
  for (int h = 0; h <= n; ++h) {
    if (h != m) {
      pruner_features(s, h, m, [&](std::uint64_t key) {
        table_.prefetch(key);
        keys_.push_back(key);
      });
    }
    end_.push_back(static_cast<std::uint32_t>(keys_.size()));
  }
  double most = kMinusInfinity;
  std::size_t j = 0;
  for (int h = 0; h <= n; ++h) {
    if (h == m) {
      out[h] = kMinusInfinity;
      continue;
    }
    const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
    float sum = 0.0f;
    for (; j < end_[static_cast<std::size_t>(h)]; ++j) {
      const float* line = table_.weight + table_.line(keys_[j]);
      sum += line[place(keys_[j], dd)] + line[place(keys_[j], d)];
    }
    out[h] = static_cast<double>(sum);
    most = std::max(most, out[h]);
  }
  double total = 0.0;
  for (int h = 0; h <= n; ++h) total += std::exp(out[h] - most);
  const double log_total = most + std::log(total);
  for (int h = 0; h <= n; ++h) out[h] -= log_total;
}

void Pruner::prune(const Sentence& s, Candidates& out, std::span<const std::int32_t> gold) {
  const int n = s.size();
  const auto width = static_cast<std::size_t>(n + 1);
  log_p_.resize(width * width);
  tree_.begin(n);
  for (int m = 1; m <= n; ++m) {
    double* row = log_p_.data() + static_cast<std::size_t>(m) * width;
    score(s, m, row);
    for (int h = 0; h <= n; ++h) {
      if (h != m) tree_.at(h, m) = row[h];
    }
  }
  tree_.best(best_);
  out.begin.assign(2, 0);
  out.head.clear();
  const double margin = std::log(options_.least);
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m);
    const double* row = log_p_.data() + i * width;
    ranked_.clear();
    double most = kMinusInfinity;
    for (int h = 0; h <= n; ++h) most = std::max(most, row[h]);
    for (int h = 0; h <= n; ++h) {
      if (h != m && row[h] >= most + margin) ranked_.emplace_back(-row[h], h);
    }
    if (ranked_.size() > options_.most) {
      std::nth_element(ranked_.begin(), ranked_.begin() + options_.most, ranked_.end());
      ranked_.resize(options_.most);
    }
    const std::size_t first = out.head.size();
    for (const auto& [minus, h] : ranked_) out.head.push_back(static_cast<std::uint16_t>(h));
    out.head.push_back(static_cast<std::uint16_t>(best_[i]));
    if (!gold.empty()) out.head.push_back(static_cast<std::uint16_t>(gold[i]));
    const auto from = out.head.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(from, out.head.end());
    out.head.erase(std::unique(from, out.head.end()), out.head.end());
    out.begin.push_back(static_cast<std::uint32_t>(out.head.size()));
  }
}

bool learn_pruner(std::span<const Sentence> sentences,
                  std::span<const std::vector<std::int32_t>> heads,
                  std::span<const std::uint32_t> order, std::span<float> weight,
                  std::span<float> squares, double rate, Interrupt& interrupt) {
  constexpr double kSmall = 1e-3;  // a gradient that is not worth a step
  const Table table{weight.data(), weight.size() / kLine - 1};
  Pruner pruner(table, {}, false);
  std::vector<double> p;
  for (const std::uint32_t i : order) {
    if (interrupt.requested()) return false;
    const Sentence& s = sentences[i];
    const int n = s.size();
    p.resize(static_cast<std::size_t>(n) + 1);
    for (int m = 1; m <= n; ++m) {
      pruner.score(s, m, p.data());
      for (int h = 0; h <= n; ++h) {
        if (h == m) continue;
        const double g = std::exp(p[static_cast<std::size_t>(h)]) -
                         (heads[i][static_cast<std::size_t>(m)] == h ? 1.0 : 0.0);
        if (std::abs(g) < kSmall) continue;
        const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
        const auto step = [&](std::uint32_t at) {
          squares[at] += static_cast<float>(g * g);
          weight[at] -= static_cast<float>(rate * g / std::sqrt(static_cast<double>(squares[at])));
        };
        pruner_features(s, h, m, [&](std::uint64_t key) {
          step(table.line(key) + place(key, dd));
          step(table.line(key) + place(key, d));
        });
      }
    }
  }
  return true;
}

}  // namespace structlearn::parsing
