#include "tasks/dependencies/part_scorer.hpp"

#include <algorithm>
#include <bit>

#include "structures/structure.hpp"

namespace structlearn::parsing {

template <class Real>
double PartScorer<Real>::sum(std::uint32_t distance, std::uint32_t direction) const {
  Real sum = 0, other = 0;
  for (const std::uint64_t key : keys_.keys()) {
    const Real* line = table_.weight + table_.line(key);
    sum += line[place(key, distance)];
    other += line[place(key, direction)];
  }
  return static_cast<double>(sum) + static_cast<double>(other);
}

template <class Real>
void PartScorer<Real>::score(const Sentence& s, const Parts& parts, double scale, double* out) {
  arcs(s, parts, scale, out);
  if (!parts.second_order) return;
  out += parts.arcs() * groups_ * kLine;
  siblings(s, parts, scale, out);
  grandparents(s, parts, scale, out + parts.siblings());
}

template <class Real>
void PartScorer<Real>::arcs(const Sentence& s, const Parts& parts, double scale, double* out) {
  const std::size_t width = groups_ * kLine;
  std::fill_n(out, parts.arcs() * width, kMinusInfinity);
  for (std::size_t a = 0; a < parts.arcs(); ++a, out += width) {
    const int h = parts.head[a], m = parts.word[a];
    keys_.clear();
    arc_features(s, h, m, keys_);
    const double unlabelled = sum(direction_distance(h, m), direction_place(m > h));
    const LabelMask& mask = sets_.find(s, h, m);
    std::uint32_t used = 0;  // groups with a label that is allowed
    for (std::size_t g = 0; g < groups_; ++g) {
      if (mask[g / 4] >> (16 * (g % 4)) & 0xFFFF) used |= 1u << g;
    }
    rows_.assign(width, 0);
    keys_.clear();
    label_features(s, h, m, [&](std::uint64_t key) {
      for (std::uint32_t left = used; left != 0; left &= left - 1) {
        keys_(group_key(key, static_cast<std::uint32_t>(std::countr_zero(left))));
      }
    });
    std::uint32_t left = used;
    for (const std::uint64_t key : keys_.keys()) {
      Real* row = rows_.data() + static_cast<std::size_t>(std::countr_zero(left)) * kLine;
      const Real* line = table_.weight + table_.line(key);
      for (std::uint32_t i = 0; i < kLine; ++i) row[i] += line[i];
      left &= left - 1;
      if (left == 0) left = used;
    }
    for (std::size_t w = 0; w < mask.size(); ++w) {
      for (std::uint64_t bits = mask[w]; bits != 0; bits &= bits - 1) {
        const std::size_t label = 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
        out[label] = scale * (unlabelled + static_cast<double>(rows_[label]));
      }
    }
  }
}

template <class Real>
void PartScorer<Real>::siblings(const Sentence& s, const Parts& parts, double scale, double* out) {
  std::fill_n(out, parts.siblings(), 0.0);  // a pair out of order is in no tree
  for (int h = 0; h <= parts.n; ++h) {
    for (int after = 0; after < 2; ++after) {
      const auto list = parts.side(h, after);
      const std::size_t k = list.size();
      for (std::size_t i = 0; i <= k; ++i) {
        const int a = i == 0 ? h : parts.word[list[i - 1]];
        for (std::size_t j = i; j <= k; ++j) {
          const int b = j == k ? kNoToken : parts.word[list[j]];
          keys_.clear();
          sibling_features(s, h, a, b, keys_);
          out[i * (k + 1) + j] =
              scale * sum(sibling_class(h, a, b), direction_place(sibling_side(h, a, b)));
        }
      }
      out += (k + 1) * (k + 1);
    }
  }
}

template <class Real>
void PartScorer<Real>::grandparents(const Sentence& s, const Parts& parts, double scale,
                                    double* out) {
  std::fill_n(out, parts.grands(), 0.0);  // nor is a word that is its own grandparent
  for (int h = 0; h <= parts.n; ++h) {
    const auto at = static_cast<std::size_t>(h);
    const std::uint32_t ups = parts.ups(h);
    const std::size_t first = parts.down_begin[2 * at];
    const std::size_t width = parts.down_begin[2 * at + 2] - first;
    for (std::uint32_t u = 0; u < ups; ++u) {
      const int g = parts.head[parts.begin[at] + u];
      for (std::size_t j = 0; j < width; ++j) {
        const int m = parts.word[parts.down[first + j]];
        if (m == g) continue;
        keys_.clear();
        grandparent_features(s, g, h, m, keys_);
        const std::uint32_t c = grandparent_class(g, h, m);
        Real sum = 0;
        for (const std::uint64_t key : keys_.keys()) {
          sum += table_.weight[table_.line(key) + place(key, c)];
        }
        out[u * width + j] = scale * static_cast<double>(sum);
      }
    }
    out += ups * width;
  }
}

template class PartScorer<float>;
template class PartScorer<double>;

void best_labels(const double* scores, std::size_t arcs, std::size_t width,
                 std::vector<double>& best, std::vector<std::uint16_t>& label) {
  best.resize(arcs);
  label.resize(arcs);
  for (std::size_t a = 0; a < arcs; ++a) {
    const double* row = scores + a * width;
    double most[4] = {row[0], row[1], row[2], row[3]};  // four at a time: width is of whole lines
    for (std::size_t l = 4; l < width; l += 4) {
      for (std::size_t i = 0; i < 4; ++i) most[i] = std::max(most[i], row[l + i]);
    }
    best[a] = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
    const double* at = std::find(row, row + width - 1, best[a]);  // the last, were it no number
    label[a] = static_cast<std::uint16_t>(at - row);
  }
}

}  // namespace structlearn::parsing
