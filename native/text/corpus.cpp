#include "text/corpus.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace structlearn::text {
namespace {

// A longer line is no token: some other kind of file, most likely, without line ends.
constexpr std::size_t kLongestLine = 65536;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

std::string quoted(std::string_view cell) {
  // Cut on a character's border: messages must be valid text too.
  std::size_t n = cell.size() < 40 ? cell.size() : 40;
  while (n < cell.size() && n > 0 && (static_cast<unsigned char>(cell[n]) & 0xC0) == 0x80) --n;
  return "'" + std::string(cell.substr(0, n)) + (n < cell.size() ? "...'" : "'");
}

bool is_number(std::string_view s) {
  if (s.empty()) return false;
  for (const char c : s) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// "3-4" (a multi-word token) or "3.1" (an empty node).
bool is_aside_id(std::string_view id) {
  const std::size_t at = id.find_first_of("-.");
  return at != std::string_view::npos && is_number(id.substr(0, at)) &&
         is_number(id.substr(at + 1));
}

// What may be wrong with a line of more or fewer cells, which blanks separate.
const char* guess(std::span<const std::string_view> cells, std::span<const Column> columns) {
  const bool chunk =
      chunk_label(cells.back()).prefix != 'O' && cells.back().find('-') != std::string_view::npos;
  const bool labelled = columns.size() > 1 && cells.size() > 1 && (chunk || cells.back() == "O");
  return labelled ? ". A cell with a blank in it? Then tabs have to separate the columns"
                  : ". Is this running text, one sentence on each line?";
}

}  // namespace

void Corpus::read_token(std::string_view line, std::size_t number) {
  if (line.size() > kLongestLine) {
    throw BadLine(number, "the line has " + std::to_string(line.size()) +
                              " bytes, more than a token can have (" +
                              std::to_string(kLongestLine) + "); is this a column file?");
  }
  if (separator_ == '\0') {
    const bool tab = format_ == Format::kConllu || line.find('\t') != std::string_view::npos;
    separator_ = tab ? '\t' : ' ';
  }
  cells_.clear();
  if (separator_ == '\t') {
    const char* p = line.data();
    const char* const end = p + line.size();
    while (true) {
      const char* tab = static_cast<const char*>(std::memchr(p, '\t', end - p));
      const char* stop = tab ? tab : end;
      cells_.emplace_back(p, static_cast<std::size_t>(stop - p));
      if (!tab) break;
      p = tab + 1;
    }
  } else {
    std::size_t at = 0;
    while (at < line.size()) {
      while (at < line.size() && is_blank(line[at])) ++at;
      const std::size_t begin = at;
      while (at < line.size() && !is_blank(line[at])) ++at;
      if (at > begin) cells_.push_back(line.substr(begin, at - begin));
    }
  }
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    if (cells_[c].empty()) {
      throw BadLine(number, "column " + std::to_string(c + 1) + " is empty");
    }
  }
  if (format_ == Format::kConllu) {
    if (cells_.size() != kConlluColumns) {
      throw BadLine(number, "a CoNLL-U line has 10 columns separated by tabs, this one has " +
                                std::to_string(cells_.size()));
    }
    if (is_aside_id(cells_[0])) {
      asides_.push_back({tokens(), sentences(), aside_text_.add(line)});
      return;
    }
    const std::size_t expected = tokens() - sentence_.back() + 1;
    std::size_t id = 0;
    const auto end = cells_[0].data() + cells_[0].size();
    const auto [stop, error] = std::from_chars(cells_[0].data(), end, id);
    if (error != std::errc() || stop != end || id != expected) {
      throw BadLine(number, "the first column is " + quoted(cells_[0]) + " where token " +
                                std::to_string(expected) + " of the sentence is expected");
    }
  }
  if (columns_.empty()) columns_.resize(cells_.size());
  if (cells_.size() != columns_.size()) {
    throw BadLine(number,
                  std::to_string(cells_.size()) + (cells_.size() == 1 ? " column" : " columns") +
                      " where the lines before have " + std::to_string(columns_.size()) + ": " +
                      quoted(line) + (separator_ == ' ' ? guess(cells_, columns_) : ""));
  }
  add_token(cells_, number);
}

void Corpus::add_token(std::span<const std::string_view> cells, std::size_t line) {
  if (columns_.empty()) columns_.resize(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0 && c < kept_.size() && !kept_[c]) continue;
    columns_[c].cell.push_back(columns_[c].strings.add(cells[c]));
  }
  line_.push_back(static_cast<std::uint32_t>(line));
}

void Corpus::end_sentence() {
  if (tokens() > sentence_.back()) sentence_.push_back(tokens());
}

void Corpus::read(std::string_view text, std::size_t keep_lines) {
  lines_.clear();
  if (const std::size_t bad = invalid_utf8(text); bad < text.size()) {
    std::size_t number = lines_read_ + 1;
    for (std::size_t i = 0; i < bad; ++i) number += text[i] == '\n';
    throw BadLine(number, "not valid UTF-8: convert the file to UTF-8 first");
  }
  std::size_t at = 0;
  if (lines_read_ == 0 && text.substr(0, 3) == "\xEF\xBB\xBF") at = 3;
  while (at < text.size()) {
    const void* mark = std::memchr(text.data() + at, '\n', text.size() - at);
    const std::size_t end =
        mark ? static_cast<std::size_t>(static_cast<const char*>(mark) - text.data()) : text.size();
    const std::string_view line = trimmed(text.substr(at, end - at));
    ++lines_read_;
    if (line.find('\r') != std::string_view::npos) {
      throw BadLine(lines_read_, "a carriage return inside the line: convert the line ends first");
    }
    if (line.empty()) {
      end_sentence();
    } else if (format_ == Format::kConllu && line.front() == '#') {
      asides_.push_back({tokens(), sentences(), aside_text_.add(line)});
    } else {
      const std::size_t before = tokens();
      read_token(line, lines_read_);
      if (keep_lines != kNoLines && tokens() > before) {
        Line kept{at, at + line.size(), at + line.size(), at + line.size()};
        if (keep_lines < cells_.size()) {
          const std::string_view cell = cells_[keep_lines];
          kept.cell_begin = static_cast<std::size_t>(cell.data() - text.data());
          kept.cell_end = kept.cell_begin + cell.size();
        }
        lines_.push_back(kept);
      }
    }
    at = end + 1;
  }
  end_sentence();
}

void Corpus::clear_tokens() {
  for (Column& column : columns_) column.cell.clear();
  sentence_.assign(1, 0);
  weight_.clear();
  fold_.clear();
  line_.clear();
  lines_.clear();
  asides_.clear();
  sets_.clear();
  aside_text_ = StringTable();
}

void Corpus::clear() {
  clear_tokens();
  for (Column& column : columns_) column.strings = StringTable();
}

void Corpus::add_sentence(const std::vector<std::vector<std::string_view>>& columns,
                          std::span<const std::uint32_t> lines) {
  if (columns_.empty()) columns_.resize(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const std::string_view cell : columns[c]) {
      columns_[c].cell.push_back(columns_[c].strings.add(cell));
    }
  }
  line_.insert(line_.end(), lines.begin(), lines.end());
  while (line_.size() < tokens()) line_.push_back(0);
  sentence_.push_back(tokens());
}

std::vector<LabelSet>::const_iterator first_set(const std::vector<LabelSet>& sets,
                                                std::size_t token) {
  return std::lower_bound(sets.begin(), sets.end(), token,
                          [](const LabelSet& set, std::size_t t) { return set.token < t; });
}

Corpus Corpus::subset(std::span<const std::size_t> sentences) const {
  Corpus out(format_);
  out.separator_ = separator_;
  out.kept_ = kept_;
  out.columns_.resize(columns_.size());
  for (const std::size_t s : sentences) {
    const auto before = [](const Aside& aside, std::size_t sentence) {
      return aside.sentence < sentence;
    };
    for (auto a = std::lower_bound(asides_.begin(), asides_.end(), s, before);
         a != asides_.end() && a->sentence == s; ++a) {
      out.asides_.push_back({out.line_.size() + a->token - sentence_[s], out.sentences(),
                             out.aside_text_.add(aside_text_[a->text])});
    }
    for (auto set = first_set(sets_, sentence_[s]);
         set != sets_.end() && set->token < sentence_[s + 1]; ++set) {
      out.sets_.push_back({out.line_.size() + set->token - sentence_[s], set->labels});
    }
    for (std::size_t t = sentence_[s]; t < sentence_[s + 1]; ++t) out.line_.push_back(line_[t]);
    out.sentence_.push_back(out.line_.size());
    if (!weight_.empty()) out.weight_.push_back(weight_[s]);
  }
  std::vector<std::uint32_t> number;  // of each string in its new table
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& from = columns_[c];
    if (from.cell.empty()) continue;  // not kept
    number.assign(from.strings.size(), StringTable::kAbsent);
    for (const std::size_t s : sentences) {
      for (std::size_t t = sentence_[s]; t < sentence_[s + 1]; ++t) {
        std::uint32_t& at = number[from.cell[t]];
        if (at == StringTable::kAbsent)
          at = out.columns_[c].strings.add(from.strings[from.cell[t]]);
        out.columns_[c].cell.push_back(at);
      }
    }
  }
  return out;
}

std::uint32_t copies_of(double weight) {
  return static_cast<std::uint32_t>(std::clamp(std::floor(weight + 0.5), 1.0, 4294967295.0));
}

std::vector<std::uint64_t> Corpus::counts(std::size_t column) const {
  const Column& of = columns_[column];
  std::vector<std::uint64_t> times(of.strings.size());
  for (const std::uint32_t cell : of.cell) ++times[cell];
  if (of.cell.empty() || weight_.empty()) return times;
  for (std::size_t s = 0; s < sentences(); ++s) {
    const std::uint64_t further = copies(s) - 1;
    for (std::size_t t = sentence(s); t < sentence(s + 1); ++t) times[of.cell[t]] += further;
  }
  return times;
}

std::vector<std::uint64_t> Corpus::fingerprints() const {
  std::vector<std::uint64_t> prints(sentences());
  // Words are in column 0, in CoNLL-U in column 1; use the next column if they were not kept.
  std::size_t words = format_ == Format::kConllu ? 1 : 0;
  while (words + 1 < columns_.size() && columns_[words].cell.empty()) ++words;
  for (std::size_t s = 0; s < sentences(); ++s) {
    const Column& column = columns_[words];
    std::uint64_t h = sentence_[s + 1] - sentence_[s];
    for (std::size_t t = sentence_[s]; !column.cell.empty() && t < sentence_[s + 1]; ++t) {
      h = combine(h, column.strings.hash(column.cell[t]));
    }
    prints[s] = h;
  }
  return prints;
}

std::vector<std::uint8_t> Corpus::folds() const {
  return fold_.size() == sentences() ? fold_ : folds_of(fingerprints());
}

std::vector<std::uint8_t> folds_of(std::span<const std::uint64_t> fingerprints) {
  std::vector<std::size_t> place;  // copies side by side have one
  for (std::size_t s = 0; s < fingerprints.size(); ++s) {
    const bool copied = s > 0 && fingerprints[s] == fingerprints[s - 1];
    place.push_back(s == 0 ? 0 : place.back() + !copied);
  }
  std::vector<std::uint8_t> folds;
  for (const std::size_t p : place) {
    folds.push_back(static_cast<std::uint8_t>(p * kFolds / (place.back() + 1)));
  }
  return folds;
}

ChunkLabel chunk_label(std::string_view label) {
  const std::size_t hyphen = label.find('-');
  const std::string_view prefix = label.substr(0, hyphen);
  const std::string_view type =
      hyphen == std::string_view::npos ? std::string_view() : label.substr(hyphen + 1);
  if (prefix.size() != 1) return {'O', {}};
  switch (prefix[0]) {
    case 'L':  // BILOU's names
      return {'E', type};
    case 'U':
      return {'S', type};
    case 'B':
    case 'I':
    case 'E':
    case 'S':
      return {prefix[0], type};
    default:
      return {'O', {}};
  }
}

bool chunk_ends(ChunkLabel before, ChunkLabel now) {
  if (before.prefix == 'O') return false;
  return before.prefix == 'E' || before.prefix == 'S' || now.prefix == 'O' || now.prefix == 'B' ||
         now.prefix == 'S' || before.type != now.type;
}

bool chunk_begins(ChunkLabel before, ChunkLabel now) {
  if (now.prefix == 'O') return false;
  return now.prefix == 'B' || now.prefix == 'S' || before.prefix == 'O' || before.prefix == 'E' ||
         before.prefix == 'S' || before.type != now.type;
}

void Corpus::to_sets(std::size_t column, std::string_view mark, std::string_view unknown) {
  Column& target = columns_[column];
  const std::uint32_t open = target.strings.add(unknown);
  for (std::size_t t = 0; t < target.cell.size(); ++t) {
    std::string_view text = target.strings[target.cell[t]];
    if (text == unknown || text.find(mark) == std::string_view::npos) continue;
    LabelSet set{t, {}};
    bool known = true;
    for (bool last = false; !last;) {
      const std::size_t end = text.find(mark);
      last = end == std::string_view::npos;
      const std::string_view label = text.substr(0, end);
      if (label.empty()) {
        throw BadLine(line_number(t), "'" + std::string(target.strings[target.cell[t]]) +
                                          "' is no set of labels: one of them is empty");
      }
      known = known && label != unknown;
      if (std::find(set.labels.begin(), set.labels.end(), label) == set.labels.end()) {
        set.labels.emplace_back(label);
      }
      if (!last) text.remove_prefix(end + mark.size());
    }
    if (known && set.labels.size() == 1) {
      target.cell[t] = target.strings.add(set.labels[0]);
      continue;
    }
    target.cell[t] = open;
    if (known) sets_.push_back(std::move(set));
  }
}

namespace {

// The labels in IOBES that those of a set may stand for, behind a label or (null) an unknown one.
std::vector<std::string> iobes_of(const LabelSet& set, const ChunkLabel* before) {
  std::vector<std::string> labels;
  for (const std::string& label : set.labels) {
    const ChunkLabel one = chunk_label(label);
    if (one.prefix == 'O') {
      labels.push_back(label);
      continue;
    }
    const bool begins = before != nullptr ? chunk_begins(*before, one) : one.prefix == 'B';
    const char* prefixes = begins ? "BS" : "IE";
    if (one.prefix == 'E' || one.prefix == 'S') prefixes = one.prefix == 'E' ? "E" : "S";
    for (; *prefixes != 0; ++prefixes) labels.push_back(*prefixes + label.substr(1));
  }
  return labels;
}

}  // namespace

void Corpus::to_iobes(std::size_t column, std::string_view unknown) {
  Column& target = columns_[column];
  Column made;
  std::string text;
  auto set = sets_.begin();
  for (std::size_t s = 0; s < sentences(); ++s) {
    ChunkLabel before{'O', {}};
    for (std::size_t t = sentence_[s]; t < sentence_[s + 1]; ++t) {
      const std::string_view label = target.strings[target.cell[t]];
      const bool open = t > sentence_[s] && target.strings[target.cell[t - 1]] == unknown;
      if (set != sets_.end() && set->token == t) {
        set->labels = iobes_of(*set, open ? nullptr : &before);
        ++set;
      }
      const ChunkLabel now = chunk_label(label);
      const std::string_view next =
          t + 1 < sentence_[s + 1] ? target.strings[target.cell[t + 1]] : std::string_view("O");
      const ChunkLabel after = chunk_label(next);
      const bool ended = now.prefix == 'E' || now.prefix == 'S';
      text.clear();
      if (now.prefix == 'O' || label == unknown) {
        text.append(label);
      } else if (next == unknown && t + 1 < sentence_[s + 1] && !ended) {
        text.append(unknown);
      } else {
        // After an unknown label only B- and S- begin a chunk for sure; I- is taken to go on.
        const bool begins =
            open ? now.prefix == 'B' || now.prefix == 'S' : chunk_begins(before, now);
        const bool ends = chunk_ends(now, after);
        text.push_back(begins ? (ends ? 'S' : 'B') : (ends ? 'E' : 'I'));
        if (label.find('-') != std::string_view::npos) text.append("-").append(now.type);
      }
      made.cell.push_back(made.strings.add(text));
      before = now;
    }
  }
  target = std::move(made);
}

std::size_t Corpus::bytes() const {
  std::size_t total = sentence_.capacity() * 8 + line_.capacity() * 4 + lines_.capacity() * 16;
  for (const Column& column : columns_) {
    total += column.strings.bytes() + 4 * column.cell.capacity();
  }
  return total;
}

std::size_t invalid_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t n = text.size();
  std::size_t i = 0;
  const auto follows = [&](std::size_t at, unsigned low, unsigned high) {
    return at < n && p[at] >= low && p[at] <= high;
  };
  while (i < n) {
    if (i + 8 <= n && (load_word(text.data() + i) & 0x8080808080808080ULL) == 0) {
      i += 8;
      continue;
    }
    const unsigned char c = p[i];
    if (c < 0x80) {
      i += 1;
    } else if (c >= 0xC2 && c <= 0xDF && follows(i + 1, 0x80, 0xBF)) {
      i += 2;
    } else if (c >= 0xE0 && c <= 0xEF &&
               follows(i + 1, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF) &&
               follows(i + 2, 0x80, 0xBF)) {
      i += 3;
    } else if (c >= 0xF0 && c <= 0xF4 &&
               follows(i + 1, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF) &&
               follows(i + 2, 0x80, 0xBF) && follows(i + 3, 0x80, 0xBF)) {
      i += 4;
    } else {
      return i;
    }
  }
  return n;
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

LineShape first_shape(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!trimmed(text.substr(at, end - at)).empty()) {
      Corpus first(Format::kColumns);
      try {
        first.read(text.substr(at, end - at));
      } catch (const BadLine&) {
        return {};  // whoever reads it with its number will say so
      }
      return first.shape();
    }
    at = end + 1;
  }
  return {};
}

std::size_t last_sentence_end(std::string_view text) {
  // Lines are looked at from the back; only the last few have to be.
  std::size_t end = text.rfind('\n');
  while (end != std::string_view::npos) {
    const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (trimmed(text.substr(begin, end - begin)).empty()) return end + 1;
    end = before;
  }
  return 0;
}

}  // namespace structlearn::text
