#include "text/characters.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "text/functions.hpp"

namespace structlearn::text {
namespace {

struct Character {
  std::size_t begin, end;  // bytes
  bool space, wordlike;
};

// Letters and digits; what is beyond ASCII counts as one.
bool is_wordlike(std::uint32_t p) {
  return p >= 0x80 || (p >= '0' && p <= '9') || ((p | 32) >= 'a' && (p | 32) <= 'z');
}

// A run of characters that are not blank, [first, last).
struct Chunk {
  std::size_t first, last;
};

std::string_view kind_of(std::string_view chunk) {
  if (chunk.find("://") != std::string_view::npos || chunk.find("www.") != std::string_view::npos) {
    return "u";
  }
  return chunk.find('@') != std::string_view::npos ? "m" : "-";
}

std::string_view between(std::string_view text, const std::vector<Character>& c, std::size_t first,
                         std::size_t last) {
  return text.substr(c[first].begin, c[last - 1].end - c[first].begin);
}

}  // namespace

bool is_space(std::uint32_t p) {
  return (p >= 9 && p <= 13) || (p >= 28 && p <= 32) || p == 0x85 || p == 0xA0 || p == 0x1680 ||
         (p >= 0x2000 && p <= 0x200A) || p == 0x2028 || p == 0x2029 || p == 0x202F || p == 0x205F ||
         p == 0x3000;
}

void add_characters(Corpus& corpus, std::string_view text, std::string_view labels,
                    const std::vector<std::string>& names) {
  std::vector<Character> characters;
  std::vector<Chunk> chunks;
  for_characters(text, [&](std::uint32_t point, std::size_t at, std::size_t n) {
    const bool space = is_space(point);
    if (!space) {
      const bool goes_on = !characters.empty() && !characters.back().space;
      if (!goes_on) chunks.push_back({characters.size(), characters.size()});
      chunks.back().last = characters.size() + 1;
    }
    characters.push_back({at, at + n, space, is_wordlike(point)});
  });
  const std::size_t n = characters.size();
  if (n == 0) return;
  if (!labels.empty() && labels.size() != n) {
    throw std::invalid_argument(std::to_string(labels.size()) + " labels for " + std::to_string(n) +
                                " characters");
  }
  std::vector<std::vector<std::string_view>> columns(kCharacterColumns + !labels.empty());
  for (auto& column : columns) column.reserve(n);
  const auto first_of = [&](std::size_t chunk) -> std::string_view {
    if (chunk >= chunks.size()) return "$";
    const auto [first, last] = chunks[chunk];
    return between(text, characters, first, std::min(last, first + kReach));
  };
  const auto last_of = [&](std::size_t next) -> std::string_view {  // of the chunk before `next`
    if (next == 0) return "^";
    const auto [first, last] = chunks[next - 1];
    return between(text, characters, std::max(first + kReach, last) - kReach, last);
  };
  std::vector<std::string_view> kinds;
  for (const auto& [first, last] : chunks) {
    kinds.push_back(kind_of(between(text, characters, first, last)));
  }
  std::size_t chunk = 0;  // the first one that does not end before the character
  for (std::size_t i = 0; i < n; ++i) {
    while (chunk < chunks.size() && chunks[chunk].last <= i) ++chunk;
    if (characters[i].space) {
      columns[kCharacter].push_back(" ");
      columns[kLeft].push_back(last_of(chunk));
      columns[kRight].push_back(first_of(chunk));
      columns[kBefore].push_back(" ");
      columns[kAfter].push_back(" ");
      columns[kBefore2].push_back(" ");
      columns[kAfter2].push_back(" ");
      columns[kKind].push_back("-");
    } else {
      const auto [first, last] = chunks[chunk];
      columns[kCharacter].push_back(between(text, characters, i, i + 1));
      const std::size_t from = std::max(first + kReach, i) - kReach;
      columns[kLeft].push_back(from == i ? "^" : between(text, characters, from, i));
      columns[kRight].push_back(between(text, characters, i, std::min(last, i + kReach)));
      const bool may_begin = i == first || !characters[i - 1].wordlike;
      columns[kBefore].push_back(may_begin ? last_of(chunk) : " ");
      columns[kAfter].push_back(may_begin ? first_of(chunk + 1) : " ");
      columns[kBefore2].push_back(may_begin && chunk > 0 ? last_of(chunk - 1) : " ");
      columns[kAfter2].push_back(may_begin ? first_of(chunk + 2) : " ");
      columns[kKind].push_back(kinds[chunk]);
    }
    if (!labels.empty()) {
      const auto label = static_cast<unsigned char>(labels[i]);
      if (label >= names.size()) throw std::invalid_argument("a label without a name");
      columns[kCharacterColumns].push_back(names[label]);
    }
  }
  corpus.add_sentence(columns);
}

}  // namespace structlearn::text
