// Sums over trees, computed in doubles and, if those get too small, again in wide numbers.
//
// A Chart has settle(value): the sum, -inf if there is no tree; marginals(p...): probabilities;
// both return false if its numbers are too small. And draw(random): a sampled tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/random.hpp"
#include "numeric/sum_numbers.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// `wanted`: whether to compute probabilities, into p.
template <class Chart, class... P>
bool try_sum(Chart chart, double* value, bool wanted, P*... p) {
  return chart.settle(value) && (!wanted || *value == kMinusInfinity || chart.marginals(p...));
}

template <class Chart>
bool try_draw(Chart chart, std::size_t count, std::uint64_t seed, std::vector<Output>* drawn) {
  double value;
  if (!chart.settle(&value)) return false;
  for (std::size_t s = 0; s < count && value > kMinusInfinity; ++s) {
    Random random(seed, s);
    drawn->push_back(chart.draw(random));
  }
  return true;
}

// An index below `count` in proportion to its term; the terms add up to `total`. `last` if all are
// 0.
template <class T, class Term>
std::size_t choose(std::size_t count, T total, std::size_t last, Random& random, Term&& term) {
  double left = random.uniform();
  for (std::size_t x = 0; x < count; ++x) {
    const T weight = term(x);
    if (is_zero(weight)) continue;
    last = x;
    const double share = as_double(weight / total);
    if (left < share) return x;
    left -= share;
  }
  return last;
}

}  // namespace structlearn
