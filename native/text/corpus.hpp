// Sentences of tokens in columns: reading column files and CoNLL-U.
//
// A cell is the number of a string in its column's table, so that a corpus takes four bytes per
// cell and every distinct string is looked at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/strings.hpp"

namespace structlearn::text {

enum class Format { kColumns, kConllu };

inline constexpr std::size_t kConlluColumns = 10;

// A line that cannot be read, counted from 1.
struct BadLine : std::runtime_error {
  BadLine(std::size_t at, const std::string& what) : std::runtime_error(what), line(at) {}
  std::size_t line;
};

struct Column {
  StringTable strings;
  std::vector<std::uint32_t> cell;  // one a token
};

// What stands between the tokens of a CoNLL-U file: comments, multi-word tokens, empty nodes.
struct Aside {
  std::size_t token;     // the token before which it stands
  std::size_t sentence;  // the sentence it belongs to
  std::uint32_t text;
};

// Where a token's line lies in the text that was read; `end` is before the line's end marks. And
// where in it one of its cells does, at `end` where the line has no such column.
struct Line {
  std::size_t begin, end, cell_begin, cell_end;
};

// A token that may have any of several labels.
struct LabelSet {
  std::size_t token;
  std::vector<std::string> labels;
};

// What the lines of a column file have in common.
struct LineShape {
  std::size_t columns = 0;  // 0: not known
  char separator = '\0';
  bool known() const { return columns != 0; }
};

// How often a sentence of a weight counts where occurrences are counted: its weight as a whole
// number, at least 1, so that weights of any scale leave no sentence out.
std::uint32_t copies_of(double weight);

class Corpus {
 public:
  explicit Corpus(Format format) : format_(format), sentence_{0} {}

  Format format() const { return format_; }
  std::size_t tokens() const { return columns_.empty() ? 0 : columns_[0].cell.size(); }
  std::size_t sentences() const { return sentence_.size() - 1; }
  const std::vector<Column>& columns() const { return columns_; }
  std::vector<Column>& columns() { return columns_; }
  // Tokens of sentence i: [sentence(i), sentence(i + 1)).
  std::size_t sentence(std::size_t i) const { return sentence_[i]; }
  // The line of a token, from 1.
  std::size_t line_number(std::size_t token) const { return line_[token]; }
  char separator() const { return separator_; }
  const std::vector<Aside>& asides() const { return asides_; }
  const StringTable& aside_text() const { return aside_text_; }
  // Lines of the tokens in the text last read, where `read` was asked to keep them.
  const std::vector<Line>& lines() const { return lines_; }
  std::size_t bytes() const;

  // Reads more text, which must end where a sentence ends. Throws BadLine; what was read before
  // the bad line stays, so whoever goes on after that has to start over.
  // `keep_lines`: with the places of the cells of this column.
  static constexpr std::size_t kNoLines = static_cast<std::size_t>(-1);
  void read(std::string_view text, std::size_t keep_lines = kNoLines);

  LineShape shape() const { return {columns_.size(), separator_}; }
  // The shape that lines must have, where none has been read yet.
  void expect(const LineShape& shape) {
    if (!columns_.empty() || !shape.known()) return;
    columns_.resize(shape.columns);
    separator_ = shape.separator;
  }

  // The columns whose cells are kept when text is read, by number; default: all. The first one
  // always is: it counts the tokens.
  void keep_columns(std::vector<std::uint8_t> kept) { kept_ = std::move(kept); }

  // The number of lines that come before what is read next.
  void set_line(std::size_t lines) { lines_read_ = lines; }

  // Weights above 0, one a sentence; empty: all 1. A weight k counts as k copies of the sentence.
  void set_weights(std::vector<double> weights) { weight_ = std::move(weights); }
  const std::vector<double>& weights() const { return weight_; }
  // How often a sentence counts where occurrences are counted.
  std::uint32_t copies(std::size_t sentence) const {
    return sentence < weight_.size() ? copies_of(weight_[sentence]) : 1;
  }

  // How often each string of a column is there, by its number.
  std::vector<std::uint64_t> counts(std::size_t column) const;

  // Sentences with the same words have the same fingerprint, whatever the other columns hold.
  std::vector<std::uint64_t> fingerprints() const;
  // The fold of each sentence, out of `kFolds`; those of the larger corpus where they were set.
  std::vector<std::uint8_t> folds() const;
  void set_folds(std::vector<std::uint8_t> folds) { fold_ = std::move(folds); }

  // Rewrites a column of chunk labels, in whichever of IOB1, IOB2, IOBES and BILOU they are, as
  // IOBES: S- and E- mark chunks of one token and last tokens. Beside an `unknown` label it is open
  // whether a chunk ends, and the label becomes unknown too.
  void to_iobes(std::size_t column, std::string_view unknown);

  // Takes the cells of a column with the mark in them for sets of labels, PER|ORG: the cells become
  // unknown, and the sets are kept. One with an unknown member says nothing.
  void to_sets(std::size_t column, std::string_view mark, std::string_view unknown);
  // By token.
  const std::vector<LabelSet>& sets() const { return sets_; }

  // Forgets the tokens; the strings and their numbers stay.
  void clear_tokens();
  // Forgets the strings too.
  void clear();

  // The sentences with these numbers, as if nothing else had been read; lines stay what they were.
  Corpus subset(std::span<const std::size_t> sentences) const;

  // Adds a sentence, column by column; every column as long as the first. `lines`: where its tokens
  // come from, 0 where they are not given.
  void add_sentence(const std::vector<std::vector<std::string_view>>& columns,
                    std::span<const std::uint32_t> lines = {});
  // Adds a token to the sentence at the end, which `end_sentence` ends. Cells of columns that are
  // not kept may be anything.
  void add_token(std::span<const std::string_view> cells, std::size_t line = 0);
  void end_sentence();

 private:
  void read_token(std::string_view line, std::size_t number);

  Format format_;
  char separator_ = '\0';  // tab, or a space for runs of white space; set by the first token
  std::vector<Column> columns_;
  std::vector<std::size_t> sentence_;
  std::vector<std::uint32_t> line_;  // of each token
  std::vector<Line> lines_;
  std::vector<Aside> asides_;
  StringTable aside_text_;
  std::vector<std::string_view> cells_;
  std::vector<std::uint8_t> kept_;  // 0: cells of this column are not; beyond the end: they are
  std::size_t lines_read_ = 0;
  std::vector<double> weight_;
  std::vector<std::uint8_t> fold_;
  std::vector<LabelSet> sets_;
};

// The first of the sets, by token, that is not before a token.
std::vector<LabelSet>::const_iterator first_set(const std::vector<LabelSet>&, std::size_t token);

// Folds of the sentences, by their fingerprints: runs of neighbours, which are alike, of equal
// size. Copies of a sentence that follow it count as one sentence, so that they are in its fold,
// and a weight makes the same folds as they do.
inline constexpr std::size_t kFolds = 10;
std::vector<std::uint8_t> folds_of(std::span<const std::uint64_t> fingerprints);

// A label of chunks in two: its prefix (O for outside; B, I, E, S) and the type after the hyphen.
struct ChunkLabel {
  char prefix;
  std::string_view type;
};
ChunkLabel chunk_label(std::string_view label);
// Whether a chunk ends between two tokens, or begins with the second (conlleval's rules).
bool chunk_ends(ChunkLabel before, ChunkLabel now);
bool chunk_begins(ChunkLabel before, ChunkLabel now);

// The first byte that is not part of valid UTF-8, or the size.
std::size_t invalid_utf8(std::string_view text);

std::size_t count_lines(std::string_view text);

// The shape of the first token of a text of columns.
LineShape first_shape(std::string_view text);

// Where the last complete sentence of a text ends: after the last blank line, or 0.
std::size_t last_sentence_end(std::string_view text);

}  // namespace structlearn::text
