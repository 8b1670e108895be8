#include "tasks/words/lattice_model.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/corpus.hpp"

namespace structlearn::words {
namespace {

// What a word that is wanted always adds for each of its characters but half of one: more than all
// scores of a piece of text together, so that of overlapping words the longer ones win.
constexpr double kAlwaysHalf = 1e6;

}  // namespace

LatticeModel::LatticeModel(const WordModel& places, LatticeRules rules,
                           std::span<const std::uint32_t> characters,
                           std::span<const std::int16_t> weights, double unit)
    : places_(places),
      rules_(std::move(rules)),
      characters_(characters),
      index_(rules_, characters_.size()) {
  if (weights.size() != index_.size) throw std::invalid_argument("a weight for each feature");
  pair_.resize(index_.classes * index_.classes);
  const auto value = [&](std::size_t i) { return static_cast<float>(weights[i] * unit); };
  for (std::size_t i = 0; i < index_.pairs; ++i) weight_.push_back(value(i));
  for (std::size_t a = 0; a < index_.classes; ++a) {
    for (std::size_t b = 0; b < index_.classes; ++b) {
      const auto x = static_cast<std::uint16_t>(a), y = static_cast<std::uint16_t>(b);
      pair_[b * index_.classes + a] =
          value(index_.pair(a, b)) +
          value(index_.coarse_pair(rules_.coarse_of(x), rules_.coarse_of(y)));
    }
  }
}

double LatticeModel::Wanted::of(std::uint32_t word, std::size_t length) const {
  const std::int64_t given = words->weight[word];
  if (given >= UserWords::kAlways) return kAlwaysHalf * (2.0 * static_cast<double>(length) - 1.0);
  return static_cast<double>(given) * unit;
}

void LatticeModel::prepare(const TextLine& line, Scratch& s) const {
  const std::size_t n = line.points.size();
  s.theta.resize(n);
  s.begins.resize(n);
  s.chars.resize(n);
  for (std::size_t r = 0; r + 1 < line.runs.size(); ++r) {
    const std::size_t begin = line.runs[r], end = line.runs[r + 1];
    places_.score({line.points.data() + begin, end - begin}, s.places, s.theta.data() + begin);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool forbidden = s.theta[i] == WordModel::kForbidden;
    s.begins[i] = forbidden ? 0.0 : s.theta[i] * places_.unit();
    s.chars[i] = characters_[line.points[i]];
  }
}

double LatticeModel::word(const Candidate& c, const Scratch& s) const {
  double sum = s.begins[c.begin];
  index_.word(c, s.chars[c.begin], s.chars[c.end - 1],
              [&](std::size_t j) { sum += static_cast<double>(weight_[j]); });
  return sum;
}

template <class Each>
void LatticeModel::candidates(const TextLine& line, std::size_t run, std::size_t at, Wanted wanted,
                              Scratch& s, Each&& each) const {
  const std::size_t begin = line.runs[run];
  const std::span<const std::uint32_t> points(line.points.data() + begin,
                                              line.runs[run + 1] - begin);
  const auto shift = static_cast<std::uint32_t>(begin);
  std::uint64_t left = 0;  // lengths of words that are wanted and were no candidates yet
  if (wanted.words != nullptr) {
    s.bonus.assign(kLongestWord, 0.0);
    wanted.words->trie.match(points, at - begin, [&](std::size_t end, std::uint32_t word) {
      const std::size_t length = end - (at - begin);
      s.bonus[length - 1] = wanted.of(word, length);
      left |= std::uint64_t{1} << (length - 1);
    });
  }
  if (at == begin || s.ends_of != run) {
    ends_of_kinds(points, s.ends);
    s.ends_of = run;
  }
  const bool inside = rules_.inside(points, at - begin);
  if (inside && left == 0) return;
  if (!inside) {
    rules_.candidates(points, s.ends, at - begin, ~std::uint64_t{0}, [&](Candidate c) {
      const std::size_t length = c.end - c.begin;
      double bonus = 0.0;
      if (wanted.words != nullptr && length <= kLongestWord) {
        bonus = s.bonus[length - 1];
        left &= ~(std::uint64_t{1} << (length - 1));
      }
      c.begin += shift;
      c.end += shift;
      each(c, bonus);
    });
  }
  for (std::size_t length = 1; left != 0; ++length, left >>= 1) {
    if ((left & 1) == 0) continue;
    Candidate c;
    c.begin = static_cast<std::uint32_t>(at);
    c.end = static_cast<std::uint32_t>(at + length);
    c.pattern = pattern_of(points.subspan(at - begin, length));
    c.status = kUnknownWord;
    for (const std::uint8_t tag : rules_.unknown[c.pattern]) {
      c.tag = tag;
      c.kind = rules_.class_of(tag, c.pattern);
      each(c, s.bonus[length - 1]);
    }
  }
}

void LatticeModel::cut(const TextLine& line, Wanted wanted, Scratch& s,
                       std::vector<FoundWord>& out) const {
  const std::size_t n = line.points.size();
  if (n == 0) return;
  prepare(line, s);
  if (s.nodes.size() < n + 1) s.nodes.resize(n + 1);
  for (std::size_t i = 0; i <= n; ++i) s.nodes[i].clear();
  s.ways.clear();
  s.arrive.resize(index_.classes);
  s.stamp.assign(index_.classes, 0);
  s.nodes[0].push_back({0.0, 0, 0, rules_.ends()});
  s.ways.push_back({0, 0, 0, 0});
  const auto best = [&](std::size_t at, std::size_t kind) {
    const float* row = pair_.data() + kind * index_.classes;
    std::pair<double, std::uint32_t> most{kMinusInfinity, 0};
    for (const Scratch::Node& node : s.nodes[at]) {
      const double x = node.best + static_cast<double>(row[node.kind]);
      if (x > most.first) most = {x, node.word};
    }
    return most;
  };
  std::size_t run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (line.runs[run + 1] <= i) ++run;
    if (s.nodes[i].empty()) continue;
    const auto now = static_cast<std::uint32_t>(i + 1);
    candidates(line, run, i, wanted, s, [&](const Candidate& c, double bonus) {
      if (s.stamp[c.kind] != now) {
        s.stamp[c.kind] = now;
        s.arrive[c.kind] = best(i, c.kind);
      }
      const auto [before, back] = s.arrive[c.kind];
      const double value = before + word(c, s) + bonus;
      std::vector<Scratch::Node>& nodes = s.nodes[c.end];
      auto node = nodes.begin();
      while (node != nodes.end() && node->kind != c.kind) ++node;
      if (node != nodes.end() && node->best >= value) return;
      const auto way = static_cast<std::uint32_t>(s.ways.size());
      s.ways.push_back({c.begin, c.end, c.tag, back});
      if (node == nodes.end()) {
        nodes.push_back({value, way, 0, c.kind});
      } else {
        node->best = value;
        node->word = way;
      }
    });
  }
  std::uint32_t way = best(n, rules_.ends()).second;
  const std::size_t first = out.size();
  for (; way != 0; way = s.ways[way].back) {
    out.push_back({s.ways[way].begin, s.ways[way].end, s.ways[way].tag});
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

WordLattice LatticeModel::lattice(const TextLine& line, Scratch& s,
                                  std::vector<double>& theta) const {
  const std::size_t n = line.points.size();
  prepare(line, s);
  s.found.clear();
  std::size_t run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (line.runs[run + 1] <= i) ++run;
    candidates(line, run, i, {}, s, [&](const Candidate& c, double) { s.found.push_back(c); });
  }
  WordLattice lattice(s.found, n, rules_.ends());
  theta.resize(lattice.shape->edges());
  const auto fill = [&](std::size_t first, std::size_t last, std::size_t kind, double sum) {
    const float* row = pair_.data() + kind * index_.classes;
    for (std::size_t e = first; e < last; ++e) {
      theta[e] = sum + static_cast<double>(row[lattice.node_kind[lattice.shape->from[e]]]);
    }
  };
  for (std::size_t k = 0; k < lattice.words.size(); ++k) {
    const Candidate& c = lattice.words[k];
    fill(lattice.edge[k], lattice.edge[k + 1], c.kind, word(c, s));
  }
  fill(lattice.edge.back(), lattice.shape->edges(), rules_.ends(), 0.0);
  return lattice;
}

const Scored& LatticeReader::scores(std::size_t input, Purpose) {
  lattice_.emplace(model_.lattice(lines_[input], scratch_, theta_));
  scored_ = {};
  scored_.structure = &structure_;
  scored_.layout = Lattice::layout(lattice_->shape);
  scored_.scores.block[Lattice::kEdge] = scored_.parts = theta_.data();
  return scored_;
}

void LatticeReader::to_model(Output& y) const {
  Output words;
  for (const std::int32_t e : y) {
    const std::size_t k = lattice_->word_of(static_cast<std::size_t>(e));
    if (k == lattice_->words.size()) continue;
    const Candidate& c = lattice_->words[k];
    words.push_back(static_cast<std::int32_t>(c.begin));
    words.push_back(static_cast<std::int32_t>(c.end));
    words.push_back(c.tag);
  }
  y = std::move(words);
}

bool LatticeReader::to_structure(Output& y) const {
  std::vector<WordLattice::Place> places;
  for (const Part& part : parts(y)) {
    if (part.begin < 0 || part.end < 0 || part.label < 0) return false;
    places.push_back({static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end),
                      static_cast<std::uint32_t>(part.label)});
  }
  std::vector<std::uint32_t> edges;
  if (!lattice_->path(places, edges)) return false;
  y.assign(edges.begin(), edges.end());
  return true;
}

void LatticeReader::to_names(std::vector<double>& p) const {
  std::vector<double> words(lattice_->words.size(), 0.0);
  for (std::size_t k = 0; k < words.size(); ++k) {
    for (std::uint32_t e = lattice_->edge[k]; e < lattice_->edge[k + 1]; ++e) words[k] += p[e];
  }
  p = std::move(words);
}

std::vector<Part> LatticeReader::parts(const Output& y) const {
  std::vector<Part> found;
  for (std::size_t i = 0; i + 2 < y.size(); i += 3) found.push_back({y[i], y[i + 1], y[i + 2]});
  return found;
}

Part LatticeReader::part(std::size_t site, std::size_t) const {
  const Candidate& c = lattice_->words[site];
  return {static_cast<std::int32_t>(c.begin), static_cast<std::int32_t>(c.end), c.tag};
}

std::size_t LatticeReader::find(const Part& part) const {
  for (std::size_t k = 0; k < lattice_->words.size(); ++k) {
    const Candidate& c = lattice_->words[k];
    if (static_cast<std::int32_t>(c.begin) == part.begin &&
        static_cast<std::int32_t>(c.end) == part.end && c.tag == part.label) {
      return k;
    }
  }
  return kNowhere;
}

void LatticeReader::forbid(const Scored& scored, const Part& part) const {
  const std::size_t k = find(part);
  if (k == kNowhere) return;
  for (std::uint32_t e = lattice_->edge[k]; e < lattice_->edge[k + 1]; ++e) {
    scored.parts[e] = kMinusInfinity;
  }
}

// -- files ------------------------------------------------------------------------------------

std::size_t LatticeCutter::piece(std::string_view text, bool whole, std::vector<FoundWord>& words) {
  TextLine line;
  std::vector<std::uint32_t> ends;
  text::for_characters(text, [&](std::uint32_t point, std::size_t at, std::size_t size) {
    const std::size_t before = line.points.size();
    line.add(point, static_cast<std::uint32_t>(at), model_.blanks());
    if (line.points.size() > before) ends.push_back(static_cast<std::uint32_t>(at + size));
  });
  line.end();
  words.clear();
  model_.cut(line, wanted_, scratch_, words);
  std::size_t cut = text.size();
  if (!whole) {
    const std::size_t n = line.points.size(), least = n > kBack ? n - kBack : 0;
    while (words.size() > 1 && words.back().end > least) words.pop_back();
    if (!words.empty()) cut = ends[words.back().end - 1];
  }
  for (FoundWord& word : words) {
    word.begin = line.place[word.begin];
    word.end = ends[word.end - 1];
  }
  return cut;
}

void LatticeCutter::write(std::string_view piece, std::string& out) {
  for (const FoundWord& word : words_) {
    const std::string_view written = piece.substr(word.begin, word.end - word.begin);
    if (std::all_of(written.begin(), written.end(),
                    [](char c) { return separates(static_cast<unsigned char>(c)); })) {
      continue;
    }
    if (written_) out.push_back(' ');
    for (const char c : written) out.push_back(separates(static_cast<unsigned char>(c)) ? '_' : c);
    written_ = true;
    ++found_;
  }
}

void LatticeCutter::cut(std::string_view text, bool last, std::string& out) {
  const auto check = [&](std::string_view line, bool torn) {
    const std::size_t wrong = text::invalid_utf8(line);
    if (wrong == line.size()) return line.size();
    if (torn && line.size() - wrong < 4 &&
        wrong + text::character_width(line[wrong]) > line.size()) {
      return wrong;
    }
    throw text::BadLine(lines_ + 1, "not valid UTF-8: convert the file to UTF-8 first");
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      held_.append(text);
      break;
    }
    std::string_view line = text.substr(0, end);
    if (!held_.empty()) {
      held_.append(line);
      line = held_;
    }
    check(line, false);
    while (line.size() > 2 * kMostHeld) {
      const std::string_view first = line.substr(0, check(line.substr(0, kMostHeld), true));
      const std::size_t done = piece(first, false, words_);
      write(first, out);
      line.remove_prefix(done);
    }
    piece(line, true, words_);
    write(line, out);
    out.push_back('\n');
    written_ = false;
    ++lines_;
    held_.clear();
    text.remove_prefix(end + 1);
  }
  while (held_.size() > 2 * kMostHeld) {
    const std::string_view first = std::string_view(held_).substr(
        0, check(std::string_view(held_).substr(0, kMostHeld), true));
    const std::size_t done = piece(first, false, words_);
    write(first, out);
    held_.erase(0, done);
  }
  if (!last || held_.empty()) {
    if (last) written_ = false;
    return;
  }
  check(held_, false);
  piece(held_, true, words_);
  write(held_, out);
  held_.clear();
  written_ = false;
}

void LatticeCutter::places(std::string_view text, std::vector<FoundWord>& out) {
  // From bytes to characters.
  std::size_t at = 0, count = 0, done = 0;
  const auto number = [&](std::size_t byte) {
    for (; at < byte; at += text::character_width(text[at])) ++count;
    return static_cast<std::uint32_t>(count);
  };
  while (done < text.size()) {
    std::string_view rest = text.substr(done);
    const bool whole = rest.size() <= 2 * kMostHeld;
    if (!whole) {
      std::size_t end = kMostHeld;
      while ((static_cast<unsigned char>(rest[end]) & 0xC0) == 0x80) --end;
      rest = rest.substr(0, end);
    }
    const std::size_t cut = piece(rest, whole, words_);
    for (const FoundWord& word : words_) {
      const std::string_view written = rest.substr(word.begin, word.end - word.begin);
      if (std::all_of(written.begin(), written.end(),
                      [](char c) { return separates(static_cast<unsigned char>(c)); })) {
        continue;
      }
      const std::uint32_t begin = number(done + word.begin);
      out.push_back({begin, number(done + word.end), word.tag});
    }
    done += cut;
  }
}

}  // namespace structlearn::words
