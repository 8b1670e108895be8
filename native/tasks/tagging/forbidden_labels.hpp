// Which labels a scheme (BIO, IOBES) forbids: at the start, at the end, and after which others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace structlearn {

using Candidate = std::uint16_t;

class ForbiddenLabels {
 public:
  ForbiddenLabels() = default;
  // Bits, the lowest of each byte first: K rows of K for what follows each label, then a row for
  // the first label and one for the last. Empty: nothing is forbidden. Borrowed.
  ForbiddenLabels(std::span<const std::uint8_t> bits, std::size_t labels);

  bool empty() const { return bits_.empty(); }
  bool after(std::size_t before, std::size_t label) const { return at(before, label); }
  bool first(std::size_t label) const { return !empty() && at(labels_, label); }
  bool last(std::size_t label) const { return !empty() && at(labels_ + 1, label); }

  // Whether `width` candidates of each of L tokens have a sequence that is allowed. `score` (L, K)
  // is -inf for labels that are ruled out besides.
  bool has_path(const Candidate* candidates, std::size_t L, std::size_t width,
                const double* score) const;
  // The allowed sequence of all labels with the largest sum of scores (L, K); empty: there is none.
  std::vector<Candidate> best_path(const double* score, std::size_t L) const;

 private:
  bool at(std::size_t row, std::size_t label) const {
    const std::size_t bit = row * labels_ + label;
    return (bits_[bit / 8] >> (bit % 8) & 1) != 0;
  }

  std::span<const std::uint8_t> bits_;
  std::size_t labels_ = 0;
};

}  // namespace structlearn
