// Weights of hashed features, sixteen to a line.
//
// A key names a line; what goes with it (direction and distance, or a label) names a place in the
// line. One read from memory so serves a feature with and without its distance, or sixteen labels.
// Keys that fall on the same line share it: with hashed features learning copes with that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "text/hash.hpp"

namespace structlearn::parsing {

inline constexpr std::uint32_t kLine = 16;

// Where the line of a key begins, in a table of a power of two of weights.
struct Lines {
  std::uint64_t mask = 0;  // lines - 1
  explicit Lines(std::size_t weights) : mask(weights / kLine - 1) {}

  std::uint32_t line(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key & mask) * kLine;
  }
};

// A line of floats is a line of the cache where the table begins at one.
template <class Real>
struct Table : Lines {
  const Real* weight = nullptr;
  Table(const Real* w, std::size_t weights) : Lines(weights), weight(w) {}

  void prefetch(std::uint64_t key) const {
    const Real* at = weight + line(key);
    __builtin_prefetch(at);
    if constexpr (sizeof(Real) > 4) __builtin_prefetch(at + kLine / 2);
  }
};

// A place in a line; turned by bits of the key, so that no place is fuller than others.
inline std::uint32_t place(std::uint64_t key, std::uint32_t which) {
  return (which ^ static_cast<std::uint32_t>(key >> 60)) & (kLine - 1);
}
// The place of a direction alone, beside the fourteen of direction and distance.
inline std::uint32_t direction_place(bool rightward) {
  return rightward ? 14 : 15;
}
// The line of a group of sixteen labels.
inline std::uint64_t group_key(std::uint64_t key, std::uint32_t group) {
  return key + group * 0x9E3779B97F4A7C15ULL;
}

// Keys of several parts, collected so that memory is asked for long before it is read: a line takes
// as long to come as the keys of some parts to make. Part is what the reader needs to know of one.
template <class Real, class Part>
class KeyQueue {
 public:
  explicit KeyQueue(Table<Real> table) : table_(table), key_(new std::uint64_t[kEnough + kMost]) {}
  void operator()(std::uint64_t key) {
    table_.prefetch(key);
    key_[size_++] = key;
  }
  // Ends a part. Once there are enough, calls read(part, keys) for each.
  template <class Read>
  void end(const Part& part, Read&& read) {
    part_[parts_] = part;
    end_[parts_++] = size_;
    if (size_ >= kEnough || parts_ == kParts) flush(read);
  }
  template <class Read>
  void flush(Read&& read) {
    std::size_t begin = 0;
    for (std::size_t p = 0; p < parts_; begin = end_[p++]) {
      read(part_[p], std::span<const std::uint64_t>(key_.get() + begin, end_[p] - begin));
    }
    size_ = parts_ = 0;
  }

 private:
  // No part has more than kMost: some hundred templates, one key for each kind of tag between two
  // words, and a key a group of labels.
  static constexpr std::size_t kMost = 8192, kEnough = 256, kParts = 64;
  Table<Real> table_;
  std::unique_ptr<std::uint64_t[]> key_;  // not set to 0: a scorer is made for each sentence
  std::size_t size_ = 0, parts_ = 0;
  std::size_t end_[kParts];
  Part part_[kParts];
};

}  // namespace structlearn::parsing
