// Functions of one string that features are made of. Characters are Unicode code points, and the
// input is valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace structlearn::text {

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
