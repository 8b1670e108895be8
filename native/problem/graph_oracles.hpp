// Inference for grids, graphs and matchings. Whatever is out of the ordinary (a topology that does
// not fit, scores that are none, nothing legal found, a method that the core does not have) is left
// to the oracle behind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "problem/backed_oracle.hpp"
#include "structures/graphs/elimination_plans.hpp"
#include "structures/graphs/pair_search.hpp"
#include "structures/graphs/pairwise_example.hpp"

namespace structlearn {

// What losses above eps = 0 are made of: sums over outputs, or an approximation.
enum class Likelihood { kExact, kPseudo, kLoopy };

struct PairwiseSettings {
  PairwiseKind kind;
  std::optional<PairMethod> method;  // none: one that the oracle behind has
  double damping = 0.0;              // of loopy messages
  Likelihood likelihood = Likelihood::kExact;
  // The gold labels of example i, for pseudo-likelihoods: [ptr[i], ptr[i + 1]). Borrowed; empty
  // where there are none, a label below 0 is unknown.
  std::span<const std::int64_t> label_ptr, labels;
};

class PairwiseOracle final : public BackedOracle {
 public:
  PairwiseOracle(std::shared_ptr<const Oracle> behind, const PairwiseSettings&, const Scorer&);

  double infer(std::size_t, const Layout&, const double* theta, double eps, PartVector& p,
               Workspace&) const override;
  double missed(std::size_t, const Layout&, const double* theta, Workspace&) const override;
  bool gives_rows() const override { return true; }
  double argmax(std::size_t, const Layout&, const double* theta, Output& y,
                Workspace&) const override;

 private:
  bool readable(std::size_t, const Layout&, const double* theta) const;
  bool search(const PairwiseExample&, bool with_bound, PairFound&) const;
  bool sums(std::size_t, const PairwiseExample&, double eps, double& value, PartVector& p) const;

  PairwiseSettings settings_;
  std::vector<std::uint8_t> fits_;  // example by example
  mutable EliminationPlans plans_;
};

// Block 0 are the pairs of rows and columns, and the topology is how many of each there are.
class MatchingOracle final : public BackedOracle {
 public:
  using BackedOracle::BackedOracle;

  double infer(std::size_t, const Layout&, const double* theta, double eps, PartVector& p,
               Workspace&) const override;
  bool gives_rows() const override { return true; }
  double argmax(std::size_t, const Layout&, const double* theta, Output& y,
                Workspace&) const override;
};

}  // namespace structlearn
