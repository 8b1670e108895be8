// Inference for grids, graphs and matchings. All exceptional cases (a topology that does not fit,
// invalid scores, no legal output, a method that the core does not have) are left to the fallback
// oracle.
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

// How losses above eps = 0 are computed: by sums over outputs, or an approximation.
enum class Likelihood { kExact, kPseudo, kLoopy };

struct PairwiseSettings {
  PairwiseKind kind;
  std::optional<PairMethod> method;  // none: one of the fallback oracle
  double damping = 0.0;              // of loopy messages
  Likelihood likelihood = Likelihood::kExact;
  // The gold labels of example i, for pseudo-likelihoods: [ptr[i], ptr[i + 1]). Borrowed; empty if
  // there are none; a label below 0 is unknown.
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

// Block 0 holds the pairs of rows and columns; the topology is the number of each.
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
