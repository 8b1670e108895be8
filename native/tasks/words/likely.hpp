// All words that are likely in a line, whatever the best cut of it is: what a search engine wants.
#pragma once

#include <vector>

#include "tasks/words/reader.hpp"

namespace structlearn::words {

struct LikelyWord {
  std::uint32_t begin, end;  // places in the line, counted in characters of the text
  double probability;
};

// Words of up to `most` characters and of at least this probability, under
// P(cut) ~ exp(score / temperature). Time O(L * most).
void likely_words(WordReader& reader, const TextLine& line, std::size_t input, double temperature,
                  double least, std::size_t most, std::vector<LikelyWord>& out);

}  // namespace structlearn::words
