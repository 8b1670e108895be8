// Text as corpora: column files, CoNLL-U with its trees, running text by characters, and the
// functions of strings that features are made of.
#include "text/corpus.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include "fuzz/input.hpp"
#include "tasks/dependencies/treebank.hpp"
#include "text/characters.hpp"
#include "text/functions.hpp"

namespace {

using namespace structlearn::text;

void read_trees(const Corpus& corpus) {
  try {
    for (std::size_t s = 0; s < corpus.sentences(); ++s) {
      structlearn::parsing::read_tree(corpus, s);
    }
    const auto tags = structlearn::parsing::tag_column(corpus, structlearn::parsing::kUpos);
    structlearn::parsing::read_treebank(corpus, {tags, tags, tags},
                                        structlearn::parsing::relation_names(corpus), true);
  } catch (const BadLine&) {
  }
}

void read_corpus(fuzz::Input& in) {
  const Format format = in.flag() ? Format::kConllu : Format::kColumns;
  const std::size_t keep = in.flag() ? in.below(12) : Corpus::kNoLines;
  const bool chunks = in.flag();
  const std::string text(in.rest());
  count_lines(text);
  fuzz::require(last_sentence_end(text) <= text.size());
  first_shape(text);
  Corpus corpus(format);
  try {
    corpus.read(text, keep);
  } catch (const BadLine& error) {
    fuzz::require(error.line >= 1 && error.line <= count_lines(text) + 1);
    return;
  }
  fuzz::require(corpus.sentence(corpus.sentences()) == corpus.tokens());
  for (const Line& line : corpus.lines()) {
    fuzz::require(line.begin <= line.cell_begin && line.cell_begin <= line.cell_end);
    fuzz::require(line.cell_end <= line.end && line.end <= text.size());
  }
  if (chunks && corpus.tokens() > 0) corpus.to_iobes(corpus.columns().size() - 1, "_");
  if (corpus.sentences() > 0) {
    const std::vector<std::size_t> last{corpus.sentences() - 1};
    fuzz::require(corpus.subset(last).sentences() == 1);
  }
  if (format == Format::kConllu && corpus.tokens() > 0) read_trees(corpus);
}

void read_characters(fuzz::Input& in) {
  const std::string text(in.rest());
  if (invalid_utf8(text) < text.size()) return;  // refused before
  Corpus corpus(Format::kColumns);
  add_characters(corpus, text, "", {});
  std::size_t n = 0;
  for_characters(text, [&](std::uint32_t, std::size_t, std::size_t) { ++n; });
  fuzz::require(corpus.tokens() == n);
}

void apply_functions(fuzz::Input& in) {
  const std::size_t n = in.below(9);
  const std::string text(in.rest());
  if (invalid_utf8(text) < text.size()) return;
  const auto valid = [](std::string_view s) { fuzz::require(invalid_utf8(s) == s.size()); };
  valid(lower(text));
  valid(shape(text, true));
  valid(shape(text, false));
  valid(digits(text));
  std::string_view piece;
  if (prefix(text, n, piece)) valid(piece);
  if (suffix(text, n, piece)) valid(piece);
  std::vector<std::string> grams;
  if (n > 0) ngrams(text, n, grams);
  for (const std::string& gram : grams) valid(gram);
  fuzz::require(std::set<std::string>(grams.begin(), grams.end()).size() == grams.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  switch (in.below(5)) {
    case 3:
      read_characters(in);
      break;
    case 4:
      apply_functions(in);
      break;
    default:
      read_corpus(in);
  }
  return 0;
}
