// A scorer that is written in Python: one call an example, the interpreter held while it lasts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "scoring/scorer.hpp"

namespace structlearn::python {

// The object has score(i, w), the scores of the parts of example i, and gather(i, index, value),
// A^T v over all weights for a part vector v (index None: a value a part).
class PythonScorer final : public Scorer {
 public:
  // `layouts` has, for each example, (sites, outcomes) of each of its blocks.
  PythonScorer(nb::object scorer, std::size_t weights, nb::list layouts);

  std::size_t examples() const override { return layouts_.size(); }
  std::size_t weights() const override { return weights_; }
  Layout layout(std::size_t example) const override { return layouts_[example]; }
  void score(std::size_t example, const Layout&, Weights w, double scale,
             double* theta) const override;
  void gather(std::size_t example, const Layout&, const PartVector& v, WeightEntries& out,
              double least) const override;
  void rows(std::size_t, const Layout&,
            std::vector<std::pair<std::size_t, std::size_t>>& ranges) const override {
    ranges.emplace_back(0, weights_);  // any of them, for all that is known
  }

  // Sites of block 0, for costs.
  std::span<const std::int64_t> site_ptr() const { return site_ptr_; }

 private:
  nb::object scorer_;
  std::size_t weights_;
  std::vector<Layout> layouts_;
  std::vector<std::int64_t> site_ptr_;
};

}  // namespace structlearn::python
