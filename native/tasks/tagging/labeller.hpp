// From text to text: reads sentences, labels them, and writes the lines back with the labels.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/confidence.hpp"
#include "models/decision.hpp"
#include "tasks/tagging/chunk_confidence.hpp"
#include "tasks/tagging/label_reader.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// The labels of a model as they are written: several of its labels may have one name (IOBES labels
// written as IOB2). The names are sorted. A model of segments has its labels twice: as they are
// written at the first token of a segment, and at the others.
struct LabelNames {
  std::vector<std::string> labels, names;
  std::vector<std::int32_t> name_of;  // label to name

  const std::string& shown(std::int32_t label) const {
    return names[static_cast<std::size_t>(name_of[static_cast<std::size_t>(label)])];
  }
  std::int32_t find(std::string_view name) const;  // -1: none
};

struct LabelOptions {
  std::vector<std::size_t> targets = {0};  // the columns of the labels' parts, mostly one
  std::size_t columns = 0;                 // of the files that the model was trained on
  // Columns of labels: the best sentence's, the second best's, ...; of the probabilities of these
  // sentences, of the label, and of all labels.
  Wanted wanted;
  bool known = false;    // labels that stand in their columns already are kept
  Confidence certainty;  // from the probability of a label to the confidence that is written
  std::string unknown = "_";
  char lone = ' ';       // separates what is added from words that stand alone on their lines
  bool appends = false;  // labels stand behind all columns: those that a file has stay
  // Where there are any, the confidence of tokens in a chunk is that of the chunk.
  ChunkBoundaries boundaries;
  Confidence chunk_certainty;  // as certainty, of the probability of a chunk
};

// Refuses, as BadLine, a text without the columns that a model reads, or with some only of those
// that follow its labels, which would be filled in the wrong place.
void check_columns(const Corpus&, std::size_t needed, std::size_t target, std::size_t trained_on);

// The columns whose cells a labeller has to know, as Corpus::keep_columns takes them: those of the
// features, and the labels' own where it keeps known ones.
std::vector<std::uint8_t> columns_read(const FeatureSet&, Format,
                                       std::span<const std::size_t> targets, bool reads_targets);

// Appends a probability, four digits after the point.
void append_number(double x, std::string& out);

struct Cell {
  std::size_t column;
  std::string_view text;
};

// Appends the text from `from` to the end of a token's line with other cells in some columns, or
// with more columns, and what else there is to say, as (name, value): in columns of its own, or in
// the last one of CoNLL-U. `cells` are sorted by column; of the first one the corpus has kept the
// places in the text. What stands between the cells stays. `lone`: as in LabelOptions.
void write_token(const Corpus&, std::string_view text, std::size_t from, std::size_t token,
                 std::span<const Cell> cells,
                 std::span<const std::pair<std::string, std::string>> extra, char lone,
                 std::string& out);

// Appends (name, value) to the last cell of a line of CoNLL-U, with which `out` ends.
void append_misc(std::span<const std::pair<std::string, std::string>> extra, std::string& out);

// What was found for a token. The strings are the labeller's.
struct Answer {
  std::vector<const std::string*> labels;  // the best sentence's, the second best's, ...; null:
                                           // the sentence has no more labellings
  std::vector<double> scores;  // the probabilities of these sentences, where they were asked for
  double confidence = 0.0;     // of the first one, where it was asked for
  std::vector<std::pair<const std::string*, double>> marginals;  // the largest first
};

// Labels pieces of text one after another. Not to be shared between threads.
class Labeller {
 public:
  Labeller(const FeatureSet& features, ReaderFactory reader, const LabelNames& labels,
           Format format, LabelOptions options);

  // Appends the text, which ends where a sentence ends, with its labels. `line` is the number of
  // lines before it. Throws BadLine.
  void label(std::string_view text, std::size_t line, std::string& out);
  // Appends what is found for the tokens of the sentences [first, last) of a corpus. Throws
  // BadLine.
  void answer(const Corpus&, std::size_t first, std::size_t last, std::vector<Answer>& out);

  // The same of one sentence that is added token by token, to the corpus that `begin` has emptied
  // of the one before. What is known of strings is kept. No label is known beforehand.
  void begin();
  void add_token(std::span<const std::string_view> cells) { corpus_.add_token(cells); }
  void answer(std::vector<Answer>& out);
  // What is asked from now on.
  void want(const Wanted& wanted) { options_.wanted = wanted; }

  std::size_t tokens() const { return tokens_; }
  // What lines have to look like; that of the lines seen.
  void expect(const LineShape& shape) {
    if (corpus_.format() == Format::kColumns) corpus_.expect(shape);
  }
  LineShape shape() const { return corpus_.shape(); }

 private:
  // Reads the labels that stand in their columns already.
  void read_known(const Corpus&);
  void decide(const Corpus&, LabelReader&, std::size_t sentence);
  void answer_sentence(const Corpus&, LabelReader&, std::size_t sentence, std::vector<Answer>& out);
  void describe(const LabelReader&, std::size_t position, Answer& out);
  void write_extra(const Answer&);
  void split(std::string_view label);

  const FeatureSet& features_;
  ReaderFactory make_reader_;
  const LabelNames& labels_;
  LabelOptions options_;
  Corpus corpus_;
  std::unique_ptr<LabelReader> reader_;
  const Scored* scored_ = nullptr;                          // of the sentence that was decided last
  std::vector<std::pair<std::size_t, std::size_t>> place_;  // column and part, by column
  std::vector<std::string_view> parts_;
  std::vector<Cell> cells_;
  Decision decision_;  // confidence: of each token, or chunk, of the best output
  std::vector<double> of_name_;
  std::vector<std::int32_t> known_;
  std::vector<std::pair<double, std::size_t>> ranked_;
  Answer answer_;
  std::vector<std::pair<std::string, std::string>> extra_;  // name and value
  std::size_t tokens_ = 0;
};

}  // namespace structlearn::text
