#include "structures/chains/automaton.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace structlearn {

void Automaton::check() const {
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("an automaton " + what);
  };
  if (states == 0 || symbols == 0) fail("needs at least one state and one symbol");
  if (states > INT32_MAX) fail("has too many states");
  if (next.size() != std::max<std::size_t>(positions, 1) * states * symbols) {
    fail("of " + std::to_string(states) + " states and " + std::to_string(symbols) +
         " symbols has a table of " + std::to_string(next.size()) + " entries");
  }
  if (accepting.size() != states) fail("must say of each state whether it accepts");
  if (start >= states) fail("has no state " + std::to_string(start) + " to start from");
  for (const std::int32_t to : next) {
    if (to < -1 || to >= static_cast<std::int64_t>(states)) {
      fail("leads to the state " + std::to_string(to) + "; it has " + std::to_string(states));
    }
  }
}

bool accepts(const Automaton& a, std::span<const std::int32_t> y) {
  std::size_t state = a.start;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] < 0) continue;
    const std::int32_t to = a.rows(t)[state * a.symbols + static_cast<std::size_t>(y[t])];
    if (to < 0) return false;
    state = static_cast<std::size_t>(to);
  }
  return a.accepting[state] != 0;
}

Automaton complement(const Automaton& a) {
  Automaton c = a;
  const std::size_t tables = std::max<std::size_t>(a.positions, 1), K = a.symbols;
  const auto lost = static_cast<std::int32_t>(a.states);  // for a dead state of the other
  c.states = a.states + 1;
  c.next.assign(tables * c.states * K, lost);
  for (std::size_t t = 0; t < tables; ++t) {
    for (std::size_t j = 0; j < a.states * K; ++j) {
      const std::int32_t to = a.next[t * a.states * K + j];
      c.next[t * c.states * K + j] = to < 0 ? lost : to;
    }
  }
  for (std::uint8_t& accepts : c.accepting) accepts = !accepts;
  c.accepting.push_back(1);
  return c;
}

namespace {

// The visited pairs of states, numbered in order of their first visit.
class Pairs {
 public:
  explicit Pairs(std::size_t second) : second_(second) {}
  std::int32_t number(std::size_t a, std::size_t b) {
    const auto [at, added] =
        known_.try_emplace(a * second_ + b, static_cast<std::int32_t>(pairs_.size()));
    if (added) pairs_.emplace_back(a, b);
    return at->second;
  }
  std::size_t size() const { return pairs_.size(); }
  const std::pair<std::size_t, std::size_t>& at(std::size_t n) const { return pairs_[n]; }

 private:
  std::size_t second_;
  std::unordered_map<std::uint64_t, std::int32_t> known_;
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
};

// The successors of a pair for each label, -1 if one of the two has none.
void follow(const Automaton& a, const Automaton& b, std::size_t position,
            std::pair<std::size_t, std::size_t> from, Pairs& pairs, std::int32_t* out) {
  const std::size_t K = a.symbols;
  const std::int32_t* first = a.rows(position) + from.first * K;
  const std::int32_t* second = b.rows(position) + from.second * K;
  for (std::size_t k = 0; k < K; ++k) {
    out[k] = first[k] < 0 || second[k] < 0 ? -1
                                           : pairs.number(static_cast<std::size_t>(first[k]),
                                                          static_cast<std::size_t>(second[k]));
  }
}

// Keeps the start and the marked states, in order.
void keep(Automaton& a, std::vector<std::uint8_t>& useful) {
  useful[a.start] = 1;
  std::vector<std::int32_t> renamed(a.states, -1);
  std::int32_t kept = 0;
  for (std::size_t s = 0; s < a.states; ++s) {
    if (useful[s]) renamed[s] = kept++;
  }
  const std::size_t tables = std::max<std::size_t>(a.positions, 1), K = a.symbols;
  std::size_t out = 0;
  for (std::size_t t = 0; t < tables; ++t) {
    for (std::size_t s = 0; s < a.states; ++s) {
      if (!useful[s]) continue;
      for (std::size_t k = 0; k < K; ++k) {
        const std::int32_t to = a.next[(t * a.states + s) * K + k];
        a.next[out++] = to < 0 ? -1 : renamed[static_cast<std::size_t>(to)];
      }
    }
  }
  a.next.resize(out);
  for (std::size_t s = 0; s < a.states; ++s) {
    if (useful[s]) a.accepting[static_cast<std::size_t>(renamed[s])] = a.accepting[s];
  }
  a.accepting.resize(static_cast<std::size_t>(kept));
  a.start = static_cast<std::size_t>(renamed[a.start]);
  a.states = static_cast<std::size_t>(kept);
}

// Marks the states from which an accepting one can be reached.
std::vector<std::uint8_t> hopeful(const Automaton& a) {
  std::vector<std::uint32_t> first(a.states + 1, 0), from;
  for (const std::int32_t to : a.next) {
    if (to >= 0) ++first[static_cast<std::size_t>(to) + 1];
  }
  for (std::size_t s = 0; s < a.states; ++s) first[s + 1] += first[s];
  from.resize(first.back());
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
  for (std::size_t j = 0; j < a.next.size(); ++j) {
    if (a.next[j] >= 0) {
      from[at[static_cast<std::size_t>(a.next[j])]++] =
          static_cast<std::uint32_t>(j / a.symbols % a.states);
    }
  }
  std::vector<std::uint8_t> marked(a.accepting);
  std::vector<std::uint32_t> open;
  for (std::size_t s = 0; s < a.states; ++s) {
    if (marked[s]) open.push_back(static_cast<std::uint32_t>(s));
  }
  while (!open.empty()) {
    const std::uint32_t s = open.back();
    open.pop_back();
    for (std::uint32_t e = first[s]; e < first[s + 1]; ++e) {
      if (!marked[from[e]]) {
        marked[from[e]] = 1;
        open.push_back(from[e]);
      }
    }
  }
  return marked;
}

// The states of the product, without their transitions.
void finish(const Automaton& a, const Automaton& b, const Pairs& pairs, Automaton& c) {
  c.symbols = a.symbols;
  c.states = pairs.size();
  c.accepting.clear();
  for (std::size_t s = 0; s < c.states; ++s) {
    const auto [i, j] = pairs.at(s);
    c.accepting.push_back(a.accepting[i] && b.accepting[j]);
  }
}

// If both are the same at all positions: breadth first, down to the length of the sequences.
std::optional<Intersection> intersect_plain(const Automaton& a, const Automaton& b,
                                            const ProductLimits& limits) {
  const std::size_t K = a.symbols;
  Intersection found;
  Automaton& c = found.automaton;
  Pairs pairs(b.states);
  pairs.number(a.start, b.start);
  std::size_t level_end = 1, depth = 0;
  for (std::size_t s = 0; s < pairs.size(); ++s) {
    if (s == level_end) {
      ++depth;
      level_end = pairs.size();
    }
    c.next.resize((s + 1) * K, -1);
    if (depth >= limits.length) {
      found.complete = false;
      continue;
    }
    follow(a, b, 0, pairs.at(s), pairs, c.next.data() + s * K);
    if (pairs.size() > limits.states) return std::nullopt;
  }
  finish(a, b, pairs, c);
  return found;
}

// If one of them varies: level by level.
std::optional<Intersection> intersect_positions(const Automaton& a, const Automaton& b,
                                                const ProductLimits& limits) {
  const std::size_t K = a.symbols, L = std::max(a.positions, b.positions);
  Pairs pairs(b.states);
  pairs.number(a.start, b.start);
  std::vector<std::vector<std::int32_t>> level(L);  // the rows of the states known so far
  std::vector<std::int32_t> open{0};
  for (std::size_t t = 0; t < L; ++t) {
    level[t].assign(pairs.size() * K, -1);
    std::vector<std::uint8_t> seen;
    std::vector<std::int32_t> reached;
    if (limits.segments) {  // or the position is inside of a segment
      reached = open;
      seen.resize(pairs.size());
      for (const std::int32_t s : open) seen[static_cast<std::size_t>(s)] = 1;
    }
    for (const std::int32_t s : open) {
      std::int32_t* row = level[t].data() + static_cast<std::size_t>(s) * K;
      follow(a, b, t, pairs.at(static_cast<std::size_t>(s)), pairs, row);
      if (pairs.size() > limits.states) return std::nullopt;
      seen.resize(pairs.size());
      for (std::size_t k = 0; k < K; ++k) {
        if (row[k] < 0 || seen[static_cast<std::size_t>(row[k])]) continue;
        seen[static_cast<std::size_t>(row[k])] = 1;
        reached.push_back(row[k]);
      }
    }
    open = std::move(reached);
  }
  Intersection found;
  Automaton& c = found.automaton;
  finish(a, b, pairs, c);
  c.positions = L;
  c.next.assign(L * c.states * K, -1);
  for (std::size_t t = 0; t < L; ++t) {
    std::copy(level[t].begin(), level[t].end(),
              c.next.begin() + static_cast<std::ptrdiff_t>(t * c.states * K));
  }
  return found;
}

}  // namespace

std::optional<Intersection> intersect(const Automaton& a, const Automaton& b,
                                      const ProductLimits& limits) {
  auto found = a.positions == 0 && b.positions == 0 ? intersect_plain(a, b, limits)
                                                    : intersect_positions(a, b, limits);
  if (!found) return found;
  std::vector<std::uint8_t> useful = hopeful(found->automaton);
  keep(found->automaton, useful);
  return found;
}

Departures departures(const Automaton& a) {
  const std::size_t K = a.symbols, tables = std::max<std::size_t>(a.positions, 1);
  Departures found;
  found.label.resize(tables * K);
  for (std::size_t t = 0; t < tables; ++t) {
    for (std::size_t k = 0; k < K; ++k) {
      const std::int32_t to = a.rows(t)[a.start * K + k];
      found.label[t * K + k] = to != static_cast<std::int32_t>(a.start);
    }
  }
  if (a.positions > 0) {  // one label that leads away may be enough
    found.fewest = a.accepting[a.start] ? 1 : 0;
    return found;
  }
  // The cheapest rejected sequence, if labels of the set cost 1 and all others nothing.
  std::vector<std::uint32_t> cost(a.states, kNeverRejects);
  std::deque<std::pair<std::uint32_t, std::size_t>> open{{0, a.start}};
  cost[a.start] = 0;
  found.fewest = kNeverRejects;
  while (!open.empty()) {
    const auto [paid, s] = open.front();
    open.pop_front();
    if (paid > cost[s]) continue;
    if (!a.accepting[s]) found.fewest = std::min(found.fewest, paid);
    for (std::size_t k = 0; k < K; ++k) {
      const std::uint32_t price = found.label[k];
      const std::int32_t to = a.next[s * K + k];
      if (to < 0) {
        found.fewest = std::min(found.fewest, paid + price);
      } else if (paid + price < cost[static_cast<std::size_t>(to)]) {
        cost[static_cast<std::size_t>(to)] = paid + price;
        if (price == 0) {
          open.emplace_front(paid, static_cast<std::size_t>(to));
        } else {
          open.emplace_back(paid + price, static_cast<std::size_t>(to));
        }
      }
    }
  }
  return found;
}

}  // namespace structlearn
