// The best cut of a text: a chain of two labels over its characters, and words of a user's own,
// which add to the score of every cut that has them as words. Exact, in one pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/words/dictionary.hpp"

namespace structlearn::words {

// Words that somebody wants, with what each adds to the score of a cut that has it as a word.
struct UserWords {
  Trie trie;
  std::vector<std::int64_t> weight;  // by word

  // Of a word that is wanted always: more than all scores together. Longer words win.
  static constexpr std::int64_t kAlways = std::int64_t{1} << 42;
  static std::int64_t always(std::size_t length) {
    return kAlways * (2 * static_cast<std::int64_t>(length) - 1);
  }
};

// What is known of a character beforehand.
enum Rule : std::uint8_t { kFree, kMustBegin, kMustGoOn };

class Decoder {
 public:
  // Labels of the characters, 1 where a word begins. `runs`: where runs of characters begin; and
  // the end. `rule[i]` of the first one has to say what it is.
  void decide(std::span<const std::uint32_t> points, std::span<const std::size_t> runs,
              std::span<const std::int32_t> theta, std::span<const std::uint8_t> rule,
              const std::array<std::int32_t, 4>& pairs, const UserWords* words,
              std::vector<std::uint8_t>& begins);

  // Of what was decided last: the last place before `end` at which no text that follows could
  // change the label, as far as `reach` characters back; 0: nothing is settled.
  std::size_t settled(std::size_t end, std::size_t reach, bool words) const;

 private:
  // How a character is labelled: a word begins, goes on, or ends there that somebody wants, of one
  // character or of more.
  enum State : std::uint8_t { kBegin, kInside, kOne, kLast, kStates };
  void trace(std::size_t at, std::size_t state, std::vector<std::uint8_t>& begins) const;

  std::vector<std::array<std::int64_t, kStates>> best_;
  std::vector<std::array<std::uint8_t, kStates>> from_;
  std::vector<std::uint32_t> start_;  // of the word that ends in kLast
};

}  // namespace structlearn::words
