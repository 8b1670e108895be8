#include "scoring/scorer.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "numeric/probing.hpp"

namespace structlearn {

void EntryMerger::operator()(WeightEntries& entries) {
  if (sums_.empty()) {
    add_up(entries);
    return;
  }
  std::size_t kept = 0;
  for (const auto& [q, x] : entries) sums_[q] += x;
  for (std::size_t n = 0; n < entries.size(); ++n) {
    const std::size_t q = entries[n].first;
    if (sums_[q] != 0.0) entries[kept++] = {q, sums_[q]};
    sums_[q] = 0.0;  // a repeated weight has been counted
  }
  entries.resize(kept);
}

void EntryMerger::add_up(WeightEntries& entries) {
  if (entries.size() >= kEmpty / 2) throw std::length_error("too many entries of one example");
  if (slots_.size() < 2 * entries.size()) slots_.assign(std::bit_ceil(2 * entries.size()), kEmpty);
  const std::size_t mask = slots_.size() - 1;
  // Entries move to the front, one per weight; a slot stores the index of its weight's entry.
  std::size_t found = 0;
  std::vector<std::size_t> used;
  used.reserve(entries.size());
  for (std::size_t n = 0; n < entries.size(); ++n) {
    const auto [q, x] = entries[n];
    const std::size_t slot =
        probe(q * 0x9E3779B97F4A7C15ULL >> 32, mask, [&, q = q](std::size_t at) {
          return slots_[at] == kEmpty || entries[slots_[at]].first == q;
        });
    if (slots_[slot] != kEmpty) {
      entries[slots_[slot]].second += x;
      continue;
    }
    slots_[slot] = static_cast<std::uint32_t>(found);
    used.push_back(slot);
    entries[found++] = {q, x};
  }
  for (const std::size_t slot : used) slots_[slot] = kEmpty;
  entries.resize(found);
  std::erase_if(entries, [](const auto& entry) { return entry.second == 0.0; });
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

void Scorer::scatter_growth(std::size_t example, const Layout& layout, const PartVector& v,
                            double a, double* w, std::size_t first, std::size_t last,
                            double* growth) const {
  std::fill(growth + first, growth + last, 0.0);
  if (first != 0) return;
  WeightEntries entries;
  gather(example, layout, v, entries);
  for (const auto& [q, x] : entries) {
    const double d = a * x;
    growth[0] += d * (2.0 * w[q] + d);
    w[q] += d;
  }
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
