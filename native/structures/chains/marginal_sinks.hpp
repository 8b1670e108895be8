// The marginals of a product, as those of the parts of the chain or the segmentation.
#pragma once

#include <algorithm>

#include "structures/chains/chain_sink.hpp"
#include "structures/chains/product_sums.hpp"
#include "structures/chains/semimarkov_view.hpp"

namespace structlearn {

class ChainMarginals final : public MarginalSink {
 public:
  ChainMarginals(const ChainView& v, const Layout& layout, const Marginals& out)
      : sink_(v, layout, out),
        takes_steps_(v.order > 0 && out.block[Chain::transition(v.order)] != nullptr) {}

  void segment(std::size_t i, std::size_t, const double* p) override { sink_.node(i, p); }
  void first(const double*) override {}  // windows include them
  void last(const double*) override {}
  double* transition(std::size_t i) override { return takes_steps_ ? sink_.top(i) : nullptr; }
  bool summed() const override { return !sink_.top_anchored(); }

 private:
  ChainSink sink_;
  bool takes_steps_;
};

class SegmentMarginals final : public MarginalSink {
 public:
  SegmentMarginals(const SegmentView& v, const Layout& layout, const Marginals& out)
      : v_(v), out_(out) {
    const Block& table = layout.block[SemiMarkov::kTransition];
    transition_ = table.present ? out.block[SemiMarkov::kTransition] : nullptr;
    by_position_ = out.by_position || table.sites != 1;
    double* segment = out.block[SemiMarkov::kSegment];
    std::fill_n(segment, v.L * v.D * v.K, 0.0);
    if (transition_ != nullptr) {
      std::fill_n(transition_, (by_position_ ? v.L - 1 : 1) * v.K * v.K, 0.0);
    }
  }

  void segment(std::size_t i, std::size_t d, const double* p) override {
    std::copy_n(p, v_.K, out_.block[SemiMarkov::kSegment] + (i * v_.D + d - 1) * v_.K);
  }
  void first(const double* p) override { copy(SemiMarkov::kStart, p); }
  void last(const double* p) override { copy(SemiMarkov::kEnd, p); }
  double* transition(std::size_t i) override {
    if (transition_ == nullptr) return nullptr;
    return transition_ + (by_position_ ? (i - 1) * v_.K * v_.K : 0);
  }
  bool summed() const override { return !by_position_; }

 private:
  void copy(std::size_t b, const double* p) const {
    if (out_.block[b] != nullptr) std::copy_n(p, v_.K, out_.block[b]);
  }

  const SegmentView& v_;
  const Marginals& out_;
  double* transition_;
  bool by_position_;
};

}  // namespace structlearn
