#include "text/functions.hpp"

#include <algorithm>
#include <iterator>

#include "text/unicode_tables.hpp"

namespace structlearn::text {
namespace {

void encode(std::uint32_t point, std::string& out) {
  const auto push = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    push(point);
  } else if (point < 0x800) {
    push(0xC0 | point >> 6);
    push(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    push(0xE0 | point >> 12);
    push(0x80 | (point >> 6 & 0x3F));
    push(0x80 | (point & 0x3F));
  } else {
    push(0xF0 | point >> 18);
    push(0x80 | (point >> 12 & 0x3F));
    push(0x80 | (point >> 6 & 0x3F));
    push(0x80 | (point & 0x3F));
  }
}

// The range that holds the point, or null.
template <class Range, std::size_t N>
const Range* find(const Range (&ranges)[N], std::uint32_t point) {
  const auto* at =
      std::upper_bound(std::begin(ranges), std::end(ranges), point,
                       [](std::uint32_t p, const Range& range) { return p < range.first; });
  if (at == std::begin(ranges)) return nullptr;
  --at;
  return point <= at->last ? at : nullptr;
}

Kind kind(std::uint32_t point) {
  if (point < 0x80) {
    if (point >= 'a' && point <= 'z') return Kind::kLower;
    if (point >= 'A' && point <= 'Z') return Kind::kUpper;
    return point >= '0' && point <= '9' ? Kind::kDigit : Kind::kOther;
  }
  const KindRange* range = find(kKinds, point);
  return range ? range->kind : Kind::kOther;
}

std::uint32_t to_lower(std::uint32_t point) {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
  const LowerRange* range = find(kLowers, point);
  if (!range || (point - range->first) % range->step != 0) return point;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(point) + range->delta);
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string lower(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for_characters(
      s, [&](std::uint32_t point, std::size_t, std::size_t) { encode(to_lower(point), out); });
  return out;
}

bool prefix(std::string_view s, std::size_t n, std::string_view& out) {
  std::size_t at = 0;
  for (; n > 0; --n) {
    if (at >= s.size()) return false;
    at += character_width(s[at]);
  }
  out = s.substr(0, at);
  return at <= s.size();
}

bool suffix(std::string_view s, std::size_t n, std::string_view& out) {
  std::size_t at = s.size();
  for (; n > 0; --n) {
    if (at == 0) return false;
    do {
      --at;
    } while (at > 0 && continues(s[at]));
  }
  out = s.substr(at);
  return true;
}

std::string shape(std::string_view s, bool collapse) {
  std::string out;
  std::uint32_t last = 0;
  for_characters(s, [&](std::uint32_t point, std::size_t, std::size_t) {
    switch (kind(point)) {
      case Kind::kUpper:
        point = 'X';
        break;
      case Kind::kLower:
        point = 'x';
        break;
      case Kind::kDigit:
        point = 'd';
        break;
      case Kind::kLetter:
        point = 'c';
        break;
      case Kind::kOther:
        break;
    }
    if (collapse && point == last) return;
    last = point;
    encode(point, out);
  });
  return out;
}

std::string digits(std::string_view s) {
  std::string out;
  for_characters(s, [&](std::uint32_t point, std::size_t at, std::size_t n) {
    if (kind(point) == Kind::kDigit) {
      out.push_back('0');
    } else {
      out.append(s.substr(at, n));
    }
  });
  return out;
}

void ngrams(std::string_view s, std::size_t n, std::vector<std::string>& out) {
  std::string marked(1, '^');
  marked.append(s).push_back('$');
  std::vector<std::size_t> begin;
  for_characters(marked, [&](std::uint32_t, std::size_t at, std::size_t) { begin.push_back(at); });
  begin.push_back(marked.size());
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (std::size_t i = 0; i + n < begin.size(); ++i) {
    out.push_back(marked.substr(begin[i], begin[i + n] - begin[i]));
  }
  std::sort(out.begin() + first, out.end());
  out.erase(std::unique(out.begin() + first, out.end()), out.end());
}

}  // namespace structlearn::text
