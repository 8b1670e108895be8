#include "structures/trees/grammar_trees.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/random.hpp"
#include "numeric/softmax.hpp"
#include "structures/hypergraph.hpp"
#include "structures/trees/grammar_chart.hpp"

namespace structlearn {
namespace {

// Items sorted by a key below `keys`, stably, and where each key begins.
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

// A node whose (x, chain, split) is to be found.
struct OpenSymbol {
  std::uint32_t i, j, symbol;
};
struct Expansion {
  std::uint32_t x, chain, split;
};

// Builds the row of an output top down: `expand(node)` says what the node is.
template <class Expand>
Output write_derivation(const Grammar& g, std::size_t n, std::uint32_t root, Expand&& expand) {
  Output y;
  y.reserve(3 * (2 * n - 1));
  std::vector<OpenSymbol> open{{0, static_cast<std::uint32_t>(n), root}};
  while (!open.empty()) {
    const OpenSymbol at = open.back();
    open.pop_back();
    const Expansion e = expand(at);
    for (const std::uint32_t x : {e.x, e.chain, e.split}) y.push_back(static_cast<int>(x));
    if (at.j - at.i > 1) {
      const auto& rule = g.binary[e.x];
      open.push_back({e.split, at.j, rule[2]});
      open.push_back({at.i, e.split, rule[1]});
    }
  }
  return y;
}

// Calls visit(i, j, x, chain) for every node of the binary tree, in preorder.
template <class Visit>
void walk_derivation(std::span<const std::int32_t> y, Visit&& visit) {
  const std::uint32_t n = static_cast<std::uint32_t>((y.size() / 3 + 1) / 2);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{0, n}};
  for (std::size_t at = 0; !open.empty() && at + 2 < y.size(); at += 3) {
    const auto [i, j] = open.back();
    open.pop_back();
    visit(i, j, static_cast<std::size_t>(y[at]), static_cast<std::size_t>(y[at + 1]));
    if (j - i > 1) {
      const std::uint32_t split = static_cast<std::uint32_t>(y[at + 2]);
      open.emplace_back(split, j);
      open.emplace_back(i, split);
    }
  }
}

}  // namespace

GrammarTrees::GrammarTrees(Grammar grammar) : grammar_(std::move(grammar)) {
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
  if (!fits(kSpan, n * (n + 1), R)) {
    throw std::invalid_argument("span must have shape (n, n + 1, " + std::to_string(R) +
                                ") to go with word");
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
  // What gave a maximum is looked up on the way down, the first that does.
  const auto first = [](double best, auto&& each, auto&& found) {
    bool open = true;
    each([&](double x, auto... what) {
      if (open && x == best) {
        open = false;
        found(what...);
      }
    });
  };
  std::uint32_t root = 0;
  first(
      value, [&](auto&& put) { chart.roots([&](std::size_t a, double x) { put(x, a); }); },
      [&](std::size_t a) { root = static_cast<std::uint32_t>(a); });
  y = write_derivation(grammar_, chart.n, root, [&](const OpenSymbol& at) {
    Expansion e{at.symbol, 0, 0};
    const double best = chart.top(at.i, at.j)[at.symbol];
    std::uint32_t below = at.symbol;
    if (chart.base(at.i, at.j)[at.symbol] != best) {
      first(
          best,
          [&](auto&& put) {
            chart.chains(at.i, at.j, [&](std::uint32_t c, double x) {
              if (top(c) == at.symbol) put(x, c);
            });
          },
          [&](std::uint32_t c) {
            e.chain = c + 1;
            below = bottom(c);
          });
    }
    e.x = below;
    if (at.j - at.i > 1) {
      first(
          chart.base(at.i, at.j)[below],
          [&](auto&& put) {
            chart.rules(at.i, at.j, [&](std::size_t k, std::uint32_t rule, double x) {
              if (grammar_.binary[rule][0] == below) put(x, k, rule);
            });
          },
          [&](std::size_t k, std::uint32_t rule) {
            e.x = rule;
            e.split = static_cast<std::uint32_t>(k);
          });
    }
    return e;
  });
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
  chart.roots([&](std::size_t a, double x) {
    const double p = chart.weight(x, value);
    mass[n * R + a] += p;
    add(kRoot, a, p);
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = n; j > i; --j) {
      const double* above = mass + (i * m + j) * R;
      if (std::all_of(above, above + R, [](double p) { return p == 0.0; })) continue;
      const double *base = chart.base(i, j), *tops = chart.top(i, j);
      const std::size_t site = (i * m + j) * R;
      for (std::size_t a = 0; a < R; ++a) {
        below[a] = above[a] > 0.0 && base[a] > kMinusInfinity
                       ? above[a] * chart.weight(base[a], tops[a])
                       : 0.0;
      }
      chart.chains(i, j, [&](std::uint32_t c, double x) {
        if (above[top(c)] == 0.0) return;
        const double p = above[top(c)] * chart.weight(x, tops[top(c)]);
        below[bottom(c)] += p;
        for (std::size_t r = grammar_.chain_ptr[c]; r < grammar_.chain_ptr[c + 1]; ++r) {
          add(kUnary, grammar_.chain_rule[r], p);
          add(kSpan, site + grammar_.unary[grammar_.chain_rule[r]][0], p);
        }
      });
      for (std::size_t a = 0; a < R; ++a) {
        if (below[a] > 0.0) add(kSpan, site + a, below[a]);
        if (j == i + 1 && below[a] > 0.0) add(kWord, i * R + a, below[a]);
      }
      if (j == i + 1) continue;
      chart.rules(i, j, [&](std::size_t k, std::uint32_t rule, double x) {
        const auto& [a, b, c] = grammar_.binary[rule];
        if (below[a] == 0.0) return;
        const double p = below[a] * chart.weight(x, base[a]);
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
  walk_derivation(y, [&](std::size_t i, std::size_t j, std::size_t x, std::size_t chain) {
    const std::size_t site = (i * m + j) * R;
    std::size_t symbol = j == i + 1 ? x : grammar_.binary[x][0];
    push(kSpan, site + symbol);
    if (j == i + 1) {
      push(kWord, i * R + symbol);
    } else {
      push(kBinary, x);
    }
    for (std::size_t r = chain ? grammar_.chain_ptr[chain - 1] : 0;
         chain && r < grammar_.chain_ptr[chain]; ++r) {
      symbol = grammar_.unary[grammar_.chain_rule[r]][0];
      push(kUnary, grammar_.chain_rule[r]);
      push(kSpan, site + symbol);
    }
    if (i == 0 && j + 1 == m) push(kRoot, symbol);
  });
}

void GrammarTrees::spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const {
  found.clear();
  walk_derivation(y, [&](std::size_t i, std::size_t j, std::size_t x, std::size_t chain) {
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
  const std::size_t n = chart.n, m = chart.m, R = chart.R;
  // One part an edge: what the edge adds to the scores of its tails.
  std::vector<std::uint32_t> head, tail_ptr{0}, tail, part_ptr{0}, part;
  std::vector<double> gain;
  struct What {
    std::uint32_t i, j, x, chain, split;
    enum { kBase, kChain, kSame, kWhole } kind;
  };
  std::vector<What> what;
  std::uint32_t nodes = 0;
  const auto edge = [&](std::uint32_t to, std::initializer_list<std::uint32_t> tails, double x,
                        const What& w) {
    head.push_back(to);
    tail.insert(tail.end(), tails);
    tail_ptr.push_back(static_cast<std::uint32_t>(tail.size()));
    part.push_back(static_cast<std::uint32_t>(gain.size()));
    gain.push_back(x);
    part_ptr.push_back(static_cast<std::uint32_t>(part.size()));
    what.push_back(w);
  };
  struct Use {
    std::uint32_t symbol, k, x;
    double gain;
  };
  std::vector<std::uint32_t> base_node(n * m * R), top_node(n * m * R);
  std::vector<Use> uses;
  const auto by_symbol = [](const Use& a, const Use& b) { return a.symbol < b.symbol; };
  for (std::uint32_t width = 1; width <= n; ++width) {
    for (std::uint32_t i = 0; i + width <= n; ++i) {
      const std::uint32_t j = i + width;
      const std::size_t at = (i * m + j) * R;
      uses.clear();
      if (width == 1) {
        chart.words(i, [&](std::size_t a, double x) {
          uses.push_back({static_cast<std::uint32_t>(a), 0, static_cast<std::uint32_t>(a), x});
        });
      } else {
        chart.rules(i, j, [&](std::size_t k, std::uint32_t rule, double x) {
          const auto& [a, b, c] = grammar_.binary[rule];
          uses.push_back({a, static_cast<std::uint32_t>(k), rule,
                          x - chart.top(i, k)[b] - chart.top(k, j)[c]});
        });
        std::stable_sort(uses.begin(), uses.end(), by_symbol);
      }
      for (std::size_t u = 0; u < uses.size(); ++u) {
        const Use& use = uses[u];
        if (u == 0 || uses[u - 1].symbol != use.symbol) base_node[at + use.symbol] = nodes++;
        const What w{i, j, use.x, 0, use.k, What::kBase};
        if (width == 1) {
          edge(base_node[at + use.symbol], {}, use.gain, w);
        } else {
          const auto& rule = grammar_.binary[use.x];
          edge(base_node[at + use.symbol],
               {top_node[(i * m + use.k) * R + rule[1]], top_node[(use.k * m + j) * R + rule[2]]},
               use.gain, w);
        }
      }
      uses.clear();
      for (std::uint32_t a = 0; a < R; ++a) {
        if (chart.base(i, j)[a] > kMinusInfinity) uses.push_back({a, a, 0, 0.0});
      }
      chart.chains(i, j, [&](std::uint32_t c, double x) {
        uses.push_back({top(c), bottom(c), c + 1, x - chart.base(i, j)[bottom(c)]});
      });
      std::stable_sort(uses.begin(), uses.end(), by_symbol);
      for (std::size_t u = 0; u < uses.size(); ++u) {
        const Use& use = uses[u];
        if (u == 0 || uses[u - 1].symbol != use.symbol) top_node[at + use.symbol] = nodes++;
        edge(top_node[at + use.symbol], {base_node[at + use.k]}, use.gain,
             {i, j, 0, use.x, 0, use.x ? What::kChain : What::kSame});
      }
    }
  }
  const std::uint32_t goal = nodes++;
  chart.roots([&](std::size_t a, double x) {
    edge(goal, {top_node[n * R + a]}, x - chart.top(0, n)[a],
         {0, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(a), 0, 0, What::kWhole});
  });
  const Hypergraph graph(nodes, gain.size(), head, tail_ptr, tail, part_ptr, part);
  std::vector<std::pair<double, Output>> result;
  std::vector<Expansion> node(n * m);
  for (const auto& [value, edges] : graph.kbest(gain.data(), most)) {
    std::fill(node.begin(), node.end(), Expansion{0, 0, 0});
    for (const std::uint32_t e : edges) {
      const What& w = what[e];
      if (w.kind == What::kBase) {
        node[w.i * m + w.j].x = w.x;
        node[w.i * m + w.j].split = w.split;
      }
      if (w.kind == What::kChain) node[w.i * m + w.j].chain = w.chain;
    }
    result.emplace_back(value, write_derivation(grammar_, n, 0, [&](const OpenSymbol& at) {
                          return node[at.i * m + at.j];
                        }));
  }
  return result;
}

std::vector<Output> GrammarTrees::sample(const Layout& layout, const Scores& scores, double eps,
                                         std::size_t count, std::uint64_t seed,
                                         Workspace& ws) const {
  const GrammarChart chart(*this, layout, scores, eps, ws);
  const double value = chart.value();
  if (value == kMinusInfinity) return {};
  std::vector<double> w;
  std::vector<std::array<std::uint32_t, 2>> options;
  std::vector<Output> result;
  for (std::size_t s = 0; s < count; ++s) {
    Random random(seed, s);
    const auto pick = [&]() { return options[draw(w.data(), w.size(), 1, random)]; };
    const auto restart = [&]() {
      w.clear();
      options.clear();
    };
    const auto offer = [&](double x, double total, std::size_t a, std::size_t b) {
      w.push_back(chart.weight(x, total));
      options.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
    };
    restart();
    chart.roots([&](std::size_t a, double x) { offer(x, value, a, 0); });
    const std::uint32_t root = pick()[0];
    result.push_back(write_derivation(grammar_, chart.n, root, [&](const OpenSymbol& at) {
      restart();
      const double above = chart.top(at.i, at.j)[at.symbol];
      const double* base = chart.base(at.i, at.j);
      if (base[at.symbol] > kMinusInfinity) offer(base[at.symbol], above, at.symbol, 0);
      chart.chains(at.i, at.j, [&](std::uint32_t c, double x) {
        if (top(c) == at.symbol) offer(x, above, bottom(c), c + 1);
      });
      const auto picked = pick();  // no structured binding: not every compiler captures one
      const std::uint32_t below = picked[0], chain = picked[1];
      if (at.j - at.i == 1) return Expansion{below, chain, 0};
      restart();
      chart.rules(at.i, at.j, [&](std::size_t k, std::uint32_t rule, double x) {
        if (grammar_.binary[rule][0] == below) offer(x, base[below], rule, k);
      });
      const auto [rule, split] = pick();
      return Expansion{rule, chain, split};
    }));
  }
  return result;
}

}  // namespace structlearn
