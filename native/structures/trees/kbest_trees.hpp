// The k best trees from a search for the best one (Lawler 1972; for arborescences Camerini, Fratta
// & Maffioli 1980).
//
// The trees other than the best are divided into n sets: in set i, the words before i have the arcs
// of the best tree, and word i has another. The best of each set is found by the same search with
// arcs forbidden; the best of all sets is the next tree, whose set is divided in turn. k n
// searches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

struct ArcScores {
  const double* labelled;  // (n + 1, n + 1, R)
  const double* best;      // (n + 1, n + 1), of the best label
  std::size_t n, R;
};

// search(arc, heads) finds the best tree of a score matrix and returns its score. Outputs are those
// of Arborescence.
template <class Search>
std::vector<std::pair<double, Output>> kbest_trees(const ArcScores& arcs, std::size_t k,
                                                   Search&& search) {
  const std::size_t n = arcs.n, N = n + 1, R = arcs.R;
  struct Set {
    double value;
    std::size_t number;  // ties go to the set that was made first
    Output best;
    std::size_t fixed;               // words that have the arcs of `best`
    std::vector<std::size_t> taken;  // parts that the next word must not use
  };
  const auto worse = [](const Set& a, const Set& b) {
    return a.value < b.value || (a.value == b.value && a.number > b.number);
  };
  std::vector<Set> heap;
  std::vector<double> arc(N * N);
  std::size_t made = 0;

  const auto part = [&](const Output& y, std::size_t m) {
    const std::size_t site = static_cast<std::size_t>(y[m - 1]) * N + m;
    return site * R + (R > 1 ? static_cast<std::size_t>(y[n + m - 1]) : 0);
  };
  const auto push = [&](const Output& like, std::size_t fixed, std::vector<std::size_t> taken) {
    std::copy(arcs.best, arcs.best + N * N, arc.begin());
    for (std::size_t m = 1; m <= fixed; ++m) {
      for (std::size_t h = 0; h < N; ++h) arc[h * N + m] = kMinusInfinity;
      arc[part(like, m) / R] = arcs.labelled[part(like, m)];
    }
    // The best remaining label of an arc of the word after them.
    const auto free_label = [&](std::size_t site) {
      std::size_t best = R;
      for (std::size_t r = 0; r < R; ++r) {
        if (std::find(taken.begin(), taken.end(), site * R + r) != taken.end()) continue;
        if (best == R || arcs.labelled[site * R + r] > arcs.labelled[site * R + best]) best = r;
      }
      return best;
    };
    for (const std::size_t x : taken) {
      const std::size_t r = free_label(x / R);
      arc[x / R] = r == R ? kMinusInfinity : arcs.labelled[x / R * R + r];
    }
    Output y(R > 1 ? 2 * n : n, 0);
    const double value = search(arc.data(), y.data());
    if (value == kMinusInfinity) return;
    for (std::size_t m = 1; m <= n && R > 1; ++m) {
      const std::size_t site = static_cast<std::size_t>(y[m - 1]) * N + m;
      std::size_t r = 0;
      if (m <= fixed) {
        r = static_cast<std::size_t>(like[n + m - 1]);
      } else if (m == fixed + 1) {
        r = free_label(site);
      } else {
        while (r + 1 < R && arcs.labelled[site * R + r] != arcs.best[site]) ++r;
      }
      y[n + m - 1] = static_cast<std::int32_t>(r);
    }
    heap.push_back({value, made++, std::move(y), fixed, std::move(taken)});
    std::push_heap(heap.begin(), heap.end(), worse);
  };

  std::vector<std::pair<double, Output>> found;
  push({}, 0, {});
  while (!heap.empty() && found.size() < k) {
    std::pop_heap(heap.begin(), heap.end(), worse);
    Set set = std::move(heap.back());
    heap.pop_back();
    for (std::size_t m = set.fixed + 1; m <= n && found.size() + 1 < k; ++m) {
      std::vector<std::size_t> taken;
      if (m == set.fixed + 1) taken = set.taken;
      taken.push_back(part(set.best, m));
      push(set.best, m - 1, std::move(taken));
    }
    found.emplace_back(set.value, std::move(set.best));
  }
  return found;
}

}  // namespace structlearn
