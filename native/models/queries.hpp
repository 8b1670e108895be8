// Everything that can be asked of a model, for every structure.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/reader.hpp"
#include "structures/entropy.hpp"

namespace structlearn {

using Ranked = std::vector<std::pair<double, Output>>;

// The best output; value -inf if none is legal: then y is what the reader has instead, if anything.
// The same goes for lists and draws.
Solved best(Reader&, const Scored&, Output& y);

// Up to n outputs with their scores, best first.
Ranked kbest(Reader&, const Scored&, std::size_t n);

// eps * log sum_y exp(score(y) / eps), and the probabilities of the named parts of the first block.
double marginals(Reader&, const Scored&, double eps, std::vector<double>& p);

// eps * log sum_y exp(score(y) / eps) alone; -inf if none is legal.
double log_partition(Reader&, const Scored&, double eps);

// n outputs drawn from P(y) ~ exp(score(y) / eps); empty if none is legal.
std::vector<Output> sample(Reader&, const Scored&, double eps, std::size_t n, std::uint64_t seed);

// The entropy of that distribution.
Entropy entropy(Reader&, const Scored&, double eps);

// The score of an output; -inf if the structure has no such output here.
double score(Reader&, const Scored&, Output y);

// The probability of each part of an output of the model, given the marginals; parts that are
// written alike add up. 0 for parts that are not among the scored ones.
std::vector<double> certainties(const Reader&, const Scored&, const Output& y,
                                const std::vector<double>& p);

// For each part of the first block that the best output has: the best output that has no part
// written alike at its site, and by how much its score is less; empty, with the margin inf, if
// there is none.
Ranked rivals(Reader&, const Scored&);

}  // namespace structlearn
