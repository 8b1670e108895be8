// A text as runs of characters that no blank separates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/functions.hpp"

namespace structlearn::words {

// Blanks that separate words: a space, a tab, what ends lines. Wider ones are characters.
inline bool separates(std::uint32_t point) {
  return point == ' ' || (point >= 9 && point <= 13);
}

struct TextLine {
  std::vector<std::uint32_t> points;  // all runs, one behind the other
  std::vector<std::uint32_t> place;   // of each in the text, counted in characters
  std::vector<std::size_t> runs{0};   // where each begins, and the end

  // Adds a character of the text; `blanks`: they are characters as others are.
  void add(std::uint32_t point, std::uint32_t at, bool blanks) {
    if (!blanks && separates(point)) {
      apart_ = true;
      return;
    }
    if (apart_ && points.size() > runs.back()) runs.push_back(points.size());
    apart_ = false;
    points.push_back(point);
    place.push_back(at);
  }
  void end() {
    if (points.size() > runs.back()) runs.push_back(points.size());
  }
  // Of each character what is known of it beforehand.
  template <class Each>
  void begins(Each&& each) const {
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) each(runs[r]);
  }
  static TextLine of(std::string_view text, bool blanks) {
    TextLine line;
    std::uint32_t at = 0;
    text::for_characters(text, [&](std::uint32_t point, std::size_t, std::size_t) {
      line.add(point, at++, blanks);
    });
    line.end();
    return line;
  }

 private:
  bool apart_ = false;
};

}  // namespace structlearn::words
