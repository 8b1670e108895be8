// Examples with features, gold outputs and a cost: everything that a learner needs.
//
// The one loss, for example i:  L = infer(theta + margin c, eps).value + margin c0 - clamp, with
// clamp = <theta, mu(gold)>, or, if labels are unknown, the same infer at margin 0 with the
// excluded labels at -inf. Its gradient over parts is p - p_clamp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "numeric/parallel.hpp"
#include "scoring/scorer.hpp"
#include "structures/beam.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// The number of inference calls at eps = 0 that returned no best output: one that scores no more
// (`under`), or parts that score at least as much without being an output (`over`).
struct Inexact {
  std::size_t under = 0, over = 0;
};

// Inference for example i of a problem, by any implementation.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // eps = 0: the score of the best output, its parts as a sparse vector; eps > 0: dense marginals.
  virtual double infer(std::size_t example, const Layout&, const double* theta, double eps,
                       PartVector& p, Workspace&) const = 0;
  // The best output that is not the given one; -inf if there is none.
  virtual double runner_up(std::size_t example, const Layout&, const double* theta,
                           std::span<const std::uint32_t> excluded, PartVector& p,
                           Workspace&) const = 0;
  // The violation of a beam search on the way to the output with the given parts: see beam.hpp.
  virtual Violation violation(std::size_t example, const Layout&, const double* theta,
                              std::span<const std::uint32_t> gold, const BeamSettings&,
                              Workspace&) const = 0;
  virtual bool threads_allowed() const { return true; }
  // The number of inexact calls so far, and how much infer at eps = 0 may be too small here, at
  // most; infinity if unknown.
  virtual Inexact inexact() const { return {}; }
  virtual double missed(std::size_t /* example */, const Layout&, const double* /* theta */,
                        Workspace&) const {
    return 0.0;
  }
  // The best output as a row of integers, and its score, if this oracle supports such rows.
  virtual bool gives_rows() const { return false; }
  virtual double argmax(std::size_t example, const Layout&, const double* theta, Output& y,
                        Workspace&) const;
};

class StructureOracle final : public Oracle {
 public:
  explicit StructureOracle(std::shared_ptr<const Structure> s) : structure_(std::move(s)) {}
  double infer(std::size_t, const Layout&, const double* theta, double eps, PartVector& p,
               Workspace&) const override;
  double runner_up(std::size_t, const Layout&, const double* theta,
                   std::span<const std::uint32_t> excluded, PartVector& p,
                   Workspace&) const override;
  Violation violation(std::size_t, const Layout&, const double* theta,
                      std::span<const std::uint32_t> gold, const BeamSettings&,
                      Workspace&) const override;
  Inexact inexact() const override { return {inexact_, 0}; }
  double missed(std::size_t, const Layout&, const double* theta, Workspace&) const override;
  bool gives_rows() const override { return true; }
  double argmax(std::size_t, const Layout& layout, const double* theta, Output& y,
                Workspace& ws) const override;
  const Structure& structure() const { return *structure_; }

 private:
  std::shared_ptr<const Structure> structure_;
  mutable std::atomic<std::size_t> inexact_{0};
};

Scores scores_of(const Layout&, const double* theta);

// The gold outputs. Pointers are borrowed.
struct Gold {
  std::span<const std::int64_t> ptr;  // parts of example i: [ptr[i], ptr[i+1]), empty if partial
  const std::uint32_t* part = nullptr;
  // Partial labels: if allowed_ptr[i] >= 0, one byte per part of block 0 from there on.
  std::span<const std::int64_t> allowed_ptr;
  const std::uint8_t* allowed = nullptr;
  // The amount of each part, if not one: a completion by probabilities.
  const double* value = nullptr;
};

// The cost of an output, affine in its parts, or zero-one. Pointers are borrowed.
struct Cost {
  bool zero_one = false;
  // c[s, k] = weight_s * delta[label_s, k] on block 0; label -1: unknown, no cost.
  const double* delta = nullptr;
  const std::int32_t* label = nullptr;     // one per site of block 0
  std::span<const std::int64_t> site_ptr;  // sites of example i: [site_ptr[i], site_ptr[i+1])
  const double* site_weight = nullptr;
  // Or given part by part, with a constant per example.
  std::span<const std::int64_t> ptr;
  const std::uint32_t* part = nullptr;
  const double* value = nullptr;
  const double* constant = nullptr;
};

struct LossResult {
  double loss = 0.0;
  double cost = 0.0;     // margin * cost of the output found; eps > 0: its expectation under p
  bool changed = false;  // the gradient is not zero
  bool other = false;    // the output found is not the gold one, although its parts may be the same
  bool valid = true;     // the output found does not score less than the gold one
  // The scores without the cost, in the workspace: valid until its next use.
  const double* scores = nullptr;
};

class Problem {
 public:
  Problem(std::shared_ptr<const Scorer> scorer, std::shared_ptr<const Oracle> oracle, Gold gold,
          Cost cost, std::span<const double> sample_weight);

  std::size_t examples() const { return scorer_->examples(); }
  std::size_t weights() const { return scorer_->weights(); }
  const Scorer& scorer() const { return *scorer_; }
  const Oracle& oracle() const { return *oracle_; }
  double sample_weight(std::size_t i) const {
    return sample_weight_.empty() ? 1.0 : sample_weight_[i];
  }

  // The loss of example i at scale * w (its weight not multiplied in) and its gradient over parts.
  LossResult loss(std::size_t i, const Layout&, Weights w, double scale, double margin, double eps,
                  PartVector& gradient, Workspace&) const;

  // The violation of a beam search over theta + margin c, eps = 0: the loss is how much its prefix
  // outscores the gold one, the gradient the difference of their parts. Needs every label.
  LossResult beam_loss(std::size_t i, const Layout&, Weights w, double scale, double margin,
                       const BeamSettings&, PartVector& gradient, Workspace&) const;

  // infer(theta + margin c, eps) of example i: value without constants, and p.
  double infer(std::size_t i, const Layout&, Weights w, double margin, double eps, PartVector& p,
               Workspace&) const;

  // margin * cost of the gold output itself: 0 for ordinary costs.
  double gold_cost(std::size_t i, const Layout&, double margin) const;

  // The same for given scores, to which the cost is added in place.
  double augmented(std::size_t i, const Layout&, double* theta, double margin, double eps,
                   PartVector& p, Workspace&) const;

  // Unknown labels make the loss a difference of two convex functions.
  bool partial(std::size_t i) const {
    return !gold_.allowed_ptr.empty() && gold_.allowed_ptr[i] >= 0;
  }
  // <v, mu(gold)> and v += a mu(gold) over the parts of example i; mu(gold) are counts or, if
  // labels were filled in, probabilities.
  double gold_dot(std::size_t i, const double* v) const;
  void add_gold(std::size_t i, double a, double* v) const;
  // The parts of the gold output, repeats allowed; empty if it is partial.
  std::span<const std::uint32_t> gold_parts(std::size_t i) const {
    return {gold_.part + gold_.ptr[i], gold_.part + gold_.ptr[i + 1]};
  }
  // <c, v> over the parts of example i.
  double cost_along(std::size_t i, const Layout&, const PartVector& v, Workspace&) const;
  // margin * c0 of example i.
  double cost_constant(std::size_t i, double margin) const {
    return cost_.constant && margin != 0.0 ? margin * cost_.constant[i] : 0.0;
  }

  // The parts that represent the gold output of example i, repeats allowed: its own or, if labels
  // are unknown, p_clamp: at eps = 0 those of the best allowed output, above it the marginals over
  // all allowed ones.
  void complete(std::size_t i, const Layout&, Weights w, double eps, PartVector& p,
                Workspace&) const;

  // sum_i weight_i L_i(w), its gradient in `gradient` if that is not null, and the sum of the
  // examples' weighted costs in `cost`. The examples are divided into partitions that do not depend
  // on the threads, and summed in order. False in `complete` if interrupted.
  double total(const double* w, double margin, double eps, double* gradient, std::size_t threads,
               Interrupt& interrupt, bool* complete, double* cost = nullptr) const;

  // How much sum_i weight_i L_i(w) at eps = 0 may be too small because inference is not exact.
  double shortfall(const double* w, double margin, std::size_t threads, Interrupt& interrupt) const;

 private:
  // The difference of two vertices after cancelling common parts: `found` minus the parts of the
  // other, `values` times each (null: once).
  static void subtract(PartVector& found, std::span<const std::uint32_t> other,
                       const double* values, std::size_t parts, Workspace&);
  void add_cost(std::size_t i, const Layout&, double margin, double* theta) const;
  double zero_one(std::size_t i, const Layout&, const double* theta, double margin, double eps,
                  PartVector& p, Workspace&) const;
  double clamped(std::size_t i, const Layout&, double* theta, double eps, PartVector& p,
                 Workspace&) const;
  double gold_value(std::int64_t n) const { return gold_.value ? gold_.value[n] : 1.0; }

  // The gradients of partitions from the last call of total, all zeroed: fresh memory would cost
  // page faults.
  struct Buffers {
    std::mutex mutex;
    std::vector<std::vector<double>> partitions;
  };

  std::unique_ptr<Buffers> buffers_ = std::make_unique<Buffers>();
  std::shared_ptr<const Scorer> scorer_;
  std::shared_ptr<const Oracle> oracle_;
  Gold gold_;
  Cost cost_;
  std::span<const double> sample_weight_;
};

}  // namespace structlearn
