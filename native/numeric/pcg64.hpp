// NumPy's default generator: a SeedSequence that seeds PCG64, and permutations as its Generator
// makes them. Orders of examples are then those of numpy.random.default_rng(seed), without NumPy.
//
// M. O'Neill (2014), PCG: a family of simple fast space-efficient statistically good algorithms for
// random number generation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace structlearn {

class Pcg64 {
 public:
  // 32 bits of a number that was drawn and not used yet are part of the state.
  struct State {
    std::uint64_t high, low;                      // of the last number
    std::uint64_t increment_high, increment_low;  // of the stream
    bool has_half;
    std::uint32_t half;
  };

  explicit Pcg64(std::uint64_t seed) {
    const std::array<std::uint64_t, 4> words = seed_words(seed);
    increment_ = (wide(words[2], words[3]) << 1) | 1;
    state_ = increment_ + wide(words[0], words[1]);
    step();
  }

  State state() const {
    return {high(state_), low(state_), high(increment_), low(increment_), has_half_, half_};
  }
  void set_state(const State& s) {
    state_ = wide(s.high, s.low);
    increment_ = wide(s.increment_high, s.increment_low);
    has_half_ = s.has_half;
    half_ = s.half;
  }

  // The numbers from 0 on, less than 2^32 of them, in a random order.
  void permute(std::span<std::int64_t> order) {
    if (order.size() >= 0xFFFFFFFFu) throw std::length_error("a permutation of 2^32 numbers");
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[below_or_equal(i)]);
  }

 private:
  using Wide = unsigned __int128;
  static Wide wide(std::uint64_t high, std::uint64_t low) { return Wide{high} << 64 | low; }
  static std::uint64_t high(Wide x) { return static_cast<std::uint64_t>(x >> 64); }
  static std::uint64_t low(Wide x) { return static_cast<std::uint64_t>(x); }

  void step() {
    state_ = state_ * wide(2549297995355413924ULL, 4865540595714422341ULL) + increment_;
  }
  std::uint64_t next64() {
    step();
    const std::uint64_t mixed = high(state_) ^ low(state_);
    const auto turn = static_cast<unsigned>(state_ >> 122);
    return mixed >> turn | mixed << (-turn & 63);
  }
  std::uint32_t next32() {
    if (has_half_) {
      has_half_ = false;
      return half_;
    }
    const std::uint64_t next = next64();
    has_half_ = true;
    half_ = static_cast<std::uint32_t>(next >> 32);
    return static_cast<std::uint32_t>(next);
  }
  // As many bits as the number has, drawn until they are not above it.
  std::size_t below_or_equal(std::size_t most) {
    const std::uint32_t mask =
        ~std::uint32_t{0} >> std::countl_zero(static_cast<std::uint32_t>(most));
    std::uint32_t drawn = next32() & mask;
    while (drawn > most) drawn = next32() & mask;
    return drawn;
  }

  static std::array<std::uint64_t, 4> seed_words(std::uint64_t seed) {
    std::uint32_t constant = 0x43b0d7e5u;
    const auto hash = [&](std::uint32_t value, std::uint32_t factor) {
      value ^= constant;
      constant *= factor;
      value *= constant;
      return value ^ value >> 16;
    };
    const std::uint32_t entropy[4] = {static_cast<std::uint32_t>(seed),
                                      static_cast<std::uint32_t>(seed >> 32), 0, 0};
    std::uint32_t pool[4];
    for (int i = 0; i < 4; ++i) pool[i] = hash(entropy[i], 0x931e8875u);
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        if (from == to) continue;
        const std::uint32_t mixed =
            0xca01f9ddu * pool[to] - 0x4973f715u * hash(pool[from], 0x931e8875u);
        pool[to] = mixed ^ mixed >> 16;
      }
    }
    constant = 0x8b51f9ddu;
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < 8; ++i) {
      words[i / 2] |= std::uint64_t{hash(pool[i % 4], 0x58f38dedu)} << (32 * (i % 2));
    }
    return words;
  }

  Wide state_ = 0, increment_ = 0;
  bool has_half_ = false;
  std::uint32_t half_ = 0;
};

}  // namespace structlearn
