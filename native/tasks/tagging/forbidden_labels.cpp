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

std::vector<std::int32_t> ForbiddenLabels::spread(std::size_t L, double* score) const {
  std::vector<std::int32_t> path(L, -1);
  if (empty() || L == 0) return path;
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
    double most = kMinusInfinity;  // of the sequences up to this token that the path may continue
    const auto consider = [&](std::size_t k) {
      const double upto = before[t * K + k] + here[k];
      if (upto > most) most = upto, path[t] = static_cast<std::int32_t>(k);
    };
    if (t + 1 == L) {
      for (std::size_t k = 0; k < K; ++k) {
        if (!last(k)) consider(k);
      }
    } else if (path[t + 1] >= 0) {
      const std::uint32_t g = group_[static_cast<std::size_t>(path[t + 1])];
      for (std::uint32_t i = begin_[g]; i < begin_[g + 1]; ++i) consider(preceding_[i]);
    }
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
  return path;
}

}  // namespace structlearn
