#include "tasks/words/lattice_scorer.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace structlearn::words {
namespace {

constexpr std::uint64_t kTextFolds = 63;
// Tags of unknown words of a pattern: so many at most, and those that have this share of them.
constexpr std::size_t kMostUnknownTags = 3;
constexpr double kLeastShare = 0.03;
// Entries that are classes of their own.
constexpr std::size_t kMostOwn = 300;

}  // namespace

void LatticeTexts::add(std::vector<std::uint32_t> points, std::string_view marks,
                       std::span<const std::uint8_t> tags) {
  const std::size_t n = points.size();
  if (marks.size() != n || (!tags.empty() && tags.size() != n)) {
    throw std::invalid_argument("a mark for each character");
  }
  // Copies of a text are in one fold, as for the features of places.
  std::uint64_t print = 1;
  for (const std::uint32_t point : points) print = text::combine(print, point);
  Text text{std::move(points),
            {marks.begin(), marks.end()},
            {tags.begin(), tags.end()},
            std::uint64_t{1} << (print % kTextFolds)};
  if (text.tags.empty()) text.tags.assign(n, 0);
  for (std::size_t i = 0; i < n;) {
    std::size_t end = i + 1;
    while (end < n && text.marks[end] == kGoesOn) ++end;
    const bool whole = text.marks[i] == kBegins && (end == n || text.marks[end] == kBegins);
    if (whole && end - i <= kLongestWord) {
      const auto begin = text.points.begin() + static_cast<std::ptrdiff_t>(i);
      Seen& seen = words_[{begin, begin + static_cast<std::ptrdiff_t>(end - i)}][text.tags[i]];
      ++seen.count;
      seen.folds |= text.fold;
    }
    i = end;
  }
  texts_.push_back(std::move(text));
}

void LatticeTexts::add_word(std::span<const std::uint32_t> word, std::uint8_t tag) {
  if (word.empty() || word.size() > kLongestWord) return;
  words_[{word.begin(), word.end()}][tag].listed = true;
}

std::vector<std::uint32_t> LatticeTexts::characters() const {
  std::set<std::uint32_t> found;
  for (const Text& text : texts_) found.insert(text.points.begin(), text.points.end());
  return {found.begin(), found.end()};
}

LatticeRules LatticeTexts::rules(std::size_t tags, std::uint32_t min_words, std::uint32_t often,
                                 unsigned whole) const {
  LatticeRules rules;
  rules.tags = tags;
  rules.whole = whole;
  // Unknown words are like those that are there once.
  std::vector<std::vector<double>> rare(kPatterns, std::vector<double>(tags, 0.0));
  std::vector<double> all(tags, 0.0);
  for (const auto& [word, ways] : words_) {
    std::uint32_t count = 0;
    for (const auto& [tag, seen] : ways) count += seen.count;
    for (const auto& [tag, seen] : ways) {
      if (tag >= tags || seen.count == 0) continue;
      all[tag] += seen.count;
      if (count == 1) ++rare[pattern_of(word)][tag];
    }
  }
  const auto usual =
      static_cast<std::uint8_t>(std::max_element(all.begin(), all.end()) - all.begin());
  for (std::size_t p = 0; p < kPatterns; ++p) {
    std::vector<std::uint8_t> order(tags);
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint8_t a, std::uint8_t b) { return rare[p][a] > rare[p][b]; });
    const double sum = std::accumulate(rare[p].begin(), rare[p].end(), 0.0);
    for (const std::uint8_t t : order) {
      if (rules.unknown[p].size() < kMostUnknownTags && rare[p][t] > kLeastShare * sum) {
        rules.unknown[p].push_back(t);
      }
    }
    if (rules.unknown[p].empty()) rules.unknown[p].push_back(usual);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> frequent;  // count, entry
  for (const auto& [word, ways] : words_) {
    const std::uint8_t pattern = pattern_of(word);
    const auto any = ways.find(kAnyTag);
    const bool listed = any != ways.end() && any->second.listed;
    std::vector<std::uint8_t> left;
    if (listed) left = rules.unknown[pattern];
    std::size_t added = 0;
    const auto add = [&, &word = word](std::uint8_t tag, const Seen& seen) {
      const bool known = seen.count >= min_words && seen.count > 0;
      if (!known && !seen.listed) return;
      if (added++ == 0) rules.trie.add(word);
      if (seen.count >= often) {
        frequent.emplace_back(seen.count, static_cast<std::uint32_t>(rules.entries()));
      }
      rules.tag.push_back(tag);
      rules.kind.push_back(rules.class_of(tag, pattern));
      rules.status.push_back(
          static_cast<std::uint8_t>((known ? kKnownWord : 0) | (seen.listed ? kListedWord : 0)));
      rules.folds.push_back(seen.folds);
    };
    for (auto [tag, seen] : ways) {
      if (tag == kAnyTag) continue;
      seen.listed = seen.listed || listed;
      add(tag, seen);
      left.erase(std::remove(left.begin(), left.end(), tag), left.end());
    }
    if (added == 0) {
      for (const std::uint8_t tag : left) add(tag, {0, 0, true});
    }
    if (added > 0) rules.first.push_back(static_cast<std::uint32_t>(rules.entries()));
  }
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  frequent.resize(std::min(frequent.size(), kMostOwn));
  for (const auto& [count, entry] : frequent) {
    rules.coarse_of_own.push_back(rules.kind[entry]);
    rules.kind[entry] = static_cast<std::uint16_t>(rules.classes() - 1);
  }
  return rules;
}

LatticeScorer::LatticeScorer(const LatticeTexts& texts, const LatticeRules& rules,
                             std::span<const std::uint32_t> characters, const Training& places,
                             bool costs)
    : places_(places), index_(rules, characters.size() + 1) {
  const Characters number(characters);
  for (const LatticeTexts::Text& text : texts.texts()) {
    const std::size_t n = text.points.size();
    std::vector<Candidate> found;
    std::vector<std::uint32_t> ends;
    ends_of_kinds(text.points, ends);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t before = found.size();
      if (!rules.inside(text.points, i)) {
        rules.candidates(text.points, ends, i, ~text.fold,
                         [&](const Candidate& c) { found.push_back(c); });
      }
      if (text.marks[i] == kGoesOn) continue;
      // What is known of the text has a path: words from one possible boundary to the next.
      Candidate own;
      own.begin = static_cast<std::uint32_t>(i);
      own.end = own.begin + 1;
      while (own.end < n && text.marks[own.end] == kGoesOn) ++own.end;
      own.pattern = pattern_of({text.points.data() + i, own.end - i});
      const bool whole =
          text.marks[i] == kBegins && (own.end == n || text.marks[own.end] == kBegins);
      own.tag = whole && text.tags[i] < rules.tags ? text.tags[i] : rules.unknown[own.pattern][0];
      own.kind = rules.class_of(own.tag, own.pattern);
      const bool there =
          std::any_of(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                      [&](const Candidate& c) { return c.end == own.end && c.tag == own.tag; });
      if (!there) found.push_back(own);
    }
    Example example{WordLattice(std::move(found), n, rules.ends()), {}, {}};
    for (const std::uint32_t point : text.points) {
      example.chars.push_back(static_cast<std::uint16_t>(number[point]));
    }
    for (const std::uint16_t kind : example.lattice.node_kind) {
      example.coarse.push_back(rules.coarse_of(kind));
    }
    add_gold(text, example.lattice, costs);
    examples_.push_back(std::move(example));
  }
}

void LatticeScorer::add_gold(const LatticeTexts::Text& text, const WordLattice& lattice,
                             bool costs) {
  const std::size_t n = text.points.size();
  const bool whole =
      std::find(text.marks.begin() + 1, text.marks.end(), kUnknown) == text.marks.end();
  // Whether nothing that is known speaks against a word.
  const auto possible = [&](const Candidate& c) {
    if (text.marks[c.begin] == kGoesOn || (c.end < n && text.marks[c.end] == kGoesOn)) return false;
    for (std::uint32_t k = c.begin + 1; k < c.end; ++k) {
      if (text.marks[k] == kBegins) return false;
    }
    return !whole || text.tags[c.begin] == c.tag;
  };
  allowed_ptr_.push_back(whole ? -1 : static_cast<std::int64_t>(allowed_.size()));
  if (whole) {
    std::vector<WordLattice::Place> places;
    for (std::uint32_t i = 0; i < n;) {
      std::uint32_t end = i + 1;
      while (end < n && text.marks[end] == kGoesOn) ++end;
      places.push_back({i, end, text.tags[i]});
      i = end;
    }
    if (!lattice.path(places, gold_)) throw std::invalid_argument("a text that has no path");
  }
  gold_ptr_.push_back(static_cast<std::int64_t>(gold_.size()));
  const std::size_t edges = lattice.shape->edges();
  edge_ptr_.push_back(edge_ptr_.back() + static_cast<std::int64_t>(edges));
  if (whole && !costs) return;
  for (std::size_t w = 0; w < lattice.words.size(); ++w) {
    const bool fine = possible(lattice.words[w]);
    const std::size_t count = lattice.edge[w + 1] - lattice.edge[w];
    if (!whole) allowed_.insert(allowed_.end(), count, fine);
    if (costs) wrong_.insert(wrong_.end(), count, whole ? (fine ? 0 : 1) : -1);
  }
  const std::size_t rest = edges - lattice.edge.back();
  if (!whole) allowed_.insert(allowed_.end(), rest, 1);
  if (costs) wrong_.insert(wrong_.end(), rest, 0);
}

Gold LatticeScorer::gold() const {
  Gold gold;
  gold.ptr = gold_ptr_;
  gold.part = gold_.data();
  if (!allowed_.empty()) {
    gold.allowed_ptr = allowed_ptr_;
    gold.allowed = allowed_.data();
  }
  return gold;
}

Cost LatticeScorer::cost() const {
  Cost cost;
  if (wrong_.empty()) return cost;
  cost.delta = delta_.data();
  cost.label = wrong_.data();
  cost.site_ptr = edge_ptr_;
  return cost;
}

template <class T>
void LatticeScorer::score_by(std::size_t i, const T* w, double scale, double* theta) const {
  const Example& x = examples_[i];
  const WordLattice& lattice = x.lattice;
  const T* own = w + places_.features();
  const std::size_t n = x.chars.size();
  std::vector<double> begins(n, 0.0);
  for (std::size_t at = 0; at < n; ++at) {
    for (const std::int32_t f : place(i, at)) begins[at] += static_cast<double>(w[f]);
  }
  const auto pair = [&](std::uint32_t before, std::uint16_t kind, std::uint16_t coarse) {
    return static_cast<double>(own[index_.pair(lattice.node_kind[before], kind)]) +
           static_cast<double>(own[index_.coarse_pair(x.coarse[before], coarse)]);
  };
  std::size_t v = 1;
  for (std::size_t k = 0; k < lattice.words.size(); ++k) {
    const Candidate& c = lattice.words[k];
    while (lattice.shape->first[v + 1] <= lattice.edge[k] && v + 1 < lattice.shape->nodes()) ++v;
    double sum = begins[c.begin];
    index_.word(c, x.chars[c.begin], x.chars[c.end - 1],
                [&](std::size_t j) { sum += static_cast<double>(own[j]); });
    for (std::uint32_t e = lattice.edge[k]; e < lattice.edge[k + 1]; ++e) {
      theta[e] = scale * (sum + pair(lattice.shape->from[e], c.kind, x.coarse[v]));
    }
  }
  const auto ends = lattice.node_kind.back();
  for (std::size_t e = lattice.edge.back(); e < lattice.shape->edges(); ++e) {
    theta[e] = scale * pair(lattice.shape->from[e], ends, ends);
  }
}

void LatticeScorer::score(std::size_t i, const Layout&, Weights w, double scale,
                          double* theta) const {
  if (w.wide) {
    score_by(i, w.wide, scale, theta);
  } else {
    score_by(i, w.narrow, scale, theta);
  }
}

void LatticeScorer::gather(std::size_t i, const Layout&, const PartVector& v, WeightEntries& out,
                           double least) const {
  const Example& x = examples_[i];
  const WordLattice& lattice = x.lattice;
  const std::size_t first = places_.features();
  std::vector<double> begins(x.chars.size(), 0.0), words(lattice.words.size(), 0.0);
  const auto add = [&](std::size_t e, double value) {
    if (value == 0.0 || std::abs(value) <= least) return;
    const std::size_t k = lattice.word_of(e);
    std::uint16_t kind = lattice.node_kind.back();
    if (k < lattice.words.size()) {
      kind = lattice.words[k].kind;
      words[k] += value;
      begins[lattice.words[k].begin] += value;
    }
    const std::uint32_t from = lattice.shape->from[e];
    const std::uint32_t head = lattice.shape->head(static_cast<std::uint32_t>(e));
    out.emplace_back(first + index_.pair(lattice.node_kind[from], kind), value);
    out.emplace_back(first + index_.coarse_pair(x.coarse[from], x.coarse[head]), value);
  };
  if (v.dense) {
    for (std::size_t e = 0; e < v.value.size(); ++e) add(e, v.value[e]);
  } else {
    for (std::size_t j = 0; j < v.index.size(); ++j) add(v.index[j], v.value[j]);
  }
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == 0.0) continue;
    const Candidate& c = lattice.words[k];
    index_.word(c, x.chars[c.begin], x.chars[c.end - 1],
                [&](std::size_t j) { out.emplace_back(first + j, words[k]); });
  }
  for (std::size_t at = 0; at < begins.size(); ++at) {
    if (begins[at] == 0.0) continue;
    for (const std::int32_t f : place(i, at)) {
      out.emplace_back(static_cast<std::size_t>(f), begins[at]);
    }
  }
}

}  // namespace structlearn::words
