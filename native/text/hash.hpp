// Hashes of strings and of what is made from them. Feature keys are stored in model files, so these
// functions are part of the file format: they must give the same numbers everywhere and for ever.
//
// The mixing step multiplies two 64-bit words and folds the 128-bit product (the step of Wang Yi's
// wyhash).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace structlearn::text {

static_assert(std::endian::native == std::endian::little, "hashes read words as little-endian");

inline constexpr std::uint64_t kHashA = 0x9E3779B97F4A7C15ULL;
inline constexpr std::uint64_t kHashB = 0xD1B54A32D192ED03ULL;

inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
inline Word load(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Up to eight bytes as a word. Loads that overlap are faster than a copy of any length.
inline std::uint64_t load_word(const char* p, std::size_t n = 8) {
  if (n == 8) return load<std::uint64_t>(p);
  if (n >= 4) {
    return load<std::uint32_t>(p) | static_cast<std::uint64_t>(load<std::uint32_t>(p + n - 4))
                                        << (8 * (n - 4));
  }
  if (n == 0) return 0;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

inline bool same_text(const char* a, const char* b, std::size_t n) {
  for (; n > 8; a += 8, b += 8, n -= 8) {
    if (load<std::uint64_t>(a) != load<std::uint64_t>(b)) return false;
  }
  return load_word(a, n) == load_word(b, n);
}

inline std::uint64_t hash_string(std::string_view s, std::uint64_t seed = 0) {
  const char* p = s.data();
  std::size_t n = s.size();
  std::uint64_t h = fold(seed ^ kHashA, n + kHashB);
  for (; n > 8; p += 8, n -= 8) h = fold(h ^ load_word(p), kHashA);
  return fold(h ^ load_word(p, n), kHashB);
}

// One more part of a conjunction.
inline std::uint64_t combine(std::uint64_t h, std::uint64_t part) {
  return fold(h ^ part, kHashA) + kHashB;
}

// Keys and hashes of values are never 0: that marks what is not there.
inline std::uint64_t nonzero(std::uint64_t h) {
  return h == 0 ? 1 : h;
}

// Of a whole payload. Every step is a bijection of the state for a given word, and of the word for
// a given state, so that a change inside one word of eight bytes, a flipped bit among them, always
// changes the result; other changes go unseen once in 2^64.
class Checksum {
 public:
  void add(const char* p, std::size_t n) {
    for (; n >= 32; p += 32, n -= 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) step(lane, load_word(p + 8 * lane));
    }
    for (std::size_t lane = 0; n > 0; ++lane) {
      const std::size_t taken = n < 8 ? n : 8;
      step(lane, load_word(p, taken));
      p += taken;
      n -= taken;
    }
  }
  std::uint64_t value() const {
    std::uint64_t h = kHashA;
    for (const std::uint64_t lane : lane_) h = std::rotl((h ^ lane) * kHashB, 29);
    return h ^ (h >> 32);
  }

 private:
  void step(std::size_t lane, std::uint64_t word) {
    // The shift brings the top bits down, where the next product spreads them again.
    const std::uint64_t product = (lane_[lane] ^ word) * kHashA;
    lane_[lane] = std::rotl(product ^ (product >> 32), 31);
  }
  std::uint64_t lane_[4] = {kHashA, kHashB, ~kHashA, ~kHashB};
};

}  // namespace structlearn::text
