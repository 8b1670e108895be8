#include "scoring/row_scorer.hpp"

#include <algorithm>
#include <stdexcept>

#include "numeric/kernels.hpp"

namespace structlearn {

RowScorer::RowScorer(std::vector<ScorerBlock> blocks, std::size_t examples, std::size_t weights,
                     Topologies topologies)
    : blocks_(std::move(blocks)), examples_(examples), weights_(weights), topologies_(topologies) {
  if (blocks_.size() > kMaxBlocks) throw std::invalid_argument("too many blocks");
  for (ScorerBlock& block : blocks_) derive(block);
}

void RowScorer::derive(ScorerBlock& block) {
  auto derived = std::make_shared<Derived>();
  FeatureRows& f = block.features;
  WeightRows& w = block.weights;
  if (w.present && f.kind == FeatureRows::Kind::kDense && !f.site_ptr.empty()) {
    const std::size_t rows = static_cast<std::size_t>(f.site_ptr.back());
    const std::size_t entries = rows * f.features;
    const auto zeros = static_cast<std::size_t>(std::count(f.values, f.values + entries, 0.0));
    if (2 * zeros > entries) {
      derived->indptr.push_back(0);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t j = 0; j < f.features; ++j) {
          const double x = f.values[row * f.features + j];
          if (x == 0.0) continue;
          derived->indices.push_back(static_cast<std::int32_t>(j));
          derived->values.push_back(x);
        }
        derived->indptr.push_back(static_cast<std::int64_t>(derived->indices.size()));
      }
      f.kind = FeatureRows::Kind::kSparse;
      f.indptr = derived->indptr.data();
      f.indices = derived->indices.data();
      f.values = derived->values.data();
    }
  }
  const bool sparse = f.kind == FeatureRows::Kind::kSparse;
  if (w.present && sparse && w.row_ptr.empty() && f.features * w.columns < UINT32_MAX) {
    for (std::size_t j = 0; j <= f.features; ++j) {
      derived->row_ptr.push_back(static_cast<std::uint32_t>(j * w.columns));
    }
  }
  derived_.push_back(std::move(derived));
}

Layout RowScorer::layout(std::size_t example) const {
  Layout layout;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const ScorerBlock& block = blocks_[b];
    if (!block.weights.present) continue;
    const auto& ptr = block.features.site_ptr;
    const std::size_t sites = block.features.kind == FeatureRows::Kind::kShared
                                  ? 1
                                  : static_cast<std::size_t>(ptr[example + 1] - ptr[example]);
    layout.add(b, sites, block.weights.outcomes, block.features.kind != FeatureRows::Kind::kShared);
  }
  layout.topology = topologies_.value;
  if (const auto& ptr = topologies_.ptr; !ptr.empty()) {
    layout.topology =
        layout.topology.subspan(static_cast<std::size_t>(ptr[example]),
                                static_cast<std::size_t>(ptr[example + 1] - ptr[example]));
  }
  return layout;
}

namespace {

// Calls each(feature, value) for the features of one row.
template <class Each>
inline void for_features(const FeatureRows& f, std::size_t row, Each&& each) {
  switch (f.kind) {
    case FeatureRows::Kind::kShared:
      each(std::size_t{0}, 1.0);
      break;
    case FeatureRows::Kind::kSparse:
      for (std::int64_t j = f.indptr[row]; j < f.indptr[row + 1]; ++j) {
        each(static_cast<std::size_t>(f.indices[j]), f.values ? f.values[j] : 1.0);
      }
      break;
    case FeatureRows::Kind::kDense:
      for (std::size_t j = 0; j < f.features; ++j) {
        const double x = f.values[row * f.features + j];
        if (x != 0.0) each(j, x);
      }
      break;
  }
}

// The features of one site, if weights have sparse rows.
struct SparseSite {
  const std::int32_t* indices;
  const double* values;
  std::size_t n;
  SparseSite(const FeatureRows& f, std::size_t row) {
    static constexpr std::int32_t kAlways = 0;  // the one feature of a shared block
    const bool shared = f.kind == FeatureRows::Kind::kShared;
    const std::int64_t begin = shared ? 0 : f.indptr[row], end = shared ? 1 : f.indptr[row + 1];
    indices = shared ? &kAlways : f.indices + begin;
    values = f.values && !shared ? f.values + begin : nullptr;
    n = static_cast<std::size_t>(end - begin);
  }
};

// Prefetches the first rows of weights of the next site during the work on this one; the kernels
// prefetch the rest of it.
inline void prefetch_rows(const SparseSite& site, const std::uint32_t* row_ptr, const double* w) {
  constexpr std::size_t kRows = 6;
  for (std::size_t j = 0; j < std::min(site.n, kRows); ++j) {
    __builtin_prefetch(w + row_ptr[site.indices[j]]);
  }
}

// The stored weight of (feature, column) in sparse rows, or -1 if there is none.
std::int64_t find_weight(const WeightRows& rows, std::size_t feature, std::size_t column) {
  const std::uint32_t begin = rows.row_ptr[feature], end = rows.row_ptr[feature + 1];
  if (end - begin == rows.columns) {
    const std::size_t q = begin + column;
    return rows.real && !rows.real[q] ? -1 : static_cast<std::int64_t>(q);
  }
  for (std::uint32_t q = begin; q < end; ++q) {
    if (rows.column[q] == column) return q;
  }
  return -1;
}

std::size_t first_row(const FeatureRows& f, std::size_t example) {
  return f.kind == FeatureRows::Kind::kShared ? 0 : static_cast<std::size_t>(f.site_ptr[example]);
}

}  // namespace

void RowScorer::score(std::size_t example, const Layout& layout, Weights w, double scale,
                      double* theta) const {
  if (w.wide == nullptr) throw std::invalid_argument("rows of features have weights of 64 bits");
  std::vector<double> folded;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& at = layout.block[b];
    if (!at.present) continue;
    const FeatureRows& f = blocks_[b].features;
    const WeightRows& rows = blocks_[b].weights;
    const double* base = w.wide + rows.offset;
    const std::size_t first = first_row(f, example), R = at.outcomes;
    const bool fold = !rows.member_ptr.empty();
    const std::span<const std::uint32_t> row_ptr =
        rows.row_ptr.empty() ? std::span<const std::uint32_t>(derived_[b]->row_ptr) : rows.row_ptr;
    if (fold) folded.resize(rows.columns);
    for (std::size_t s = 0; s < at.sites; ++s) {
      double* out = theta + at.offset + s * R;
      double* sum = fold ? folded.data() : out;
      if (row_ptr.empty()) {
        std::fill(sum, sum + rows.columns, 0.0);
        for_features(f, first + s, [&](std::size_t feature, double x) {
          kernels().add_scaled(x, base + feature * rows.columns, sum, rows.columns);
        });
      } else {
        const SparseSite site(f, first + s);
        if (s + 1 < at.sites) {
          prefetch_rows(SparseSite(f, first + s + 1), row_ptr.data(), base);
        }
        kernels().score_site(site.indices, site.values, site.n, row_ptr.data(), rows.column, base,
                             sum, rows.columns);
      }
      if (fold) {
        for (std::size_t r = 0; r < R; ++r) {
          out[r] = 0.0;
          for (std::uint32_t m = rows.member_ptr[r]; m < rows.member_ptr[r + 1]; ++m) {
            out[r] += folded[rows.member[m]];
          }
        }
      }
      if (scale != 1.0) {
        for (std::size_t r = 0; r < R; ++r) out[r] *= scale;
      }
      if (!rows.mask.empty()) {
        const double* mask = rows.mask.data() + s * R % rows.mask.size();
        for (std::size_t r = 0; r < R; ++r) out[r] += mask[r];
      }
    }
  }
}

template <class Sink>
void RowScorer::transpose(std::size_t example, const Layout& layout, const PartVector& v,
                          Sink&& sink) const {
  // One part: its features' weights for one column.
  const auto one = [&](std::size_t b, std::size_t row, std::size_t column, double x) {
    const FeatureRows& f = blocks_[b].features;
    const WeightRows& rows = blocks_[b].weights;
    for_features(f, row, [&](std::size_t feature, double value) {
      if (rows.row_ptr.empty()) {
        sink(rows.offset + feature * rows.columns + column, value * x);
        return;
      }
      const std::int64_t q = find_weight(rows, feature, column);
      if (q >= 0) sink(rows.offset + static_cast<std::size_t>(q), value * x);
    });
  };
  const auto part = [&](std::size_t b, std::size_t row, std::size_t outcome, double x) {
    const WeightRows& rows = blocks_[b].weights;
    if (rows.member_ptr.empty()) {
      one(b, row, outcome, x);
      return;
    }
    for (std::uint32_t m = rows.member_ptr[outcome]; m < rows.member_ptr[outcome + 1]; ++m) {
      one(b, row, rows.member[m], x);
    }
  };
  if (!v.dense) {
    for (std::size_t i = 0; i < v.index.size(); ++i) {
      std::size_t b = 0;
      while (!layout.block[b].present || v.index[i] < layout.block[b].offset ||
             v.index[i] >= layout.block[b].offset + layout.block[b].size()) {
        ++b;
      }
      const Block& at = layout.block[b];
      const std::size_t local = v.index[i] - at.offset;
      part(b, first_row(blocks_[b].features, example) + local / at.outcomes, local % at.outcomes,
           v.value[i]);
    }
    return;
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& at = layout.block[b];
    if (!at.present) continue;
    const FeatureRows& f = blocks_[b].features;
    const WeightRows& rows = blocks_[b].weights;
    const std::size_t first = first_row(f, example);
    for (std::size_t s = 0; s < at.sites; ++s) {
      const double* values = v.value.data() + at.offset + s * at.outcomes;
      if (!rows.member_ptr.empty()) {
        for (std::size_t r = 0; r < at.outcomes; ++r) {
          if (values[r] != 0.0) part(b, first + s, r, values[r]);
        }
        continue;
      }
      for_features(f, first + s, [&](std::size_t feature, double x) {
        if (rows.row_ptr.empty()) {
          sink.row(rows.offset + feature * rows.columns, x, values, at.outcomes, nullptr);
          return;
        }
        const std::uint32_t begin = rows.row_ptr[feature], end = rows.row_ptr[feature + 1];
        if (end - begin == at.outcomes) {
          sink.row(rows.offset + begin, x, values, at.outcomes,
                   rows.real ? rows.real + begin : nullptr);
          return;
        }
        for (std::uint32_t q = begin; q < end; ++q) {
          sink(rows.offset + q, x * values[rows.column[q]]);
        }
      });
    }
  }
}

namespace {

// The target of the transpose: one weight, or a whole row of them.
struct Add {
  double a;
  double* w;
  void operator()(std::size_t q, double x) const { w[q] += a * x; }
  void row(std::size_t q, double x, const double* v, std::size_t n,
           const std::uint8_t* real) const {
    if (real) {
      kernels().add_scaled_where(a * x, v, real, w + q, n);
    } else {
      kernels().add_scaled(a * x, v, w + q, n);
    }
  }
};

struct AddTwice {
  Add first, second;
  void operator()(std::size_t q, double x) const {
    first(q, x);
    second(q, x);
  }
  void row(std::size_t q, double x, const double* v, std::size_t n,
           const std::uint8_t* real) const {
    first.row(q, x, v, n, real);
    second.row(q, x, v, n, real);
  }
};

// A dense v, site by site: dense(feature, row of weights, value, part of v, columns) for each, or
// sparse(weights, features, block's weights, part of v) if weights have sparse rows. `ahead`:
// prefetch the next site's rows; not if they may belong to another thread.
template <class Dense, class Sparse>
void for_sites(const std::vector<ScorerBlock>& blocks, std::size_t example, const Layout& layout,
               const PartVector& v, double* w, bool ahead, Dense&& dense, Sparse&& sparse) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& at = layout.block[b];
    if (!at.present) continue;
    const FeatureRows& f = blocks[b].features;
    const WeightRows& rows = blocks[b].weights;
    const std::size_t first = first_row(f, example);
    double* base = w + rows.offset;
    for (std::size_t s = 0; s < at.sites; ++s) {
      const double* values = v.value.data() + at.offset + s * at.outcomes;
      if (!rows.row_ptr.empty()) {
        if (ahead && s + 1 < at.sites) {
          prefetch_rows(SparseSite(f, first + s + 1), rows.row_ptr.data(), base);
        }
        sparse(rows, SparseSite(f, first + s), base, values);
        continue;
      }
      for_features(f, first + s, [&](std::size_t feature, double x) {
        dense(feature, base + feature * rows.columns, x, values, rows.columns);
      });
    }
  }
}

struct Dot {
  const double* w;
  double& sum;
  void operator()(std::size_t q, double x) const { sum += w[q] * x; }
  void row(std::size_t q, double x, const double* v, std::size_t n, const std::uint8_t*) const {
    for (std::size_t i = 0; i < n; ++i) sum += w[q + i] * x * v[i];  // fillers of w are zero
  }
};

struct Clear {
  double* w;
  void operator()(std::size_t q, double) const { w[q] = 0.0; }
  void row(std::size_t q, double, const double*, std::size_t n, const std::uint8_t*) const {
    std::fill(w + q, w + q + n, 0.0);
  }
};

struct Collect {
  WeightEntries& out;
  void operator()(std::size_t q, double x) const { out.emplace_back(q, x); }
  void row(std::size_t q, double x, const double* v, std::size_t n,
           const std::uint8_t* real) const {
    for (std::size_t i = 0; i < n; ++i) {
      if (!real || real[i]) (*this)(q + i, x * v[i]);
    }
  }
};

}  // namespace

void RowScorer::scatter(std::size_t example, const Layout& layout, const PartVector& v, double a,
                        double* w, double b, double* second) const {
  if (second == nullptr) {
    transpose(example, layout, v, Add{a, w});
  } else {
    transpose(example, layout, v, AddTwice{{a, w}, {b, second}});
  }
}

void RowScorer::scatter_growth(std::size_t example, const Layout& layout, const PartVector& v,
                               double a, double* w, std::size_t first, std::size_t last,
                               double* growth) const {
  if (!plain(v)) {
    Scorer::scatter_growth(example, layout, v, a, w, first, last, growth);
    return;
  }
  double lanes[kShares][4] = {};
  for_sites(
      blocks_, example, layout, v, w, last - first == kShares,
      [&](std::size_t feature, double* row, double x, const double* values, std::size_t n) {
        const std::size_t share = share_of(feature);
        if (share < first || share >= last) return;
        double* sums = lanes[share];
        for (std::size_t i = 0; i < n; ++i) {
          const double d = a * (x * values[i]);
          sums[i % 4] += d * (2.0 * row[i] + d);
          row[i] += d;
        }
      },
      [&](const WeightRows& rows, const SparseSite& site, double* base, const double* values) {
        kernels().scatter_growth_site(site.indices, site.values, site.n, rows.row_ptr.data(),
                                      rows.column, rows.real, a, values, base, rows.columns, first,
                                      last, lanes);
      });
  for (std::size_t share = first; share < last; ++share) {
    const double* four = lanes[share];
    growth[share] = (four[0] + four[2]) + (four[1] + four[3]);
  }
}

// Whether rows of weights can be added directly: a dense v, and no classes that share weights.
bool RowScorer::plain(const PartVector& v) const {
  bool plain = v.dense;
  for (const ScorerBlock& block : blocks_) plain = plain && block.weights.member_ptr.empty();
  return plain;
}

void RowScorer::scatter_sum(std::size_t example, const Layout& layout, const PartVector& v,
                            double a, double* w) const {
  if (!plain(v)) {
    scatter(example, layout, v, a, w);
    return;
  }
  for_sites(
      blocks_, example, layout, v, w, true,
      [&](std::size_t, double* row, double x, const double* values, std::size_t n) {
        kernels().add_scaled(a * x, values, row, n);
      },
      [&](const WeightRows& rows, const SparseSite& site, double* base, const double* values) {
        kernels().scatter_site(site.indices, site.values, site.n, rows.row_ptr.data(), rows.column,
                               a, values, base, rows.columns);
      });
}

void RowScorer::finish_sum(double* w) const {
  for (const ScorerBlock& block : blocks_) {
    const WeightRows& rows = block.weights;
    if (!rows.present || !rows.real) continue;
    for (std::uint32_t q = 0; q < rows.row_ptr.back(); ++q) {
      if (!rows.real[q]) w[rows.offset + q] = 0.0;
    }
  }
}

double RowScorer::dot(std::size_t example, const Layout& layout, const PartVector& v,
                      const double* w) const {
  double sum = 0.0;
  transpose(example, layout, v, Dot{w, sum});
  return sum;
}

void RowScorer::clear(std::size_t example, const Layout& layout, const PartVector& v,
                      double* w) const {
  transpose(example, layout, v, Clear{w});
}

double RowScorer::squared_norm_of_site(std::size_t example, std::size_t block,
                                       std::size_t site) const {
  const FeatureRows& f = blocks_[block].features;
  const WeightRows& rows = blocks_[block].weights;
  const std::size_t row = first_row(f, example) + site;
  double sum = 0.0;
  if (f.kind == FeatureRows::Kind::kSparse && f.values == nullptr) {
    sum = static_cast<double>(f.indptr[row + 1] - f.indptr[row]);
  } else {
    for_features(f, row, [&](std::size_t, double x) { sum += x * x; });
  }
  if (rows.member_ptr.empty()) return sum;
  return sum * static_cast<double>(rows.member_ptr.back()) / static_cast<double>(rows.outcomes);
}

void RowScorer::rows(std::size_t example, const Layout& layout,
                     std::vector<std::pair<std::size_t, std::size_t>>& ranges) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!layout.block[b].present) continue;
    const FeatureRows& f = blocks_[b].features;
    const WeightRows& w = blocks_[b].weights;
    const std::size_t first = first_row(f, example);
    for (std::size_t s = 0; s < layout.block[b].sites; ++s) {
      for_features(f, first + s, [&](std::size_t feature, double) {
        if (w.row_ptr.empty()) {
          ranges.emplace_back(w.offset + feature * w.columns, w.columns);
        } else {
          const std::uint32_t begin = w.row_ptr[feature];
          ranges.emplace_back(w.offset + begin, w.row_ptr[feature + 1] - begin);
        }
      });
    }
  }
}

void RowScorer::gather(std::size_t example, const Layout& layout, const PartVector& v,
                       WeightEntries& out, double) const {
  transpose(example, layout, v, Collect{out});
}

void RowScorer::feature_squares(double* squares, double* counts, double* all) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const FeatureRows& f = blocks_[b].features;
    const WeightRows& rows = blocks_[b].weights;
    if (!rows.present) continue;
    std::vector<double> square(f.features, 0.0), count(f.features, 0.0);
    const bool shared = f.kind == FeatureRows::Kind::kShared;
    const std::size_t sites = shared ? examples_ : static_cast<std::size_t>(f.site_ptr[examples_]);
    for (std::size_t s = 0; s < sites; ++s) {
      for_features(f, s, [&](std::size_t feature, double x) {
        square[feature] += x * x;
        count[feature] += 1.0;
      });
    }
    for (std::size_t k = 0; k < f.features; ++k) {
      const std::size_t begin = rows.row_ptr.empty() ? k * rows.columns : rows.row_ptr[k];
      const std::size_t end = rows.row_ptr.empty() ? begin + rows.columns : rows.row_ptr[k + 1];
      for (std::size_t q = begin; q < end; ++q) {
        squares[rows.offset + q] += square[k];
        counts[rows.offset + q] += count[k];
        all[rows.offset + q] += static_cast<double>(sites);
      }
    }
  }
}

}  // namespace structlearn
