#include "tasks/constituents/span_scorer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "numeric/kernels.hpp"

namespace structlearn::text {
namespace {

// The features of a span as a part of one of the blocks.
void span_features(const TreeFeatures& features, std::size_t block, std::size_t i, std::size_t j,
                   std::vector<std::uint64_t>& keys) {
  switch (block) {
    case kNode:
      return j == i + 1 ? features.word(i, keys) : features.node(i, j, keys);
    case kRest:
      return features.rest(i, j, keys);
    case kFirst:
      return features.child(TreeFeatures::Place::kFirst, i, j, keys);
    case kMiddle:
      return features.child(TreeFeatures::Place::kMiddle, i, j, keys);
    default:
      return features.child(TreeFeatures::Place::kLast, i, j, keys);
  }
}

// Each value by its number among the different ones.
std::size_t numbered(const std::vector<std::uint64_t>& values, std::vector<std::uint32_t>& number) {
  std::vector<std::uint64_t> sorted(values);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::uint64_t x : values) {
    number.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), x) -
                                                sorted.begin()));
  }
  return sorted.size();
}

// The rows of those keys that have one.
class RowFinder {
 public:
  explicit RowFinder(const FeatureIndex& index) : index_(index) {}
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> row;  // of each key, or kAbsent
  void find() {
    constexpr std::size_t kAhead = 8;
    row.resize(keys.size());
    for (std::size_t q = 0; q < std::min(kAhead, keys.size()); ++q) index_.prefetch(keys[q]);
    for (std::size_t q = 0; q < keys.size(); ++q) {
      if (q + kAhead < keys.size()) index_.prefetch(keys[q + kAhead]);
      row[q] = index_.find(keys[q]);
    }
  }

 private:
  const FeatureIndex& index_;
};

// The kinds of splits that have a feature with weights.
void find_splits(const TreeTokens& tokens, const FeatureIndex& index, TreeShape& shape) {
  const std::size_t n = tokens.size();
  const TreeFeatures features(tokens);
  RowFinder finder(index);
  shape.length_kinds = TreeFeatures::kLengthClasses;
  for (std::size_t length = 0; length <= n; ++length) {
    shape.length.push_back(static_cast<std::uint32_t>(TreeFeatures::length_class(length)));
  }
  // First every combination that comes up gets a number, that of its key.
  shape.lengths.assign(shape.length_kinds * shape.length_kinds, TreeShape::kNone);
  const auto number = [&](std::uint32_t& site, auto&& key) {
    if (site != TreeShape::kNone) return;
    site = static_cast<std::uint32_t>(finder.keys.size());
    finder.keys.push_back(key());
  };
  for (std::size_t a = 1; a < n; ++a) {
    for (std::size_t b = 1; a + b <= n; ++b) {
      const std::uint32_t left = shape.length[a], right = shape.length[b];
      number(shape.lengths[left * shape.length_kinds + right],
             [&] { return TreeFeatures::split_lengths(left, right); });
    }
  }
  for (std::size_t f = 0; f < shape.family.size(); ++f) {
    TreeShape::Family& family = shape.family[f];
    std::array<std::vector<std::uint64_t>, 3> seen;
    for (std::size_t place = 0; place < 3; ++place) {
      for (std::size_t t = 0; t <= n; ++t) seen[place].push_back(features.seen(f, place, t));
      family.kinds[place] = numbered(seen[place], family.seen[place]);
    }
    family.site.assign(family.kinds[0] * family.kinds[1] * family.kinds[2], TreeShape::kNone);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 2; j <= n; ++j) {
        for (std::size_t k = i + 1; k < j; ++k) {
          number(family.site[family.place(i, k, j)],
                 [&] { return TreeFeatures::split_key(f, seen[0][i], seen[1][k], seen[2][j]); });
        }
      }
    }
  }
  // Then those whose key has a row become sites.
  finder.find();
  std::vector<std::uint32_t> site(finder.keys.size(), TreeShape::kNone);
  for (std::size_t q = 0; q < site.size(); ++q) {
    if (finder.row[q] == FeatureIndex::kAbsent) continue;
    site[q] = static_cast<std::uint32_t>(shape.row.size());
    shape.row.push_back(finder.row[q]);
  }
  const auto renumber = [&](std::vector<std::uint32_t>& sites) {
    for (std::uint32_t& s : sites) s = s == TreeShape::kNone ? s : site[s];
  };
  renumber(shape.lengths);
  for (TreeShape::Family& family : shape.family) renumber(family.site);
}

}  // namespace

void site_features(const TreeFeatures& features, std::size_t block, std::size_t i, std::size_t k,
                   std::size_t j, std::vector<std::uint64_t>& keys) {
  block == kSplit ? features.split(i, k, j, keys) : span_features(features, block, i, j, keys);
}

FeatureIndex counted_features(std::span<const TreeInput> sentences, std::span<const Output> gold) {
  FeatureIndex counted;
  std::vector<std::uint64_t> keys;
  for (std::size_t e = 0; e < sentences.size(); ++e) {
    const TreeFeatures features(sentences[e].tokens);
    walk_tree_parts(
        sentences[e].tokens.size(), gold[e],
        [&](std::size_t block, std::size_t i, std::size_t k, std::size_t j, std::size_t) {
          keys.clear();
          site_features(features, block, i, k, j, keys);
          for (const std::uint64_t key : keys) counted.add(key, sentences[e].copies);
        },
        [](auto...) {}, [](auto...) {});
  }
  return counted;
}

std::shared_ptr<const FeatureIndex> feature_rows(std::span<const std::uint64_t> keys) {
  auto index = std::make_shared<FeatureIndex>(keys.size());
  for (const std::uint64_t key : keys) index->add(key);
  return index;
}

Layout SpanScorer::layout(std::size_t example) const {
  const TreeInput& input = sentences_[example];
  auto shape = std::make_shared<TreeShape>();
  shape->sizes = sizes_;
  for (const std::uint32_t tag : input.tag) {
    shape->symbol.push_back(static_cast<std::uint32_t>(sizes_.labels) + tag);
  }
  find_splits(input.tokens, *index_, *shape);
  Layout layout;
  const std::size_t spans = spans_of(input.tokens.size()), R = sizes_.labels;
  for (std::size_t b = kNode; b <= kLast; ++b) layout.add(b, spans, R, true);
  layout.add(kSplit, shape->row.size(), R, true);
  layout.add(kPair, 1, sizes_.pairs(), false);
  layout.add(kRoot, 1, sizes_.symbols(), false);
  layout.shape = std::move(shape);
  return layout;
}

template <class Wanted, class Found>
void SpanScorer::each_site(std::size_t example, const Layout& layout, Wanted&& wanted,
                           Found&& found) const {
  const TreeTokens& tokens = sentences_[example].tokens;
  const TreeFeatures features(tokens);
  const std::size_t n = tokens.size(), R = sizes_.labels;
  RowFinder finder(*index_);
  std::array<std::pair<std::size_t, std::size_t>, kSpanBlocks> parts;  // (part, end of its keys)
  std::size_t at = 0;                                                  // of the first label
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j <= n; ++j, at += R) {
      std::size_t count = 0;
      finder.keys.clear();
      for (std::size_t b = kNode; b <= kLast; ++b) {
        const std::size_t part = layout.block[b].offset + at;
        if (!has_site(b, n, i, j) || !wanted(part)) continue;
        span_features(features, b, i, j, finder.keys);
        parts[count++] = {part, finder.keys.size()};
      }
      finder.find();
      std::size_t from = 0, kept = 0;
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t begin = kept;
        for (; from < parts[c].second; ++from) {
          if (finder.row[from] != FeatureIndex::kAbsent) finder.row[kept++] = finder.row[from];
        }
        found(parts[c].first,
              std::span<const std::uint32_t>(finder.row.data() + begin, kept - begin));
      }
    }
  }
  const std::vector<std::uint32_t>& split = tree_shape(layout).row;
  for (std::size_t s = 0; s < split.size(); ++s) {
    const std::size_t part = layout.block[kSplit].offset + s * R;
    if (wanted(part)) found(part, std::span<const std::uint32_t>(&split[s], 1));
  }
}

template <class Real>
void SpanScorer::add_scores(std::size_t example, const Layout& layout, const Real* w,
                            double* theta) const {
  const std::size_t R = sizes_.labels;
  std::vector<const Real*> rows;
  each_site(
      example, layout, [](std::size_t) { return true; },
      [&](std::size_t part, std::span<const std::uint32_t> found) {
        rows.clear();
        for (const std::uint32_t r : found) rows.push_back(w + r * R);
        if constexpr (std::is_same_v<Real, double>) {
          kernels().add_rows(rows.data(), rows.size(), nullptr, 0, R, theta + part);
        } else {
          kernels().add_rows(nullptr, 0, rows.data(), rows.size(), R, theta + part);
        }
      });
  const Real* pairs = w + table();
  std::copy(pairs, pairs + sizes_.table(), theta + layout.block[kPair].offset);
}

void SpanScorer::score(std::size_t example, const Layout& layout, Weights w, double scale,
                       double* theta) const {
  std::fill(theta, theta + layout.parts, 0.0);
  w.wide ? add_scores(example, layout, w.wide, theta)
         : add_scores(example, layout, w.narrow, theta);
  if (scale != 1.0) kernels().scale(scale, theta, layout.parts);
}

void SpanScorer::gather(std::size_t example, const Layout& layout, const PartVector& v,
                        WeightEntries& out, double least) const {
  const std::size_t R = sizes_.labels, pairs = layout.block[kPair].offset;
  if (v.dense) {
    const auto counts = [&](std::size_t part) { return std::abs(v.value[part]) > least; };
    each_site(
        example, layout,
        [&](std::size_t part) {
          std::size_t x = 0;
          while (x < R && !counts(part + x)) ++x;
          return x < R;
        },
        [&](std::size_t part, std::span<const std::uint32_t> rows) {
          for (const std::uint32_t r : rows) {
            for (std::size_t x = 0; x < R; ++x) {
              if (counts(part + x)) out.emplace_back(r * R + x, v.value[part + x]);
            }
          }
        });
    for (std::size_t q = 0; q < sizes_.table(); ++q) {
      if (counts(pairs + q)) out.emplace_back(table() + q, v.value[pairs + q]);
    }
    return;
  }
  const TreeTokens& tokens = sentences_[example].tokens;
  const TreeFeatures features(tokens);
  const std::size_t n = tokens.size(), spans = layout.block[kNode].size();
  std::vector<std::uint64_t> keys;
  for (std::size_t q = 0; q < v.index.size(); ++q) {
    const std::size_t part = v.index[q], x = part % R;
    const double value = v.value[q];
    if (part >= pairs) {
      out.emplace_back(table() + part - pairs, value);
    } else if (part >= layout.block[kSplit].offset) {
      const std::size_t site = (part - layout.block[kSplit].offset) / R;
      out.emplace_back(tree_shape(layout).row[site] * R + x, value);
    } else {
      const auto [i, j] = span_of_site(n, part % spans / R);
      if (!has_site(part / spans, n, i, j)) continue;
      keys.clear();
      span_features(features, part / spans, i, j, keys);
      for (const std::uint64_t key : keys) {
        const std::uint32_t row = index_->find(key);
        if (row != FeatureIndex::kAbsent) out.emplace_back(row * R + x, value);
      }
    }
  }
}

void SpanScorer::scatter(std::size_t example, const Layout& layout, const PartVector& v, double a,
                         double* w, double b, double* second) const {
  if (!v.dense) return Scorer::scatter(example, layout, v, a, w, b, second);
  const std::size_t R = sizes_.labels;
  const auto add = [&](std::size_t weight, std::size_t part, std::size_t n) {
    kernels().add_scaled(a, v.value.data() + part, w + weight, n);
    if (second) kernels().add_scaled(b, v.value.data() + part, second + weight, n);
  };
  each_site(
      example, layout, [](std::size_t) { return true; },
      [&](std::size_t part, std::span<const std::uint32_t> rows) {
        for (const std::uint32_t r : rows) add(r * R, part, R);
      });
  add(table(), layout.block[kPair].offset, sizes_.table());
}

void SpanScorer::rows(std::size_t example, const Layout& layout,
                      std::vector<std::pair<std::size_t, std::size_t>>& ranges) const {
  const std::size_t R = sizes_.labels;
  each_site(
      example, layout, [](std::size_t) { return true; },
      [&](std::size_t, std::span<const std::uint32_t> rows) {
        for (const std::uint32_t r : rows) ranges.emplace_back(r * R, R);
      });
  ranges.emplace_back(table(), sizes_.table());
}

}  // namespace structlearn::text
