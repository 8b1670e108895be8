// The operator A of a dependency parser: hashed features of arcs with their labels, of siblings and
// of grandparents, made anew whenever they are needed.
#pragma once

#include <memory>

#include "scoring/scorer.hpp"
#include "tasks/dependencies/examples.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

class ArcScorer final : public Scorer {
 public:
  // 2^bits weights.
  ArcScorer(std::shared_ptr<const ParseExamples> examples, unsigned bits)
      : examples_(std::move(examples)), weights_(std::size_t{1} << bits), lines_(weights_) {}

  std::size_t examples() const override { return examples_->size(); }
  std::size_t weights() const override { return weights_; }
  Layout layout(std::size_t i) const override { return examples_->layout(i); }
  void score(std::size_t i, const Layout&, Weights w, double scale, double* theta) const override;
  void gather(std::size_t i, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;
  void scatter(std::size_t i, const Layout&, const PartVector& v, double a, double* w,
               double b = 0.0, double* second = nullptr) const override;
  void rows(std::size_t i, const Layout&,
            std::vector<std::pair<std::size_t, std::size_t>>& ranges) const override;

 private:
  // Calls add(weight, x) for every entry of A^T v.
  template <class Add>
  void entries(std::size_t i, const Layout&, const PartVector& v, double least, Add&& add) const;

  std::shared_ptr<const ParseExamples> examples_;
  std::size_t weights_;
  Lines lines_;
};

}  // namespace structlearn::parsing
