#include "structures/trees/grammar_trees.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "structures/forest.hpp"
#include "structures/lazy_kbest.hpp"
#include "structures/trees/constituency_view.hpp"
#include "structures/trees/grammar_chart.hpp"

namespace structlearn {
namespace {

// Items sorted stably by a key below `keys`, and the start of each key.
template <class Key>
void group(std::size_t items, std::size_t keys, Key&& key, std::vector<std::uint32_t>& order,
           std::vector<std::uint32_t>& begin) {
  begin.assign(keys + 1, 0);
  for (std::size_t i = 0; i < items; ++i) ++begin[key(i) + 1];
  for (std::size_t b = 0; b < keys; ++b) begin[b + 1] += begin[b];
  order.resize(items);
  std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < items; ++i) order[at[key(i)]++] = static_cast<std::uint32_t>(i);
}

// The chart as a forest: a symbol over a span, with the chain above it or without, and the whole. A
// word and its chain are one row of an output, so there is no node below.
class GrammarForest {
 public:
  // `best_only`: every node has one way, the first of the best.
  GrammarForest(const GrammarTrees& trees, const GrammarChart& chart, bool best_only)
      : trees_(trees), chart_(chart), best_only_(best_only), value_(chart.value()) {}

  std::uint64_t root() const { return node(kWhole, 0, chart_.n, 0); }
  double best(std::uint64_t at) const {
    const Item a = item(at);
    if (a.kind == kWhole) return value_;
    return (a.kind == kTop ? chart_.top(a.i, a.j) : chart_.base(a.i, a.j))[a.symbol];
  }
  std::uint32_t ways(std::uint64_t at) const { return static_cast<std::uint32_t>(uses(at).size()); }
  double score(std::uint64_t at, std::uint32_t e) const { return uses(at)[e].score; }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const Item a = item(at);
    const Use& use = uses(at)[e];
    tails.clear();
    if (a.kind == kWhole) tails = {node(kTop, 0, chart_.n, use.x)};
    if (a.kind == kTop && !a.word()) tails = {node(kBase, a.i, a.j, use.x)};
    if (a.kind == kBase) {
      const auto& rule = trees_.grammar().binary[use.x];
      tails = {node(kTop, use.more, a.j, rule[2]), node(kTop, a.i, use.more, rule[1])};
    }
    double gain = use.score;
    for (auto tail = tails.rbegin(); tail != tails.rend(); ++tail) gain -= best(*tail);
    return gain;
  }
  // The row of an output's node is started by the node above its chain.
  void write(std::uint64_t at, std::uint32_t e, Output& y) const {
    const Item a = item(at);
    const auto x = static_cast<std::int32_t>(uses(at)[e].x);
    const auto more = static_cast<std::int32_t>(uses(at)[e].more);
    if (a.kind == kTop) y.insert(y.end(), {x, more, 0});
    if (a.kind == kBase) {
      *(y.end() - 3) = x;
      y.back() = more;
    }
  }

 private:
  enum Kind : std::uint64_t { kBase, kTop, kWhole };
  struct Item {
    Kind kind;
    std::size_t i, j, symbol;
    bool word() const { return j == i + 1; }
  };
  // A binary rule and its split; the symbol below a chain and the chain, from 1, or 0 for none; the
  // symbol of the whole.
  struct Use {
    double score;  // with the best of its tails
    std::uint32_t x, more;
  };

  std::uint64_t node(Kind kind, std::size_t i, std::size_t j, std::size_t symbol) const {
    return ((kind * chart_.m + i) * chart_.m + j) * chart_.R + symbol;
  }
  Item item(std::uint64_t at) const {
    const std::uint64_t span = at / chart_.R, m = chart_.m;
    return {static_cast<Kind>(span / m / m), span / m % m, span % m, at % chart_.R};
  }

  // Those of a node, computed on demand.
  const std::vector<Use>& uses(std::uint64_t at) const {
    if (last_ != nullptr && last_at_ == at) return *last_;
    last_at_ = at;
    last_ = &uses_[best_only_ ? 0 : at];  // the best tree has a node once
    std::vector<Use>& list = *last_;
    if (best_only_) list.clear();
    if (!list.empty()) return list;
    const Item a = item(at);
    const auto put = [&](double score, std::size_t x, std::size_t more) {
      if (best_only_ && !list.empty() && score <= list[0].score) return;
      if (best_only_) list.clear();
      list.push_back({score, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(more)});
    };
    if (a.kind == kWhole) {
      chart_.roots([&](std::size_t symbol, double score) { put(score, symbol, 0); });
    } else if (a.kind == kBase) {
      chart_.rules(a.i, a.j, [&](std::size_t k, std::uint32_t rule, double score) {
        if (trees_.grammar().binary[rule][0] == a.symbol) put(score, rule, k);
      });
    } else {
      const double as_it_is = chart_.base(a.i, a.j)[a.symbol];
      if (as_it_is > kMinusInfinity) put(as_it_is, a.symbol, 0);
      chart_.chains(a.i, a.j, [&](std::uint32_t c, double score) {
        if (trees_.top(c) == a.symbol) put(score, trees_.bottom(c), c + 1);
      });
    }
    return list;
  }

  const GrammarTrees& trees_;
  const GrammarChart& chart_;
  bool best_only_;
  double value_;
  mutable std::unordered_map<std::uint64_t, std::vector<Use>> uses_;
  mutable std::vector<Use>* last_ = nullptr;  // the last result, and its node
  mutable std::uint64_t last_at_ = 0;
};

}  // namespace

void Grammar::close(std::size_t most) {
  constexpr std::size_t kMostChains = 1'000'000;
  std::vector<std::vector<std::uint32_t>> above(symbols);  // rules by the symbol below
  for (std::uint32_t r = 0; r < unary.size(); ++r) {
    if (unary[r][0] == unary[r][1]) {
      throw std::invalid_argument("unary rule " + std::to_string(r) + " leads from symbol " +
                                  std::to_string(unary[r][0]) + " to itself");
    }
    if (unary[r][1] < symbols) above[unary[r][1]].push_back(r);
  }
  chain_ptr = {0};
  chain_rule.clear();
  std::size_t begin = 0;  // of the chains one rule shorter
  const auto add = [&](std::span<const std::uint32_t> shorter, std::uint32_t rule) {
    const std::vector<std::uint32_t> rules(shorter.begin(), shorter.end());
    chain_rule.insert(chain_rule.end(), rules.begin(), rules.end());
    chain_rule.push_back(rule);
    chain_ptr.push_back(static_cast<std::uint32_t>(chain_rule.size()));
    if (chain_ptr.size() - 1 > kMostChains) {
      throw std::invalid_argument("the unary rules make more than " + std::to_string(kMostChains) +
                                  " chains of up to " + std::to_string(most) + "; lower max_chain");
    }
  };
  for (std::uint32_t r = 0; r < unary.size() && most > 0; ++r) add({}, r);
  for (std::size_t length = 2; length <= most; ++length) {
    const std::size_t end = chain_ptr.size() - 1;
    if (begin == end) break;  // symbols are not repeated, so chains end at some length
    for (std::size_t c = begin; c < end; ++c) {
      const auto rules = [&] {
        return std::span(chain_rule).subspan(chain_ptr[c], chain_ptr[c + 1] - chain_ptr[c]);
      };
      const std::uint32_t top = unary[rules().back()][0];
      if (top >= symbols) continue;
      for (const std::uint32_t r : above[top]) {
        const bool seen = unary[rules().front()][1] == unary[r][0] ||
                          std::any_of(rules().begin(), rules().end(), [&](std::uint32_t used) {
                            return unary[used][0] == unary[r][0];
                          });
        if (!seen) add(rules(), r);
      }
    }
    begin = end;
  }
}

GrammarTrees::GrammarTrees(Grammar grammar) : grammar_(std::move(grammar)) {
  if (grammar_.name.empty()) {
    grammar_.names = grammar_.symbols;
    grammar_.name.resize(grammar_.symbols);
    std::iota(grammar_.name.begin(), grammar_.name.end(), 0u);
  }
  const Grammar& g = grammar_;
  const auto symbol = [&](std::uint32_t a) {
    if (a >= g.symbols) {
      throw std::invalid_argument("a rule names symbol " + std::to_string(a) + "; there are " +
                                  std::to_string(g.symbols));
    }
  };
  if (g.symbols == 0) throw std::invalid_argument("a grammar has at least one symbol");
  for (const auto& rule : g.binary) std::for_each(rule.begin(), rule.end(), symbol);
  for (const auto& rule : g.unary) std::for_each(rule.begin(), rule.end(), symbol);
  if (g.chain_ptr.empty() || g.chain_ptr.front() != 0 ||
      g.chain_ptr.back() != g.chain_rule.size() ||
      !std::is_sorted(g.chain_ptr.begin(), g.chain_ptr.end())) {
    throw std::invalid_argument("the offsets of the chains do not fit their rules");
  }
  for (std::size_t c = 0; c + 1 < g.chain_ptr.size(); ++c) {
    if (g.chain_ptr[c] == g.chain_ptr[c + 1]) throw std::invalid_argument("a chain of no rules");
    for (std::size_t r = g.chain_ptr[c]; r < g.chain_ptr[c + 1]; ++r) {
      const bool known = g.chain_rule[r] < g.unary.size();
      if (!known ||
          (r > g.chain_ptr[c] && g.unary[g.chain_rule[r]][1] != g.unary[g.chain_rule[r - 1]][0])) {
        throw std::invalid_argument("a chain whose rules do not follow each other");
      }
    }
  }
  if (g.name.size() != g.symbols) throw std::invalid_argument("symbols without a name");
  for (const std::uint32_t name : g.name) {
    if (name >= g.names && name != Grammar::kNameless) throw std::invalid_argument("no such name");
  }
  added_ptr_ = {0};
  for (std::size_t c = 0; c + 1 < g.chain_ptr.size(); ++c) {
    std::vector<std::uint32_t> seen{Grammar::kNameless, g.name[bottom(c)]};
    for (std::size_t r = g.chain_ptr[c]; r < g.chain_ptr[c + 1]; ++r) {
      const std::uint32_t name = g.name[g.unary[g.chain_rule[r]][0]];
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      added_.push_back(name);
    }
    added_ptr_.push_back(static_cast<std::uint32_t>(added_.size()));
  }
  group(
      g.binary.size(), g.symbols, [&](std::size_t i) { return g.binary[i][1]; }, by_left_,
      left_begin_);
  group(
      g.chain_ptr.size() - 1, g.symbols, [&](std::size_t c) { return bottom(c); }, by_bottom_,
      bottom_begin_);
}

void GrammarTrees::check(const Layout& layout) const {
  const std::size_t n = layout.block[kWord].sites, R = grammar_.symbols;
  const auto fits = [&](std::size_t b, std::size_t sites, std::size_t outcomes) {
    const Block& block = layout.block[b];
    return !block.present || (block.sites == sites && block.outcomes == outcomes);
  };
  if (!layout.block[kWord].present || n == 0 || layout.block[kWord].outcomes != R) {
    throw std::invalid_argument("word must have shape (n, " + std::to_string(R) +
                                ") with at least one word");
  }
  if (!fits(kSpan, n * (n + 1), grammar_.names)) {
    throw std::invalid_argument("span must have shape (n, n + 1, " +
                                std::to_string(grammar_.names) + ") to go with word");
  }
  if (!fits(kBinary, 1, grammar_.binary.size()) || !fits(kUnary, 1, grammar_.unary.size()) ||
      !fits(kRoot, 1, R)) {
    throw std::invalid_argument("binary, unary and root must have shapes (" +
                                std::to_string(grammar_.binary.size()) + ",), (" +
                                std::to_string(grammar_.unary.size()) + ",) and (" +
                                std::to_string(R) + ",) to go with the grammar");
  }
}

bool GrammarTrees::reads(const Layout& layout, std::size_t block, std::size_t site) const {
  if (block != kSpan) return true;
  const std::size_t n = words_of_sites(layout.block[block].sites);
  return site / (n + 1) < site % (n + 1);
}

double GrammarTrees::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const GrammarChart chart(*this, layout, scores, 0.0, ws);
  const double value = chart.value();
  if (value == kMinusInfinity) {
    y.assign(3 * (2 * chart.n - 1), 0);
    return value;
  }
  const GrammarForest forest(*this, chart, true);
  y = best_output(forest, forest.root(), {}, writer_of(forest));
  return value;
}

double GrammarTrees::infer(const Layout& layout, const Scores& scores, double eps,
                           const Marginals& out, Workspace& ws) const {
  const GrammarChart chart(*this, layout, scores, eps, ws);
  const double value = chart.value();
  for (std::size_t b = 0; b <= kRoot; ++b) {
    if (out.block[b] != nullptr) {
      std::fill(out.block[b], out.block[b] + layout.block[b].size(), 0.0);
    }
  }
  if (value == kMinusInfinity) return value;
  const bool wanted = std::any_of(out.block.begin(), out.block.begin() + kRoot + 1,
                                  [](const double* p) { return p != nullptr; });
  if (!wanted) return value;
  const std::size_t n = chart.n, m = chart.m, R = chart.R;
  double* mass = ws.real(GrammarScratch::kMass, n * m * R + R);  // of a symbol at the top of a span
  double* below = mass + n * m * R;                              // of those under the chains
  std::fill(mass, mass + n * m * R, 0.0);
  const auto add = [&](std::size_t b, std::size_t part, double p) {
    if (out.block[b] != nullptr) out.block[b][part] += p;
  };
  // The sum of a symbol's weights: 1, except for rounding of large scores.
  std::vector<double> sum(R, 1.0);
  const auto add_up_tops = [&](std::size_t i, std::size_t j) {
    const double *base = chart.base(i, j), *tops = chart.top(i, j);
    for (std::size_t a = 0; a < R; ++a) {
      sum[a] = base[a] > kMinusInfinity ? chart.weight(base[a], tops[a]) : 0.0;
    }
    chart.chains(i, j,
                 [&](std::uint32_t c, double x) { sum[top(c)] += chart.weight(x, tops[top(c)]); });
  };
  const auto add_up_rules = [&](std::size_t i, std::size_t j) {
    std::fill(sum.begin(), sum.end(), 0.0);
    chart.rules(i, j, [&](std::size_t, std::uint32_t rule, double x) {
      const std::uint32_t a = grammar_.binary[rule][0];
      sum[a] += chart.weight(x, chart.base(i, j)[a]);
    });
  };
  double whole = 0.0;
  chart.roots([&](std::size_t, double x) { whole += chart.weight(x, value); });
  chart.roots([&](std::size_t a, double x) {
    const double p = chart.weight(x, value) / whole;
    mass[n * R + a] += p;
    add(kRoot, a, p);
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = n; j > i; --j) {
      const double* above = mass + (i * m + j) * R;
      if (std::all_of(above, above + R, [](double p) { return p == 0.0; })) continue;
      const double *base = chart.base(i, j), *tops = chart.top(i, j);
      const std::size_t site = (i * m + j) * chart.N;
      if (chart.coarse()) add_up_tops(i, j);
      for (std::size_t a = 0; a < R; ++a) {
        below[a] = above[a] > 0.0 && base[a] > kMinusInfinity
                       ? above[a] * chart.weight(base[a], tops[a]) / sum[a]
                       : 0.0;
      }
      chart.chains(i, j, [&](std::uint32_t c, double x) {
        if (above[top(c)] == 0.0) return;
        const double p = above[top(c)] * chart.weight(x, tops[top(c)]) / sum[top(c)];
        below[bottom(c)] += p;
        for (std::size_t r = grammar_.chain_ptr[c]; r < grammar_.chain_ptr[c + 1]; ++r) {
          add(kUnary, grammar_.chain_rule[r], p);
        }
        for (const std::uint32_t name : added(c)) add(kSpan, site + name, p);
      });
      for (std::size_t a = 0; a < R; ++a) {
        if (below[a] > 0.0 && grammar_.name[a] != Grammar::kNameless) {
          add(kSpan, site + grammar_.name[a], below[a]);
        }
        if (j == i + 1 && below[a] > 0.0) add(kWord, i * R + a, below[a]);
      }
      if (j == i + 1) continue;
      if (chart.coarse()) add_up_rules(i, j);
      chart.rules(i, j, [&](std::size_t k, std::uint32_t rule, double x) {
        const auto& [a, b, c] = grammar_.binary[rule];
        if (below[a] == 0.0) return;
        const double p = below[a] * chart.weight(x, base[a]) / sum[a];
        mass[(i * m + k) * R + b] += p;
        mass[(k * m + j) * R + c] += p;
        add(kBinary, rule, p);
      });
    }
  }
  return value;
}

void GrammarTrees::encode(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) const {
  const std::size_t m = layout.block[kWord].sites + 1, R = grammar_.symbols;
  const auto push = [&](std::size_t b, std::size_t part) {
    if (layout.block[b].present) {
      parts.push_back(static_cast<std::uint32_t>(layout.block[b].offset + part));
    }
  };
  walk_tree<3>(y, [&](std::size_t i, std::size_t j, const std::int32_t* row) {
    const auto x = static_cast<std::size_t>(row[0]), chain = static_cast<std::size_t>(row[1]);
    const std::size_t site = (i * m + j) * grammar_.names;
    std::size_t symbol = j == i + 1 ? x : grammar_.binary[x][0];
    if (grammar_.name[symbol] != Grammar::kNameless) push(kSpan, site + grammar_.name[symbol]);
    if (j == i + 1) {
      push(kWord, i * R + symbol);
    } else {
      push(kBinary, x);
    }
    for (std::size_t r = chain ? grammar_.chain_ptr[chain - 1] : 0;
         chain && r < grammar_.chain_ptr[chain]; ++r) {
      symbol = grammar_.unary[grammar_.chain_rule[r]][0];
      push(kUnary, grammar_.chain_rule[r]);
    }
    if (chain) {
      for (const std::uint32_t name : added(chain - 1)) push(kSpan, site + name);
    }
    if (i == 0 && j + 1 == m) push(kRoot, symbol);
  });
}

void GrammarTrees::spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const {
  found.clear();
  walk_tree<3>(y, [&](std::size_t i, std::size_t j, const std::int32_t* row) {
    const auto x = static_cast<std::size_t>(row[0]), chain = static_cast<std::size_t>(row[1]);
    const auto put = [&](std::uint32_t symbol) {
      found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                       static_cast<std::int32_t>(symbol)});
    };
    if (chain) {
      for (std::size_t r = grammar_.chain_ptr[chain]; r-- > grammar_.chain_ptr[chain - 1];) {
        put(grammar_.unary[grammar_.chain_rule[r]][0]);
      }
    }
    put(j == i + 1 ? static_cast<std::uint32_t>(x) : grammar_.binary[x][0]);
  });
}

std::vector<std::pair<double, Output>> GrammarTrees::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t most,
                                                           Workspace& ws) const {
  const GrammarChart chart(*this, layout, scores, 0.0, ws);
  const GrammarForest forest(*this, chart, false);
  return kbest_outputs(forest, forest.root(), most, {}, writer_of(forest));
}

std::vector<Output> GrammarTrees::sample(const Layout& layout, const Scores& scores, double eps,
                                         std::size_t count, std::uint64_t seed,
                                         Workspace& ws) const {
  const GrammarChart chart(*this, layout, scores, eps, ws);
  if (chart.value() == kMinusInfinity) return {};
  const GrammarForest forest(*this, chart, false);
  return drawn_outputs(forest, forest.root(), eps, count, seed, {}, writer_of(forest));
}

}  // namespace structlearn
