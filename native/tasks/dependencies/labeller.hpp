// From text to text: reads sentences, tags and parses them, and writes CoNLL-U.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/confidence.hpp"
#include "tasks/dependencies/reader.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/reader.hpp"

namespace structlearn::parsing {

// A tagger and how its labels are written.
struct ColumnTagger {
  const text::TaggerModel* model = nullptr;
  const text::LabelNames* names = nullptr;
};

struct ParseOptions {
  bool lemmas = false;       // lemmas are read
  bool confidence = false;   // MISC gets the confidence in each arc and its relation
  double temperature = 1.0;  // of the probabilities
  Confidence certainty;      // from the probability of an arc to the confidence that is written
};

// Parses pieces of text one after another. Not to be shared between threads.
class ParseLabeller {
 public:
  // Taggers of the columns UPOS, XPOS and FEATS; without a model a column is read as it is.
  ParseLabeller(const ParserModel& model, std::array<ColumnTagger, 3> taggers, text::Format format,
                ParseOptions options);

  // Appends the text, which ends where a sentence ends, with its trees: a CoNLL-U text with the
  // columns filled and everything else as it was; of a column file the words, as CoNLL-U. `line` is
  // the number of lines before it. Throws BadLine.
  void label(std::string_view text, std::size_t line, std::string& out);

  std::size_t tokens() const { return tokens_; }
  void expect(const text::LineShape& shape) { words_.expect(shape); }
  text::LineShape shape() const { return words_.shape(); }

 private:
  void read(std::string_view text, std::size_t line);
  void check_tags() const;
  void parse(std::size_t sentence);
  void write(std::string_view text, std::size_t token, std::size_t position, std::string& out);

  const ParserModel& model_;
  std::array<ColumnTagger, 3> taggers_;
  bool conllu_;
  ParseOptions options_;
  text::Corpus corpus_;  // of CoNLL-U
  text::Corpus words_;   // what a column file has
  std::array<std::unique_ptr<text::TaggerReader>, 3> tagging_;
  SentenceTags tags_;
  DependencyReader reader_;
  Output labels_, tree_;
  std::vector<double> probability_, confidence_;  // of the parts of a sentence, of the tree's arcs
  std::size_t tokens_ = 0;
};

}  // namespace structlearn::parsing
