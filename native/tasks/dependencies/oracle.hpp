// Inference over the trees of a sentence's parts.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "problem/problem.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/examples.hpp"

namespace structlearn::parsing {

// What there is no inference for; the message says what works.
struct Incapable : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// eps = 0: the best label of each arc, then the best tree (decoder.hpp). eps > 0: sums over labels,
// then over trees. Arcs alone: by the matrix-tree theorem or inside and outside; pairs of them:
// over projective trees (projective_search.hpp).
class DependencyOracle final : public Oracle {
 public:
  // `iterations` of dual decomposition.
  DependencyOracle(std::shared_ptr<const ParseExamples> examples, bool projective, int iterations)
      : examples_(std::move(examples)), projective_(projective), iterations_(iterations) {}

  double infer(std::size_t i, const Layout&, const double* theta, double eps, PartVector& p,
               Workspace&) const override;
  double runner_up(std::size_t, const Layout&, const double*, std::span<const std::uint32_t>,
                   PartVector&, Workspace&) const override;
  Violation violation(std::size_t, const Layout&, const double*, std::span<const std::uint32_t>,
                      const BeamSettings&, Workspace&) const override;
  double missed(std::size_t i, const Layout&, const double* theta, Workspace&) const override;
  Inexact inexact() const override { return {inexact_, 0}; }

 private:
  // What a thread needs.
  struct Scratch {
    Decoder decoder;
    TreeSearch trees;
    ProjectiveSums pairs;
    std::vector<double> arc;
    std::vector<std::uint16_t> label;
    std::vector<std::int32_t> heads;
  };
  using Borrowed = std::unique_ptr<Scratch>;
  Borrowed borrow() const;
  void give_back(Borrowed) const;
  Decoded best(std::size_t i, const Layout&, const double* theta, Scratch&) const;
  double sums(std::size_t i, const double* theta, double eps, PartVector& p, Scratch&) const;

  std::shared_ptr<const ParseExamples> examples_;
  bool projective_;
  int iterations_;
  mutable std::mutex mutex_;
  mutable std::vector<Borrowed> free_;
  mutable std::atomic<std::size_t> inexact_{0};
};

}  // namespace structlearn::parsing
