// Numbers of trees modulo a prime: exact counts are combined from several.
//
// Primes are below 2^29, so that 63 products can be added up before the sum is reduced.
#pragma once

#include <cstddef>
#include <cstdint>

namespace structlearn {

inline constexpr std::uint32_t kLargestPrime = (1u << 29) - 1;

// det of an (n, n) matrix, by rows of an LU decomposition. O(n^3).
std::uint32_t determinant_modulo(const std::int64_t* matrix, std::size_t n, std::uint32_t prime);

// The sum over the projective trees of n words of the product of ways[h][m] over their arcs, by
// Eisner's chart; ways is (n + 1, n + 1), pairs (n + 1, n + 1, n + 1) marks the siblings allowed,
// or is null. O(n^3).
std::uint32_t projective_modulo(const std::int64_t* ways, const std::uint8_t* pairs, std::size_t n,
                                bool single_root, std::uint32_t prime);

}  // namespace structlearn
