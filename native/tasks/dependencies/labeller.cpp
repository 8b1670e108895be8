#include "tasks/dependencies/labeller.hpp"

#include <charconv>

#include "models/queries.hpp"

namespace structlearn::parsing {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of strings, before they are forgotten
constexpr std::array<std::size_t, 3> kTagColumns = {kUpos, kXpos, kFeats};

void append(std::size_t number, std::string& out) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace

ParseLabeller::ParseLabeller(const ParserModel& model, std::array<ColumnTagger, 3> taggers,
                             text::Format format, ParseOptions options)
    : model_(model),
      taggers_(taggers),
      conllu_(format == text::Format::kConllu),
      options_(std::move(options)),
      corpus_(text::Format::kConllu),
      words_(text::Format::kColumns),
      reader_(model, corpus_, tags_, options_.lemmas) {
  for (std::size_t c = 0; c < 3; ++c) {
    const ColumnTagger& t = taggers_[c];
    if (!t.model) continue;
    tagging_[c] = std::make_unique<text::TaggerReader>(*t.model, corpus_);
    std::vector<std::string> names;
    for (const std::int32_t k : t.names->name_of) {
      names.push_back(t.names->names[static_cast<std::size_t>(k)]);
    }
    tags_[c] = tag_column(names, {});
  }
}

void ParseLabeller::write(std::string_view text, std::size_t token, std::size_t position,
                          std::string& out) {
  std::array<std::string_view, 10> cells;
  cells.fill("_");
  if (conllu_) {
    const text::Line& line = corpus_.lines()[token];
    std::string_view rest = text.substr(line.begin, line.end - line.begin);
    for (std::string_view& cell : cells) {
      const std::size_t tab = rest.find('\t');
      cell = rest.substr(0, tab);
      rest = tab == std::string_view::npos ? std::string_view() : rest.substr(tab + 1);
    }
  } else {
    const text::Column& words = corpus_.columns()[kForm];
    cells[kForm] = words.strings[words.cell[token]];
  }
  for (std::size_t c = 0; c < 3; ++c) {
    if (taggers_[c].model) {
      cells[kTagColumns[c]] =
          taggers_[c].names->shown(static_cast<std::int32_t>(tags_[c].cell[token]));
    }
  }
  cells[8] = "_";  // the graph of the input does not go with the tree
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out.push_back('\t');
    if (i == 0) {
      append(position, out);
    } else if (i == kHead) {
      append(static_cast<std::size_t>(tree_[position - 1]), out);
    } else if (i == kDeprel) {
      out.append(model_.labels()[static_cast<std::size_t>(tree_[tree_.size() / 2 + position - 1])]);
    } else {
      out.append(cells[i]);
    }
  }
  if (options_.confidence) {
    std::pair<std::string, std::string> said("Confidence", "");
    text::append_number(options_.certainty(confidence_[position - 1]), said.second);
    text::append_misc({&said, 1}, out);
  }
}

namespace {

// The reader of tokens does so too, but does not know the lines of a column file.
void check_lengths(const text::Corpus& corpus) {
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    const std::size_t begin = corpus.sentence(s), n = corpus.sentence(s + 1) - begin;
    if (n <= TokenReader::kMostWords) continue;
    throw text::BadLine(corpus.line_number(begin), "a sentence of " + std::to_string(n) +
                                                       " words, more than a parser takes (" +
                                                       std::to_string(TokenReader::kMostWords) +
                                                       "): split it");
  }
}

}  // namespace

// The words of a column file become a corpus of CoNLL-U with nothing else in it.
void ParseLabeller::read(std::string_view text, std::size_t line) {
  if (conllu_) {
    corpus_.set_line(line);
    corpus_.read(text, kHead);
    check_lengths(corpus_);
    return;
  }
  words_.clear_tokens();
  words_.set_line(line);
  words_.read(text);
  check_lengths(words_);
  std::vector<std::vector<std::string_view>> columns(10);
  for (std::size_t s = 0; s < words_.sentences(); ++s) {
    for (auto& column : columns) column.clear();
    for (std::size_t t = words_.sentence(s); t < words_.sentence(s + 1); ++t) {
      const text::Column& forms = words_.columns()[0];
      for (std::size_t c = 0; c < columns.size(); ++c) {
        columns[c].push_back(c == kForm ? forms.strings[forms.cell[t]] : std::string_view("_"));
      }
    }
    corpus_.add_sentence(columns);
  }
}

// A parser that learned on tags would guess without a word of warning where there are none.
void ParseLabeller::check_tags() const {
  if (const auto s = untagged_sentence(corpus_)) {
    throw text::BadLine(corpus_.line_number(corpus_.sentence(*s)),
                        "no word of this sentence has a tag (UPOS or XPOS), and tags are to be "
                        "read: tag the text first, or take a parser that was trained without "
                        "--gold-tags and leave that option out");
  }
}

// Finds the tree of a sentence, and the probabilities of its arcs where they are asked for.
void ParseLabeller::parse(std::size_t s) {
  if (best(reader_, reader_.scores(s, Purpose::kBest), tree_).value == kMinusInfinity) {
    throw text::BadLine(corpus_.line_number(corpus_.sentence(s)),
                        "the parser has no tree for this sentence");
  }
  if (!options_.confidence) return;
  const Scored& summed = reader_.scores(s, Purpose::kSums);
  marginals(reader_, summed, options_.temperature, probability_);
  confidence_ = certainties(reader_, summed, tree_, probability_);
}

void ParseLabeller::label(std::string_view text, std::size_t line, std::string& out) {
  if (corpus_.bytes() > kMostBytes) {
    corpus_.clear();
    words_.clear();
    reader_.forget();
    for (auto& tagging : tagging_) {
      if (tagging) tagging->forget();
    }
  } else {
    corpus_.clear_tokens();
  }
  read(text, line);
  if (corpus_.tokens() == 0) {
    out.append(conllu_ ? text : std::string_view());
    return;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    if (!taggers_[c].model) {
      if (!conllu_) {
        throw text::BadLine(
            words_.line_number(0),
            "words alone have no tags to be read: this takes a model with taggers, and no "
            "--gold-tags");
      }
      tags_[c] = tag_column(corpus_, kTagColumns[c]);
      if (kTagColumns[c] == kXpos) check_tags();
      continue;
    }
    tagging_[c]->update();
    tags_[c].cell.clear();
    for (std::size_t s = 0; s < corpus_.sentences(); ++s) {
      const Scored& scored = tagging_[c]->scores(s, Purpose::kBest);
      if (best(*tagging_[c], scored, labels_).value == kMinusInfinity) {
        throw text::BadLine(corpus_.line_number(corpus_.sentence(s)),
                            "the tagger has no legal tags for this sentence");
      }
      for (const std::int32_t k : labels_) tags_[c].cell.push_back(static_cast<std::uint32_t>(k));
    }
  }
  std::size_t copied = 0;
  for (std::size_t s = 0; s < corpus_.sentences(); ++s) {
    const std::size_t begin = corpus_.sentence(s), end = corpus_.sentence(s + 1);
    parse(s);
    for (std::size_t t = begin; t < end; ++t) {
      if (conllu_) {
        const text::Line& at = corpus_.lines()[t];
        out.append(text.substr(copied, at.begin - copied));  // blank lines, comments, ...
        copied = at.end;
      }
      write(text, t, t - begin + 1, out);
      if (!conllu_) out.push_back('\n');
    }
    if (!conllu_) out.push_back('\n');
  }
  if (conllu_) out.append(text.substr(copied));
  tokens_ += corpus_.tokens();
}

}  // namespace structlearn::parsing
