// A fast model that says which heads a word may have: P(h | m) by a softmax over few features. Only
// arcs that it leaves are looked at closely (as in Martins et al. 2013; Koo & Collins 2010 prune by
// marginals).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/tokens.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

struct PruneOptions {
  std::uint32_t most = 10;  // heads a word
  double least = 1e-3;      // probability, relative to the best head's
};

class Pruner {
 public:
  Pruner(Table table, PruneOptions options, bool projective)
      : table_(table), options_(options), tree_(projective) {}

  // The candidates of a sentence. Those of the best tree are always among them, so that there is
  // one; and the gold ones where given.
  void prune(const Sentence&, Candidates&, std::span<const std::int32_t> gold = {});
  // Log-probabilities of the heads 0..n of a word.
  void score(const Sentence&, int m, double* out);

 private:
  Table table_;
  PruneOptions options_;
  TreeSearch tree_;
  std::vector<double> log_p_;
  std::vector<std::int32_t> best_;
  std::vector<std::pair<double, int>> ranked_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> end_;
};

// Learns the weights by AdaGrad, sentence by sentence in the order given; false: interrupted.
bool learn_pruner(std::span<const Sentence> sentences,
                  std::span<const std::vector<std::int32_t>> heads,
                  std::span<const std::uint32_t> order, std::span<float> weight,
                  std::span<float> squares, double rate, Interrupt&);

}  // namespace structlearn::parsing
