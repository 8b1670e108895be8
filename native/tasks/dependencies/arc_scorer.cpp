#include "tasks/dependencies/arc_scorer.hpp"

#include <algorithm>
#include <cmath>

#include "tasks/dependencies/part_scorer.hpp"

namespace structlearn::parsing {
namespace {

// Which of the ranges that begin at these places an index lies in.
std::size_t range_of(const std::vector<std::uint32_t>& begin, std::size_t index) {
  return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), index) -
                                  begin.begin()) -
         1;
}

// The siblings with this number: step(h, a, b); nothing for a pair out of order.
template <class Step>
void sibling_part(const Parts& parts, std::size_t index, Step&& step) {
  const std::size_t side = range_of(parts.sibling_begin, index);
  const int h = static_cast<int>(side / 2);
  const auto list = parts.side(h, static_cast<int>(side % 2));
  const std::size_t size = list.size() + 1, local = index - parts.sibling_begin[side];
  const std::size_t i = local / size, j = local % size;
  if (j < i) return;
  step(h, i == 0 ? h : parts.word[list[i - 1]], j + 1 == size ? kNoToken : parts.word[list[j]]);
}

// The same for grandparents: step(g, h, m).
template <class Step>
void grand_part(const Parts& parts, std::size_t index, Step&& step) {
  const std::size_t h = range_of(parts.grand_begin, index);
  const std::size_t first = parts.down_begin[2 * h], width = parts.down_begin[2 * h + 2] - first;
  const std::size_t local = index - parts.grand_begin[h];
  const int g = parts.head[parts.begin[h] + local / width];
  const int m = parts.word[parts.down[first + local % width]];
  if (m != g) step(g, static_cast<int>(h), m);
}

}  // namespace

void ArcScorer::score(std::size_t i, const Layout&, Weights w, double scale, double* theta) const {
  const auto run = [&](const auto* weight) {
    const LabelledTreebank& treebank = examples_->treebank();
    PartScorer(Table(weight, weights_), treebank.sets, treebank.labels.size())
        .score(examples_->sentence(i), examples_->parts(i), scale, theta);
  };
  w.wide ? run(w.wide) : run(w.narrow);
}

template <class Add>
void ArcScorer::entries(std::size_t i, const Layout& layout, const PartVector& v, double least,
                        Add&& add) const {
  const Sentence& s = examples_->sentence(i);
  const Parts& parts = examples_->parts(i);
  const std::size_t width = examples_->width();
  std::vector<std::uint64_t> keys;  // of the labels of one arc
  const auto label_keys = [&](std::size_t a) {
    keys.clear();
    label_features(s, parts.head[a], parts.word[a],
                   [&](std::uint64_t key) { keys.push_back(key); });
  };
  const auto label = [&](std::size_t l, double x) {
    const auto group = static_cast<std::uint32_t>(l / kLine);
    for (const std::uint64_t key : keys) add(lines_.line(group_key(key, group)) + l % kLine, x);
  };
  const auto arc = [&](std::size_t a, double x) {
    if (std::abs(x) <= least) return;
    for_arc_weights(lines_, s, parts.head[a], parts.word[a], [&](std::uint32_t at) { add(at, x); });
  };
  const auto pair = [&](std::size_t part, double x) {
    if (std::abs(x) <= least) return;
    const auto step = [&](std::uint32_t at) { add(at, x); };
    if (part < layout.block[DependencyTrees::kGrand].offset) {
      sibling_part(parts, part - layout.block[DependencyTrees::kSibling].offset,
                   [&](int h, int a, int b) { for_sibling_weights(lines_, s, h, a, b, step); });
    } else {
      grand_part(parts, part - layout.block[DependencyTrees::kGrand].offset,
                 [&](int g, int h, int m) { for_grandparent_weights(lines_, s, g, h, m, step); });
    }
  };
  const std::size_t labelled = parts.arcs() * width;
  if (v.dense) {
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      const double* row = v.value.data() + a * width;
      double sum = 0.0;
      keys.clear();
      for (std::size_t l = 0; l < width; ++l) {
        sum += row[l];
        if (std::abs(row[l]) <= least) continue;
        if (keys.empty()) label_keys(a);
        label(l, row[l]);
      }
      arc(a, sum);
    }
    for (std::size_t j = labelled; j < layout.parts; ++j) pair(j, v.value[j]);
    return;
  }
  // Two labels of one arc that cancel leave its own features alone.
  std::vector<double> sums(parts.arcs(), 0.0);
  for (std::size_t n = 0; n < v.index.size(); ++n) {
    const std::size_t j = v.index[n];
    if (j >= labelled) {
      pair(j, v.value[n]);
      continue;
    }
    sums[j / width] += v.value[n];
    if (std::abs(v.value[n]) <= least) continue;
    label_keys(j / width);
    label(j % width, v.value[n]);
  }
  for (std::size_t a = 0; a < parts.arcs(); ++a) arc(a, sums[a]);
}

void ArcScorer::gather(std::size_t i, const Layout& layout, const PartVector& v, WeightEntries& out,
                       double least) const {
  entries(i, layout, v, least, [&](std::size_t at, double x) { out.emplace_back(at, x); });
}

void ArcScorer::scatter(std::size_t i, const Layout& layout, const PartVector& v, double a,
                        double* w, double b, double* second) const {
  entries(i, layout, v, 0.0, [&](std::size_t at, double x) {
    w[at] += a * x;
    if (second) second[at] += b * x;
  });
}

void ArcScorer::rows(std::size_t i, const Layout& layout,
                     std::vector<std::pair<std::size_t, std::size_t>>& ranges) const {
  const Parts& parts = examples_->parts(i);
  PartVector all;  // that have a score
  all.dense = true;
  all.value.assign(layout.parts, 1.0);
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    const LabelMask& mask =
        examples_->treebank().sets.find(examples_->sentence(i), parts.head[a], parts.word[a]);
    for (std::size_t l = 0; l < examples_->width(); ++l) {
      if (!(mask[l / 64] >> (l % 64) & 1)) all.value[a * examples_->width() + l] = 0.0;
    }
  }
  entries(i, layout, all, 0.0, [&](std::size_t at, double) { ranges.emplace_back(at, 1); });
}

}  // namespace structlearn::parsing
