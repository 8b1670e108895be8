// Functions of one string that features are made of. Characters are Unicode code points, and the
// input is valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace structlearn::text {

// The number of bytes of a character, by the first of them.
inline std::size_t character_width(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u < 0x80 ? 1 : u < 0xE0 ? 2 : u < 0xF0 ? 3 : 4;
}

// The code point of the n bytes at a place.
inline std::uint32_t decode(std::string_view s, std::size_t at, std::size_t n) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(s[at + i]));
  };
  switch (n) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

// Calls each(point, begin, size) for the characters of s; a torn last one is left out.
template <class Each>
void for_characters(std::string_view s, Each&& each) {
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t n = character_width(s[at]);
    if (at + n > s.size()) return;
    each(decode(s, at, n), at, n);
    at += n;
  }
}

std::string lower(std::string_view s);

// The first, or last, n characters; false where s is shorter.
bool prefix(std::string_view s, std::size_t n, std::string_view& out);
bool suffix(std::string_view s, std::size_t n, std::string_view& out);

// Upper-case letters become X, lower-case x, digits d, letters without case c; the rest stays.
// `collapse`: runs of one and the same become one: "McDonald's" gives XxXx'x.
std::string shape(std::string_view s, bool collapse);

// Every digit becomes 0.
std::string digits(std::string_view s);

// The n-grams of characters, with ^ before the first and $ after the last, no repeats.
void ngrams(std::string_view s, std::size_t n, std::vector<std::string>& out);

}  // namespace structlearn::text
