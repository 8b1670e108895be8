#include "scoring/scorer.hpp"

#include <algorithm>
#include <cstdint>

namespace structlearn {

void EntryMerger::operator()(WeightEntries& entries) {
  std::size_t kept = 0;
  if (!sums_.empty()) {
    for (const auto& [q, x] : entries) sums_[q] += x;
    for (std::size_t n = 0; n < entries.size(); ++n) {
      const std::size_t q = entries[n].first;
      if (sums_[q] != 0.0) entries[kept++] = {q, sums_[q]};
      sums_[q] = 0.0;  // a weight that comes again has been counted
    }
  } else {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t n = 0; n < entries.size();) {
      const std::size_t q = entries[n].first;
      double sum = 0.0;
      for (; n < entries.size() && entries[n].first == q; ++n) sum += entries[n].second;
      if (sum != 0.0) entries[kept++] = {q, sum};
    }
  }
  entries.resize(kept);
}

void Scorer::scatter(std::size_t example, const Layout& layout, const PartVector& v, double a,
                     double* w, double b, double* second) const {
  WeightEntries entries;
  gather(example, layout, v, entries);
  for (const auto& [q, x] : entries) {
    w[q] += a * x;
    if (second) second[q] += b * x;
  }
}

double Scorer::scatter_growth(std::size_t example, const Layout& layout, const PartVector& v,
                              double a, double* w) const {
  WeightEntries entries;
  gather(example, layout, v, entries);
  double growth = 0.0;
  for (const auto& [q, x] : entries) {
    const double d = a * x;
    growth += d * (2.0 * w[q] + d);
    w[q] += d;
  }
  return growth;
}

double Scorer::dot(std::size_t example, const Layout& layout, const PartVector& v,
                   const double* w) const {
  WeightEntries entries;
  gather(example, layout, v, entries);
  double sum = 0.0;
  for (const auto& [q, x] : entries) sum += w[q] * x;
  return sum;
}

void Scorer::clear(std::size_t example, const Layout& layout, const PartVector& v,
                   double* w) const {
  WeightEntries entries;
  gather(example, layout, v, entries);
  for (const auto& entry : entries) w[entry.first] = 0.0;
}

void Scorer::rows(std::size_t example, const Layout& layout,
                  std::vector<std::pair<std::size_t, std::size_t>>& ranges) const {
  PartVector all;
  all.dense = true;
  all.value.assign(layout.parts, 1.0);
  WeightEntries entries;
  gather(example, layout, all, entries);
  for (const auto& entry : entries) ranges.emplace_back(entry.first, 1);
}

double Scorer::squared_norm(std::size_t example, const Layout& layout, const PartVector& v) const {
  WeightEntries entries;
  gather(example, layout, v, entries);
  EntryMerger(SIZE_MAX)(entries);
  double sum = 0.0;
  for (const auto& entry : entries) sum += entry.second * entry.second;
  return sum;
}

}  // namespace structlearn
