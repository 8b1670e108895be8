// The core's interface to a structure: blocks of part scores go in, an output or a part vector
// comes out. No weights, no features, no loss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "structures/workspace.hpp"

namespace structlearn {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
inline constexpr std::size_t kMaxBlocks = 16;

// One block of parts: `sites` rows (positions, edges, or one row shared by all) of `outcomes`.
struct Block {
  std::size_t sites = 0;
  std::size_t outcomes = 0;
  std::size_t offset = 0;  // of its first part in the example's flat part vector
  bool present = false;
  bool anchored = false;  // one row per site, not one shared by all
  std::size_t size() const { return sites * outcomes; }
};

// The shape of an example if a few integers do not describe it: a structure that needs more derives
// from this.
struct Shape {
  virtual ~Shape() = default;
};

// The parts of one example.
struct Layout {
  std::array<Block, kMaxBlocks> block;
  std::size_t parts = 0;
  // The topology of the example (parents, edges, sides), as its structure reads it; borrowed. Empty
  // if the structure needs none.
  std::span<const std::int64_t> topology;
  std::shared_ptr<const Shape> shape;  // made by the scorer; null if the structure needs none

  void add(std::size_t b, std::size_t sites, std::size_t outcomes, bool anchored) {
    block[b] = {sites, outcomes, parts, true, anchored};
    parts += sites * outcomes;
  }
};

// One pointer per block, null if the block is absent.
struct Scores {
  std::array<const double*, kMaxBlocks> block{};
};
struct Marginals {
  std::array<double*, kMaxBlocks> block{};
  // A shared block's marginals are summed over its positions, unless requested one by one.
  bool by_position = false;
};

// Every output of an example is forbidden.
struct Infeasible : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A query without an algorithm; the message says what works instead.
struct Incapable : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// The result of a search: the score of its output, an upper bound of all scores, and whether the
// output is proven to be a best one.
struct Solved {
  double value = kMinusInfinity;
  double bound = kMinusInfinity;
  bool exact = true;
};

// A vector over parts: dense (one value per part), or a list of indices, repeats allowed.
struct PartVector {
  bool dense = false;
  std::vector<std::uint32_t> index;  // sparse only
  std::vector<double> value;

  void clear(bool as_dense) {
    dense = as_dense;
    index.clear();
    value.clear();
  }
  void add(std::size_t part, double x) {
    index.push_back(static_cast<std::uint32_t>(part));
    value.push_back(x);
  }
};

class Structure {
 public:
  virtual ~Structure() = default;

  // Throws std::invalid_argument if the blocks do not fit together.
  virtual void check(const Layout& layout) const = 0;

  // Whether any output uses the scores of this site; if not, they may be anything.
  virtual bool reads(const Layout&, std::size_t /* block */, std::size_t /* site */) const {
    return true;
  }

  // Whether all scores of a block are finite or -inf, checked at once. May be false if only unused
  // sites are bad; never true if a used one is.
  virtual bool scores_are_valid(const Layout&, std::size_t block, const double* x) const;

  // The best output and its score; -inf if none is legal. Ties go to the first label.
  virtual double argmax(const Layout&, const Scores&, Output& y, Workspace&) const = 0;

  // The same, with a certificate. Structures whose argmax may miss override it.
  virtual Solved solve(const Layout& layout, const Scores& scores, Output& y, Workspace& ws) const {
    const double value = argmax(layout, scores, y, ws);
    return {value, value, true};
  }

  // eps * log sum_y exp(score(y) / eps), eps > 0, and its gradient; -inf if no output is legal.
  virtual double infer(const Layout&, const Scores&, double eps, const Marginals&,
                       Workspace&) const = 0;

  // The entropy of P(y) ~ exp(score(y) / eps), eps > 0, in nats, in a way that stays precise for
  // large scores; nothing if there is none. Called when a difference of sums is not precise enough.
  virtual std::optional<double> exact_entropy(const Layout&, const Scores&, double /* eps */,
                                              Workspace&) const {
    return std::nullopt;
  }

  // Whether an output is legal here, if its parts alone do not determine that.
  virtual bool allows(const Layout&, std::span<const std::int32_t> /* y */) const { return true; }

  // The parts of an output, each with count one, repeats allowed.
  virtual void encode(const Layout&, std::span<const std::int32_t> y,
                      std::vector<std::uint32_t>& parts) const = 0;

  // Up to n legal outputs with their scores, best first.
  virtual std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                                       Workspace&) const = 0;

  // n outputs drawn from P(y) ~ exp(score(y) / eps); empty if none is legal.
  virtual std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                                     std::uint64_t seed, Workspace&) const = 0;
};

}  // namespace structlearn
