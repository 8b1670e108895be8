// Sentences with their trees, read from a corpus and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tasks/dependencies/tokens.hpp"
#include "text/corpus.hpp"

namespace structlearn::parsing {

struct Treebank {
  std::vector<Sentence> sentence;
  std::vector<std::vector<std::int32_t>> heads;    // [0] is not used
  std::vector<std::vector<std::uint16_t>> labels;  // [0] is not used
};

// Columns of a CoNLL-U file.
inline constexpr std::size_t kForm = 1, kLemma = 2, kUpos = 3, kXpos = 4, kFeats = 5, kHead = 6,
                             kDeprel = 7;

// The values of a column as tags; or tags from elsewhere: their names and one number a token.
TagColumn tag_column(const text::Corpus&, std::size_t column);
TagColumn tag_column(const std::vector<std::string>& names, std::vector<std::uint32_t> cells);

// The first sentence in which no word has a tag (UPOS or XPOS); nothing where all have one.
std::optional<std::size_t> untagged_sentence(const text::Corpus&);

// The heads of a sentence, [1..n]. Throws BadLine, which names the sentence, where they are no
// tree with one root, or a word has no relation.
std::vector<std::int32_t> read_tree(const text::Corpus&, std::size_t sentence);

// The relations of a corpus, the most frequent first, ties in the order of their names.
std::vector<std::string> relation_names(const text::Corpus&);

// Throws BadLine. A relation that is not among the names is an error.
Treebank read_treebank(const text::Corpus&, const SentenceTags&,
                       const std::vector<std::string>& labels, bool lemmas);

}  // namespace structlearn::parsing
