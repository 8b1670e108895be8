// Tags of tokens, as Python gives them to parsers.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/buffers.hpp"
#include "tasks/dependencies/treebank.hpp"

namespace structlearn::python {

// The corpus, if it has the columns of CoNLL-U: one without any sentence has none.
inline const text::Corpus& conllu(const text::Corpus& corpus) {
  if (corpus.columns().size() <= parsing::kDeprel) {
    throw std::invalid_argument("a corpus of CoNLL-U with sentences is needed");
  }
  return corpus;
}

// Tags as Python gives them: for each of UPOS, XPOS and FEATS None (the corpus's own column), or
// numbers of the tokens' tags and the names.
inline parsing::TagColumn read_tags(const text::Corpus& corpus, nb::handle given,
                                    std::size_t column) {
  if (given.is_none()) return parsing::tag_column(corpus, column);
  const nb::tuple pair = nb::cast<nb::tuple>(given);
  const Bytes bytes(pair[0]);
  const auto cells = bytes.as<std::uint32_t>("tags");
  if (cells.size() != corpus.tokens()) throw std::invalid_argument("one tag a token");
  return parsing::tag_column(nb::cast<std::vector<std::string>>(pair[1]),
                             std::vector<std::uint32_t>(cells.begin(), cells.end()));
}

inline parsing::SentenceTags read_tags(const text::Corpus& corpus, nb::list given) {
  conllu(corpus);
  if (given.size() != 3) throw std::invalid_argument("tags: UPOS, XPOS and FEATS");
  return {read_tags(corpus, given[0], parsing::kUpos), read_tags(corpus, given[1], parsing::kXpos),
          read_tags(corpus, given[2], parsing::kFeats)};
}

}  // namespace structlearn::python
