// Scores of the parts of constituent trees from features of spans and splits.
//
// The weights are a row of R for each feature, then the table of label pairs and of the root's
// symbol, whose scores they are. Features are made anew each time a sentence is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scoring/scorer.hpp"
#include "tasks/constituents/span_features.hpp"
#include "tasks/constituents/tree_parts.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// One sentence as features and the table of pairs see it.
struct TreeInput {
  TreeTokens tokens;
  std::vector<std::uint32_t> tag;  // its number among the known tags, the last for others
  std::uint32_t copies = 1;        // how often it counts
};

// The features of a span or split as a part of one of the blocks, in the order of their templates.
void site_features(const TreeFeatures& features, std::size_t block, std::size_t i, std::size_t k,
                   std::size_t j, std::vector<std::uint64_t>& keys);

// The features that the gold trees have, with how often, in the order of first occurrence.
FeatureIndex counted_features(std::span<const TreeInput> sentences, std::span<const Output> gold);

// Key r has row r; no key is 0.
std::shared_ptr<const FeatureIndex> feature_rows(std::span<const std::uint64_t> keys);

class SpanScorer final : public Scorer {
 public:
  SpanScorer(TreeSizes sizes, std::shared_ptr<const FeatureIndex> index,
             std::vector<TreeInput> sentences)
      : sizes_(sizes), index_(std::move(index)), sentences_(std::move(sentences)) {}

  std::size_t examples() const override { return sentences_.size(); }
  std::size_t weights() const override { return table() + sizes_.table(); }
  Layout layout(std::size_t example) const override;
  void score(std::size_t example, const Layout&, Weights w, double scale,
             double* theta) const override;
  void gather(std::size_t example, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;
  void scatter(std::size_t example, const Layout&, const PartVector& v, double a, double* w,
               double b = 0.0, double* second = nullptr) const override;
  void rows(std::size_t example, const Layout&,
            std::vector<std::pair<std::size_t, std::size_t>>& ranges) const override;

 private:
  // Where the table begins.
  std::size_t table() const { return index_->size() * sizes_.labels; }
  // Calls found(first part, rows) for each site of a span or split that wanted(first part) says.
  template <class Wanted, class Found>
  void each_site(std::size_t example, const Layout&, Wanted&& wanted, Found&& found) const;
  template <class Real>
  void add_scores(std::size_t example, const Layout&, const Real* w, double* theta) const;

  TreeSizes sizes_;
  std::shared_ptr<const FeatureIndex> index_;
  std::vector<TreeInput> sentences_;
};

}  // namespace structlearn::text
