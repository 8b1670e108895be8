// Inference in the core, with another oracle as a fallback for what the core lacks: programs,
// second bests, and explaining what is wrong with an example.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "problem/problem.hpp"

namespace structlearn {

class BackedOracle : public Oracle {
 public:
  explicit BackedOracle(std::shared_ptr<const Oracle> behind) : behind_(std::move(behind)) {}

  double runner_up(std::size_t i, const Layout& layout, const double* theta,
                   std::span<const std::uint32_t> excluded, PartVector& p,
                   Workspace& ws) const override {
    return behind_->runner_up(i, layout, theta, excluded, p, ws);
  }
  Violation violation(std::size_t i, const Layout& layout, const double* theta,
                      std::span<const std::uint32_t> gold, const BeamSettings& beam,
                      Workspace& ws) const override {
    return behind_->violation(i, layout, theta, gold, beam, ws);
  }
  Inexact inexact() const override {
    Inexact count = behind_->inexact();
    count.under += under_.load();
    return count;
  }

 protected:
  const Oracle& behind() const { return *behind_; }
  // Counts one more call that may have missed the best output. A sum: independent of the threads.
  void count_inexact() const { under_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::shared_ptr<const Oracle> behind_;
  mutable std::atomic<std::size_t> under_{0};
};

}  // namespace structlearn
