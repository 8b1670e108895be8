#include "tasks/words/lattice.hpp"

namespace structlearn::words {

std::uint8_t pattern_of(std::span<const std::uint32_t> word) {
  const Script first = script_of(word[0]);
  std::size_t i = 1;
  while (i < word.size() && script_of(word[i]) == first) ++i;
  if (i == word.size()) return first;
  if (first != kHan) return kMixed;
  while (i < word.size() && script_of(word[i]) == kHiragana) ++i;
  return static_cast<std::uint8_t>(i == word.size() ? kHanHiragana : kMixed);
}

void ends_of_kinds(std::span<const std::uint32_t> run, std::vector<std::uint32_t>& ends) {
  ends.resize(run.size());
  for (std::size_t i = run.size(); i-- > 0;) {
    const bool last = i + 1 == run.size() || script_of(run[i + 1]) != script_of(run[i]);
    ends[i] = last ? static_cast<std::uint32_t>(i + 1) : ends[i + 1];
  }
}

std::size_t number_end(std::span<const std::uint32_t> run, std::size_t begin) {
  const auto digit = [&](std::size_t i) { return i < run.size() && script_of(run[i]) == kDigit; };
  const auto joins = [&](std::size_t i) {
    const std::uint32_t p = i < run.size() ? run[i] : 0;
    return p == '.' || p == ',' || p == '/' || p == 0xFF0E || p == 0xFF0C || p == 0xFF0F;
  };
  std::size_t end = begin + 1;
  while (end - begin < kLongestWord && (digit(end) || (joins(end) && digit(end + 1)))) ++end;
  return end;
}

void LatticeRules::check() const {
  const std::size_t n = entries();
  bool fine = tags >= 1 && tags < 255 && classes() < 65536 && first.size() == trie.size() + 1 &&
              first.front() == 0 && first.back() == n &&
              std::is_sorted(first.begin(), first.end()) && status.size() == n &&
              kind.size() == n && unknown.size() == kPatterns;
  for (std::size_t e = 0; fine && e < n; ++e) {
    fine = tag[e] < tags && status[e] < 4 && kind[e] < classes() && kind[e] != ends();
  }
  for (const auto& row : unknown) {
    fine = fine && !row.empty();
    for (const std::uint8_t t : row) fine = fine && t < tags;
  }
  for (const std::uint16_t k : coarse_of_own) fine = fine && k < coarse();
  if (!fine) throw std::invalid_argument("the rules of the lattice do not fit together");
}

WordLattice::WordLattice(std::vector<Candidate> found, std::size_t n, std::uint16_t ends)
    : words(std::move(found)) {
  std::sort(words.begin(), words.end(), [](const Candidate& a, const Candidate& b) {
    if (a.end != b.end) return a.end < b.end;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.begin != b.begin ? a.begin < b.begin : a.tag < b.tag;
  });
  auto made = std::make_shared<LatticeShape>();
  node.assign(n + 2, 0);
  node[0] = 0;
  node_kind.push_back(ends);
  made->first = {0, 0};
  std::size_t w = 0;
  for (std::size_t at = 1; at <= n; ++at) {
    node[at] = static_cast<std::uint32_t>(node_kind.size());
    while (w < words.size() && words[w].end == at) {
      const std::uint16_t kind = words[w].kind;
      for (; w < words.size() && words[w].end == at && words[w].kind == kind; ++w) {
        edge.push_back(static_cast<std::uint32_t>(made->from.size()));
        const std::uint32_t begin = words[w].begin;
        for (std::uint32_t v = node[begin]; v < node[begin + 1]; ++v) made->from.push_back(v);
      }
      node_kind.push_back(kind);
      made->first.push_back(static_cast<std::uint32_t>(made->from.size()));
    }
    node[at + 1] = static_cast<std::uint32_t>(node_kind.size());
  }
  edge.push_back(static_cast<std::uint32_t>(made->from.size()));
  for (std::uint32_t v = node[n]; v < node[n + 1]; ++v) made->from.push_back(v);
  made->first.push_back(static_cast<std::uint32_t>(made->from.size()));
  node_kind.push_back(ends);
  shape = std::move(made);
}

bool WordLattice::path(std::span<const Place> places, std::vector<std::uint32_t>& edges) const {
  std::uint32_t at = 0, before = 0;  // the end of the last word, and its node
  for (const Place& p : places) {
    if (p.begin != at || p.end <= at || p.end + 1 >= node.size()) return false;
    const auto first =
        std::lower_bound(words.begin(), words.end(), p.end,
                         [](const Candidate& c, std::uint32_t end) { return c.end < end; });
    auto c = first;
    while (c != words.end() && c->end == p.end && (c->begin != p.begin || c->tag != p.tag)) ++c;
    if (c == words.end() || c->end != p.end) return false;
    edges.push_back(edge[static_cast<std::size_t>(c - words.begin())] + before - node[at]);
    at = p.end;
    before = node[at];
    while (node_kind[before] != c->kind) ++before;
  }
  if (at + 2 != node.size()) return false;
  edges.push_back(edge.back() + before - node[at]);
  return true;
}

}  // namespace structlearn::words
