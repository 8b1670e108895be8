#include "tasks/tagging/forbidden_labels.hpp"

#include <algorithm>
#include <stdexcept>

#include "structures/structure.hpp"

namespace structlearn {

ForbiddenLabels::ForbiddenLabels(std::span<const std::uint8_t> bits, std::size_t labels)
    : bits_(bits), labels_(labels) {
  if (!bits.empty() && bits.size() != ((labels + 2) * labels + 7) / 8) {
    throw std::invalid_argument("the table of forbidden labels has the wrong size");
  }
}

bool ForbiddenLabels::has_path(const Candidate* candidates, std::size_t L, std::size_t width,
                               const double* score) const {
  std::vector<std::uint8_t> before, here(width);
  for (std::size_t t = 0; t < L; ++t) {
    const Candidate* c = candidates + t * width;
    bool any = false;
    for (std::size_t b = 0; b < width; ++b) {
      bool open = t == 0 ? !first(c[b]) : false;
      for (std::size_t a = 0; a < width && t > 0 && !open; ++a) {
        open = before[a] && !after((c - width)[a], c[b]);
      }
      here[b] = open && score[t * labels_ + c[b]] != kMinusInfinity &&
                !(t + 1 == L && last(c[b]));
      any |= here[b] != 0;
    }
    if (!any) return false;
    before = here;
  }
  return true;
}

std::vector<Candidate> ForbiddenLabels::best_path(const double* score, std::size_t L) const {
  const std::size_t K = labels_;
  std::vector<double> before(K), here(K);
  std::vector<Candidate> from(L * K);
  for (std::size_t k = 0; k < K; ++k) here[k] = first(k) ? kMinusInfinity : score[k];
  for (std::size_t t = 1; t < L; ++t) {
    std::swap(before, here);
    std::fill(here.begin(), here.end(), kMinusInfinity);
    for (std::size_t a = 0; a < K; ++a) {
      if (before[a] == kMinusInfinity) continue;
      for (std::size_t k = 0; k < K; ++k) {
        if (before[a] <= here[k] || after(a, k)) continue;
        here[k] = before[a];
        from[t * K + k] = static_cast<Candidate>(a);
      }
    }
    for (std::size_t k = 0; k < K; ++k) here[k] += score[t * K + k];
  }
  std::size_t best = K;
  for (std::size_t k = 0; k < K; ++k) {
    if (last(k) || here[k] == kMinusInfinity) continue;
    if (best == K || here[k] > here[best]) best = k;
  }
  std::vector<Candidate> path;
  if (best == K) return path;
  path.assign(L, 0);
  for (std::size_t t = L; t-- > 0;) {
    path[t] = static_cast<Candidate>(best);
    best = from[t * K + best];
  }
  return path;
}

}  // namespace structlearn
