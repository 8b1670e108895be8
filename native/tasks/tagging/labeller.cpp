#include "tasks/tagging/labeller.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/joined_labels.hpp"

namespace structlearn::text {
namespace {

// Strings seen so far are kept between pieces; from this many bytes on they are forgotten.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr double kLeastShown = 0.0005;
// Stands in a column of labels where the sentence has no more labellings.
constexpr std::string_view kNoLabel = "-";

// Moves past the end of a cell to the cell `n` columns on; returns where that one begins and ends.
std::pair<std::size_t, std::size_t> cell_after(std::string_view line, std::size_t at, std::size_t n,
                                               char separator) {
  const std::string_view marks = separator == '\t' ? "\t" : " \t\r\f\v";
  std::size_t begin = at;
  for (; n > 0; --n) {
    begin = line.find_first_of(marks, at) + 1;
    if (separator != '\t') begin = line.find_first_not_of(marks, begin);
    at = std::min(line.find_first_of(marks, begin), line.size());
  }
  return {begin, at};
}

// The text from `from` to the end of a line, with other cells in some columns, or with more
// columns.
void fill(const Corpus& corpus, std::string_view text, std::size_t from, const Line& line,
          std::span<const Cell> cells, char separator, std::string& out) {
  out.append(text.substr(from, line.cell_begin - from));
  const bool appended = line.cell_begin == line.cell_end;
  std::size_t at = line.cell_end, column = cells.front().column;
  for (const Cell& cell : cells) {
    if (appended) {
      out.push_back(separator);
    } else if (cell.column > column) {
      const auto [begin, end] =
          cell_after(text.substr(0, line.end), at, cell.column - column, corpus.separator());
      out.append(text.substr(at, begin - at));
      at = end;
      column = cell.column;
    }
    out.append(cell.text);
  }
  out.append(text.substr(at, line.end - at));
}

}  // namespace

void append_number(double x, std::string& out) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::fixed, 4);
  out.append(buffer.data(), end.ptr);
}

void write_token(const Corpus& corpus, std::string_view text, std::size_t from, std::size_t token,
                 std::span<const Cell> cells,
                 std::span<const std::pair<std::string, std::string>> extra, char lone,
                 std::string& out) {
  const Line& line = corpus.lines()[token];
  const char separator =
      corpus.columns().size() == 1 && corpus.separator() == ' ' ? lone : corpus.separator();
  fill(corpus, text, from, line, cells, separator, out);
  if (extra.empty() || corpus.format() == Format::kColumns) {
    for (const auto& named : extra) {
      out.push_back(separator);
      out.append(named.second);
    }
    return;
  }
  append_misc(extra, out);  // CoNLL-U has ten columns and no more
}

void append_misc(std::span<const std::pair<std::string, std::string>> extra, std::string& out) {
  const std::size_t last = out.rfind('\t') + 1;
  if (std::string_view(out).substr(last) == "_") out.pop_back();
  for (std::size_t i = 0; i < extra.size(); ++i) {
    if (out.size() > last) out.push_back('|');
    out.append(extra[i].first).append("=").append(extra[i].second);
  }
}

void check_columns(const Corpus& corpus, std::size_t needed, std::size_t target,
                   std::size_t trained_on) {
  const std::size_t columns = corpus.columns().size();
  if (corpus.tokens() == 0) return;
  const char* const running_text = ". Is this running text, one sentence on each line?";
  const std::string trained = "where the model was trained on " + std::to_string(trained_on) +
                              " with the labels in column " + std::to_string(target + 1);
  const auto counted = [columns] {
    return std::to_string(columns) + (columns == 1 ? " column, " : " columns, ");
  };
  if (columns < needed) {
    throw BadLine(corpus.line_number(0), "the model reads column " + std::to_string(needed) +
                                             ", the line has " + std::to_string(columns) + ", " +
                                             trained);
  }
  if (columns > trained_on) {
    throw BadLine(corpus.line_number(0), counted() + trained + running_text);
  }
  if (columns > target && columns < trained_on) {
    throw BadLine(
        corpus.line_number(0),
        counted() + trained + ": leave out that column and what follows it, or give them all");
  }
}

std::vector<std::uint8_t> columns_read(const FeatureSet& features, Format format,
                                       std::span<const std::size_t> targets, bool reads_targets) {
  std::vector<std::uint8_t> read(*std::max_element(targets.begin(), targets.end()) + 1, 0);
  for (const Attribute& a : features.attributes()) {
    if (a.kind == Attribute::Kind::kSentence) return {};  // its function may look at any
    if (!a.reads_column()) continue;
    read.resize(std::max(read.size(), a.column + 1), 0);
    read[a.column] = 1;
  }
  if (reads_targets) {
    for (const std::size_t target : targets) read[target] = 1;
  }
  if (format == Format::kConllu) read.resize(std::max(read.size(), kConlluColumns), 0);
  return read;
}

std::int32_t LabelNames::find(std::string_view name) const {
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() || *at != name) return -1;
  return static_cast<std::int32_t>(at - names.begin());
}

Labeller::Labeller(const FeatureSet& features, ReaderFactory reader, const LabelNames& labels,
                   Format format, LabelOptions options)
    : features_(features),
      make_reader_(std::move(reader)),
      labels_(labels),
      options_(std::move(options)),
      corpus_(format),
      reader_(make_reader_(corpus_)) {
  corpus_.keep_columns(columns_read(features_, format, options_.targets, options_.known));
  for (std::size_t part = 0; part < options_.targets.size(); ++part) {
    place_.emplace_back(options_.targets[part], part);
  }
  std::sort(place_.begin(), place_.end());
  cells_.resize(place_.size());
}

// The cells of a label, by column.
void Labeller::split(std::string_view label) {
  parts_.clear();
  for (std::size_t part = 1; part < place_.size(); ++part) {
    const std::size_t mark = std::min(label.find(kLabelMark), label.size());
    parts_.push_back(label.substr(0, mark));
    label.remove_prefix(std::min(mark + 1, label.size()));
  }
  parts_.push_back(label);
  for (std::size_t c = 0; c < place_.size(); ++c) {
    const std::string_view part = parts_[place_[c].second];
    cells_[c] = {place_[c].first, part.empty() ? std::string_view("_") : part};
  }
}

// What was found for a token of the sentence that was decided last.
void Labeller::describe(const LabelReader& reader, std::size_t position, Answer& out) {
  out.labels.clear();
  out.marginals.clear();
  for (std::size_t n = 0; n < options_.wanted.nbest; ++n) {
    out.labels.push_back(
        n < decision_.outputs.size() ? &labels_.shown(decision_.outputs[n][position]) : nullptr);
  }
  out.scores = decision_.scores;
  if (options_.wanted.confidence) out.confidence = decision_.confidence[position];
  if (!options_.wanted.marginals) return;
  // Labels that are written alike count together.
  of_name_.assign(labels_.names.size(), 0.0);
  const std::size_t outcomes = scored_->layout.block[0].outcomes;
  for (std::size_t k = 0; k < outcomes; ++k) {
    const auto label = static_cast<std::size_t>(reader.part(position, k).label);
    of_name_[static_cast<std::size_t>(labels_.name_of[label])] +=
        decision_.probability[position * outcomes + k];
  }
  ranked_.clear();
  for (std::size_t k = 0; k < of_name_.size(); ++k) {
    if (of_name_[k] >= kLeastShown) ranked_.emplace_back(-of_name_[k], k);
  }
  std::sort(ranked_.begin(), ranked_.end());
  for (const auto& [minus, k] : ranked_) out.marginals.emplace_back(&labels_.names[k], -minus);
}

// What is written of a token besides its label.
void Labeller::write_extra(const Answer& answer) {
  extra_.clear();
  for (std::size_t n = 1; n < answer.labels.size(); ++n) {
    extra_.emplace_back("NBest" + std::to_string(n + 1),
                        answer.labels[n] ? *answer.labels[n] : std::string(kNoLabel));
  }
  for (std::size_t n = 0; options_.wanted.scores && n < answer.labels.size(); ++n) {
    extra_.emplace_back(n == 0 ? "Score" : "Score" + std::to_string(n + 1), "");
    if (n < answer.scores.size()) {
      append_number(answer.scores[n], extra_.back().second);
    } else {
      extra_.back().second = kNoLabel;
    }
  }
  if (options_.wanted.confidence) {
    extra_.emplace_back("Confidence", "");
    append_number(answer.confidence, extra_.back().second);
  }
  if (options_.wanted.marginals) {
    extra_.emplace_back("Marginals", "");
    std::string& text = extra_.back().second;
    for (const auto& [name, p] : answer.marginals) {
      if (!text.empty()) text.push_back(',');
      text.append(*name).push_back(':');
      append_number(p, text);
    }
  }
}

void Labeller::read_known(const Corpus& corpus) {
  known_.clear();
  if (!options_.known || place_.back().first >= corpus.columns().size()) return;
  known_.assign(corpus.tokens(), -1);
  std::string known;
  for (std::size_t t = 0; t < corpus.tokens(); ++t) {
    joined_label(corpus, t, options_.targets, options_.unknown, known);
    if (known == options_.unknown) continue;
    known_[t] = labels_.find(known);
    if (known_[t] < 0) {
      throw BadLine(corpus.line_number(t),
                    "the known label '" + known + "' is not one of the model's");
    }
  }
}

// Finds the labellings of a sentence, and the probabilities of its labels where they are asked for.
void Labeller::decide(const Corpus& corpus, LabelReader& reader, std::size_t s) {
  const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
  scored_ = &reader.scores(s, Purpose::kBest);
  structlearn::decide(reader, *scored_, options_.wanted, decision_);
  if (decision_.value == kMinusInfinity) {
    const bool any_known =
        !known_.empty() && std::any_of(known_.begin() + static_cast<std::ptrdiff_t>(begin),
                                       known_.begin() + static_cast<std::ptrdiff_t>(begin + L),
                                       [](std::int32_t known) { return known >= 0; });
    throw BadLine(corpus.line_number(begin),
                  any_known ? "no legal labelling of this sentence is left: the known labels "
                              "contradict the constraints"
                            : "every labelling of this sentence, which has " + std::to_string(L) +
                                  (L == 1 ? " token" : " tokens") +
                                  ", breaks a constraint or the model's scheme: change the "
                                  "constraints, or train with scheme none");
  }
  if (options_.wanted.confidence) {
    for (double& p : decision_.confidence) p = options_.certainty(p);
    if (!options_.boundaries.empty()) {
      put_chunk_confidence(options_.boundaries, reader, *scored_, labels_.name_of,
                           decision_.outputs[0], options_.wanted.temperature,
                           options_.chunk_certainty, decision_.confidence);
    }
  }
  for (Output& y : decision_.outputs) reader.to_labels(y);
}

void Labeller::begin() {
  if (corpus_.bytes() > kMostBytes) {
    corpus_.clear();
    reader_->forget();
  } else {
    corpus_.clear_tokens();
  }
}

void Labeller::answer(std::vector<Answer>& out) {
  corpus_.end_sentence();
  reader_->update();
  check_columns(corpus_, features_.columns_needed(), place_.front().first, options_.columns);
  known_.clear();
  reader_->ask({labels_.name_of, {}});
  answer_sentence(corpus_, *reader_, 0, out);
}

void Labeller::answer_sentence(const Corpus& corpus, LabelReader& reader, std::size_t s,
                               std::vector<Answer>& out) {
  decide(corpus, reader, s);
  const std::size_t L = corpus.sentence(s + 1) - corpus.sentence(s);
  for (std::size_t t = 0; t < L; ++t) describe(reader, t, out.emplace_back());
  tokens_ += L;
}

void Labeller::answer(const Corpus& corpus, std::size_t first, std::size_t last,
                      std::vector<Answer>& out) {
  check_columns(corpus, features_.columns_needed(), place_.front().first, options_.columns);
  read_known(corpus);
  const std::unique_ptr<LabelReader> reader = make_reader_(corpus);
  reader->ask({labels_.name_of, known_});
  for (std::size_t s = first; s < last; ++s) answer_sentence(corpus, *reader, s, out);
}

void Labeller::label(std::string_view text, std::size_t line, std::string& out) {
  begin();
  corpus_.set_line(line);
  const std::size_t first = place_.front().first;
  // Behind all columns there is no cell: the labels are added to the lines.
  corpus_.read(text, options_.appends ? Corpus::kNoLines - 1 : first);
  reader_->update();
  check_columns(corpus_, features_.columns_needed(), first, options_.columns);
  read_known(corpus_);
  reader_->ask({labels_.name_of, known_});
  const bool more = options_.wanted.nbest > 1 || options_.wanted.confidence ||
                    options_.wanted.marginals || options_.wanted.scores;
  std::size_t copied = 0;
  for (std::size_t s = 0; s < corpus_.sentences(); ++s) {
    const std::size_t begin = corpus_.sentence(s), L = corpus_.sentence(s + 1) - begin;
    decide(corpus_, *reader_, s);
    for (std::size_t t = 0; t < L; ++t) {
      const std::size_t from = copied;  // with blank lines, comments, ...
      copied = corpus_.lines()[begin + t].end;
      // A tab at the end of a line is an empty column for the label, which is filled.
      const bool appended = !options_.appends && first >= corpus_.columns().size();
      if (appended && corpus_.separator() == '\t' && text.substr(copied, 1) == "\t") ++copied;
      split(labels_.shown(decision_.outputs[0][t]));
      if (more) {
        describe(*reader_, t, answer_);
        write_extra(answer_);
      }
      write_token(corpus_, text, from, begin + t, cells_, extra_, options_.lone, out);
    }
  }
  out.append(text.substr(copied));
  tokens_ += corpus_.tokens();
}

}  // namespace structlearn::text
