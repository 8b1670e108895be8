// Outputs read off a forest (see lazy_kbest.hpp): the best one, and samples.
//
// `write(node, edge, y)` writes the share of an edge into the output y, which starts as `blank`.
// Edges come from the root down; of the tails of an edge the last comes first, with all below it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/elementary.hpp"
#include "numeric/random.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// For a forest that knows how to write itself.
template <class Forest>
auto writer_of(const Forest& forest) {
  return
      [&forest](std::uint64_t node, std::uint32_t edge, Output& y) { forest.write(node, edge, y); };
}

// The score of an edge with its best tails; added up as in the chart, if the forest defines that,
// or rounding would decide ties.
template <class Forest>
double edge_score(const Forest& forest, std::uint64_t node, std::uint32_t edge,
                  std::vector<std::uint64_t>& tails) {
  if constexpr (requires { forest.score(node, edge); }) {
    return forest.score(node, edge);
  } else {
    double x = forest.way(node, edge, tails);
    for (const std::uint64_t tail : tails) x += forest.best(tail);
    return x;
  }
}

// The output of the edges returned by choose(node, tails); `tails` is scratch.
template <class Forest, class Choose, class Write>
Output chosen_output(const Forest& forest, std::uint64_t root, const Output& blank, Choose&& choose,
                     Write&& write) {
  Output y = blank;
  std::vector<std::uint64_t> open{root}, tails;
  while (!open.empty()) {
    const std::uint64_t node = open.back();
    open.pop_back();
    const std::uint32_t edge = choose(node, tails);
    write(node, edge, y);
    forest.way(node, edge, tails);
    open.insert(open.end(), tails.begin(), tails.end());
  }
  return y;
}

// The best output. Back-pointers are not stored: for the output's own nodes, the first edge that
// gives the maximum is found again quickly.
template <class Forest, class Write>
Output best_output(const Forest& forest, std::uint64_t root, const Output& blank, Write&& write) {
  const auto best = [&](std::uint64_t node, std::vector<std::uint64_t>& tails) {
    std::uint32_t found = 0;
    double most = kMinusInfinity;
    for (std::uint32_t e = 0, ways = forest.ways(node); e < ways; ++e) {
      const double x = edge_score(forest, node, e, tails);
      if (x > most) {
        most = x;
        found = e;
      }
    }
    return found;
  };
  return chosen_output(forest, root, blank, best, write);
}

// n outputs sampled in proportion to exp(score / eps), from a forest whose `best` is eps log sum
// exp(score / eps), and not -inf at the root.
template <class Forest, class Write>
std::vector<Output> drawn_outputs(const Forest& forest, std::uint64_t root, double eps,
                                  std::size_t n, std::uint64_t seed, const Output& blank,
                                  Write&& write) {
  std::vector<Output> found;
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    const auto draw = [&](std::uint64_t node, std::vector<std::uint64_t>& tails) {
      double left = random.uniform();
      std::uint32_t chosen = 0;
      for (std::uint32_t e = 0, ways = forest.ways(node); e < ways && left >= 0.0; ++e) {
        const double x = edge_score(forest, node, e, tails) - forest.best(node);
        if (x == kMinusInfinity) continue;
        chosen = e;  // rounding may leave a remainder: the last possible one
        left -= elementary::exp(x / eps);
      }
      return chosen;
    };
    found.push_back(chosen_output(forest, root, blank, draw, write));
  }
  return found;
}

}  // namespace structlearn
