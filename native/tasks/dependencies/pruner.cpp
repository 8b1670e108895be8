#include "tasks/dependencies/pruner.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"

namespace structlearn::parsing {

template <class Real>
void HeadScorer<Real>::score(const Sentence& s, int m, double scale, double* out) {
  keys_.clear();
  end_.clear();
  const int n = s.size();
  keys_.reserve(kPrunerFeatures * (static_cast<std::size_t>(n) + 1));
  for (int h = 0; h <= n; ++h) {
    if (h != m) {
      pruner_features(s, h, m, [&](std::uint64_t key) {
        table_.prefetch(key);
        keys_.push_back(key);
      });
    }
    end_.push_back(keys_.size());
  }
  std::size_t j = 0;
  for (int h = 0; h <= n; ++h) {
    if (h == m) {
      out[h] = kMinusInfinity;
      continue;
    }
    const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
    Real sum = 0;
    for (; j < end_[static_cast<std::size_t>(h)]; ++j) {
      const Real* line = table_.weight + table_.line(keys_[j]);
      sum += line[place(keys_[j], dd)] + line[place(keys_[j], d)];
    }
    out[h] = scale * static_cast<double>(sum);
  }
}

template class HeadScorer<float>;
template class HeadScorer<double>;

void Pruner::prune(const Sentence& s, Candidates& out, std::span<const std::int32_t> gold) {
  const int n = s.size();
  const auto width = static_cast<std::size_t>(n + 1);
  score_.resize(width * width);
  for (TreeSearch& tree : trees_) tree.begin(n);
  for (int m = 1; m <= n; ++m) {
    double* row = score_.data() + static_cast<std::size_t>(m) * width;
    heads_.score(s, m, 1.0, row);
    for (TreeSearch& tree : trees_) {
      for (int h = 0; h <= n; ++h) {
        if (h != m) tree.at(h, m) = row[h];
      }
    }
  }
  for (std::size_t k = 0; k < trees_.size(); ++k) trees_[k].best(best_[k]);
  out.begin.assign(2, 0);
  out.head.clear();
  const double margin =
      elementary::log(options_.least);  // scores are log-probabilities and a constant
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m);
    const double* row = score_.data() + i * width;
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
    for (const auto& tree : best_) out.head.push_back(static_cast<std::uint16_t>(tree[i]));
    if (!gold.empty()) out.head.push_back(static_cast<std::uint16_t>(gold[i]));
    const auto from = out.head.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(from, out.head.end());
    out.head.erase(std::unique(from, out.head.end()), out.head.end());
    out.begin.push_back(static_cast<std::uint32_t>(out.head.size()));
  }
}

}  // namespace structlearn::parsing
