// Which labels a scheme (BIO, IOBES) forbids: at the start, at the end, and after which others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace structlearn {

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

  // Replaces the scores (L, K) of the labels of L tokens by those of the best allowed sequences
  // that have them: -inf where there is none. The beginning of a chunk so speaks for the labels
  // that continue it. Returns the labels of one best allowed sequence: labels that are best by
  // these scores need not fit each other if there are several. -1 for each token if nothing is
  // forbidden or no sequence is allowed.
  std::vector<std::int32_t> spread(std::size_t L, double* score) const;

 private:
  bool at(std::size_t row, std::size_t label) const {
    const std::size_t bit = row * labels_ + label;
    return (bits_[bit / 8] >> (bit % 8) & 1) != 0;
  }

  std::span<const std::uint8_t> bits_;
  std::size_t labels_ = 0;
  // Labels that may stand after the same ones are a group: a scheme has few of them that many
  // labels may precede, so that a step costs little more than K.
  std::vector<std::uint32_t> group_;      // of each label
  std::vector<std::uint32_t> begin_{0};   // of a group's labels before it
  std::vector<std::uint32_t> preceding_;  // labels
};

}  // namespace structlearn
