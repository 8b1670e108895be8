#include "tasks/constituents/span_trees.hpp"

#include <stdexcept>

#include "structures/forest.hpp"
#include "structures/lazy_kbest.hpp"
#include "tasks/constituents/tree_chart.hpp"

namespace structlearn::text {
void SpanTrees::check(const Layout& layout) const {
  const auto* shape = dynamic_cast<const TreeShape*>(layout.shape.get());
  if (shape == nullptr || shape->words() == 0) {
    throw std::invalid_argument("a sentence has at least one word, and a shape");
  }
  const std::size_t R = shape->sizes.labels, spans = spans_of(shape->words());
  bool fits = true;
  for (std::size_t b = kNode; b <= kLast; ++b) fits = fits && layout.block[b].sites == spans;
  for (std::size_t b = kNode; b <= kSplit; ++b) fits = fits && layout.block[b].outcomes == R;
  fits = fits && layout.block[kSplit].sites == shape->row.size() &&
         layout.block[kPair].size() == shape->sizes.pairs() &&
         layout.block[kRoot].size() == shape->sizes.symbols();
  if (!fits) throw std::invalid_argument("the blocks do not fit the sentence");
}

bool SpanTrees::reads(const Layout& layout, std::size_t block, std::size_t site) const {
  if (block >= kSpanBlocks) return true;
  const std::size_t n = tree_shape(layout).words();
  const auto [i, j] = span_of_site(n, site);
  return has_site(block, n, i, j);
}

double SpanTrees::argmax(const Layout& layout, const Scores& scores, Output& y,
                         Workspace& ws) const {
  const TreeView<const double> v(layout, scores);
  const TreeForest forest(v, best_chart(v, ws));
  const double value = forest.best(forest.root());
  if (value == kMinusInfinity) {
    y.assign(2 * (2 * v.n - 1), 0);
    return value;
  }
  y = best_output(forest, forest.root(), {}, writer_of(forest));
  return value;
}

void SpanTrees::encode(const Layout& layout, std::span<const std::int32_t> y,
                       std::vector<std::uint32_t>& parts) const {
  const TreeShape& shape = tree_shape(layout);
  const std::size_t n = shape.words(), R = shape.sizes.labels;
  const auto add = [&](std::size_t block, std::size_t at) {
    parts.push_back(static_cast<std::uint32_t>(layout.block[block].offset + at));
  };
  const auto symbol = [&](std::size_t i, std::size_t label) {
    return label > 0 ? label : shape.symbol[i];
  };
  walk_tree_parts(
      n, y,
      [&](std::size_t block, std::size_t i, std::size_t k, std::size_t j, std::size_t label) {
        if (block != kSplit) return add(block, span_site(n, i, j) * R + label);
        std::uint32_t sites[TreeShape::kMostKinds];
        const std::size_t count = shape.split(i, k, j, sites);
        for (std::size_t s = 0; s < count; ++s) add(kSplit, sites[s] * R + label);
      },
      [&](std::size_t place, std::size_t i, std::size_t label, std::size_t parent) {
        add(kPair, shape.sizes.pair(place, symbol(i, label), parent));
      },
      [&](std::size_t i, std::size_t label) { add(kRoot, symbol(i, label)); });
}

void SpanTrees::spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const {
  found.clear();
  walk_tree_parts(
      (y.size() / 2 + 1) / 2, y,
      [&](std::size_t block, std::size_t i, std::size_t, std::size_t j, std::size_t label) {
        if (block != kNode || label == 0) return;
        found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                         static_cast<std::int32_t>(label)});
      },
      [](auto...) {}, [](auto...) {});
}

std::vector<std::pair<double, Output>> SpanTrees::kbest(const Layout& layout, const Scores& scores,
                                                        std::size_t n, Workspace& ws) const {
  const TreeView<const double> v(layout, scores);
  const TreeForest forest(v, best_chart(v, ws));
  return kbest_outputs(forest, forest.root(), n, {}, writer_of(forest));
}

std::vector<Output> SpanTrees::sample(const Layout& layout, const Scores& scores, double eps,
                                      std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const TreeView<const double> v(
      layout, divided(layout, scores, eps, ws.real(SpanTreeScratch::kDivided, layout.parts)));
  const TreeForest forest(v, sum_chart(v, ws));
  if (forest.best(forest.root()) == kMinusInfinity) return {};
  return drawn_outputs(forest, forest.root(), 1.0, n, seed, {}, writer_of(forest));
}

}  // namespace structlearn::text
