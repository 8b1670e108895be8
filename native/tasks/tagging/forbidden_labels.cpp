#include "tasks/tagging/forbidden_labels.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "structures/structure.hpp"

namespace structlearn {

ForbiddenLabels::ForbiddenLabels(std::span<const std::uint8_t> bits, std::size_t labels)
    : bits_(bits), labels_(labels) {
  if (bits.empty()) return;
  if (bits.size() != ((labels + 2) * labels + 7) / 8) {
    throw std::invalid_argument("the table of forbidden labels has the wrong size");
  }
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups;
  std::vector<std::uint32_t> allowed;
  for (std::size_t k = 0; k < labels; ++k) {
    allowed.clear();
    for (std::size_t a = 0; a < labels; ++a) {
      if (!after(a, k)) allowed.push_back(static_cast<std::uint32_t>(a));
    }
    const auto [found, is_new] =
        groups.try_emplace(allowed, static_cast<std::uint32_t>(groups.size()));
    group_.push_back(found->second);
    if (!is_new) continue;
    preceding_.insert(preceding_.end(), allowed.begin(), allowed.end());
    begin_.push_back(static_cast<std::uint32_t>(preceding_.size()));
  }
}

void ForbiddenLabels::spread(std::size_t L, double* score) const {
  if (empty() || L == 0) return;
  const std::size_t K = labels_, groups = begin_.size() - 1;
  // Of the best sequences up to each label, without its own score, and of those after it.
  std::vector<double> before(L * K), after(K, 0.0), best(groups);
  for (std::size_t k = 0; k < K; ++k) before[k] = first(k) ? kMinusInfinity : 0.0;
  for (std::size_t t = 1; t < L; ++t) {
    const double* from = before.data() + (t - 1) * K;
    for (std::size_t g = 0; g < groups; ++g) {
      best[g] = kMinusInfinity;
      for (std::uint32_t i = begin_[g]; i < begin_[g + 1]; ++i) {
        const std::uint32_t a = preceding_[i];
        best[g] = std::max(best[g], from[a] + score[(t - 1) * K + a]);
      }
    }
    for (std::size_t k = 0; k < K; ++k) before[t * K + k] = best[group_[k]];
  }
  for (std::size_t k = 0; k < K; ++k) after[k] = last(k) ? kMinusInfinity : 0.0;
  for (std::size_t t = L; t-- > 0;) {
    double* here = score + t * K;
    std::fill(best.begin(), best.end(), kMinusInfinity);
    for (std::size_t k = 0; k < K; ++k) {
      const double onwards = here[k] + after[k];
      best[group_[k]] = std::max(best[group_[k]], onwards);
      here[k] = before[t * K + k] + onwards;
    }
    std::fill(after.begin(), after.end(), kMinusInfinity);
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::uint32_t i = begin_[g]; i < begin_[g + 1]; ++i) {
        after[preceding_[i]] = std::max(after[preceding_[i]], best[g]);
      }
    }
  }
}

}  // namespace structlearn
