// Running text as a sequence of characters, each with what stands around it: what a tokeniser
// reads, laid out as a corpus whose tokens are characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/corpus.hpp"

namespace structlearn::text {

// Columns of a character. A chunk is what blanks separate; long ones are cut, so that a text
// without any blank takes linear time.
enum CharacterColumn : std::size_t {
  kCharacter,  // the character; every blank is a space
  kLeft,       // what its chunk has before it, at most kReach characters of it; ^ at the start
  kRight,      // the chunk from the character on, at most as many
  // Where a sentence may begin (after a blank or a sign), a space elsewhere:
  kBefore,   // the chunk before that, its last characters; ^ at the start of the text
  kAfter,    // the chunk behind, its first characters; $ at the end
  kBefore2,  // the ones before and behind these
  kAfter2,
  kKind,  // of the chunk: u an address with :// or www., m one with @, - any other
  kCharacterColumns,
};
inline constexpr std::size_t kReach = 12;

// Whether a character separates words: what Python's str.isspace says.
bool is_space(std::uint32_t point);

// Adds a text as one sentence; nothing where it is empty. `labels`: names()[labels[i]] is the label
// of character i, in one more column; empty: there is no such column. Throws where their number is
// another than that of the characters.
void add_characters(Corpus& corpus, std::string_view text, std::string_view labels,
                    const std::vector<std::string>& names);

}  // namespace structlearn::text
