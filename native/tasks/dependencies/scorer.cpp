#include "tasks/dependencies/scorer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "structures/structure.hpp"

namespace structlearn::parsing {

double PartScorer::arc_sum(std::uint32_t distance, std::uint32_t direction) const {
  float sum = 0.0f, other = 0.0f;
  for (const std::uint64_t key : keys_.keys()) {
    const float* line = table_.weight + table_.line(key);
    sum += line[place(key, distance)];
    other += line[place(key, direction)];
  }
  return static_cast<double>(sum) + static_cast<double>(other);
}

double PartScorer::arc_and_labels(const Sentence& s, int h, int m, const LabelMask& mask) {
  keys_.clear();
  arc_features(s, h, m, keys_);
  const double unlabelled = arc_sum(direction_distance(h, m), direction_place(m > h));
  std::uint32_t used = 0;  // groups with a label that is allowed
  for (std::size_t g = 0; g < groups_; ++g) {
    if (mask[g / 4] >> (16 * (g % 4)) & 0xFFFF) used |= 1u << g;
  }
  rows_.assign(width(), 0.0f);
  keys_.clear();
  label_features(s, h, m, [&](std::uint64_t key) {
    for (std::uint32_t left = used; left != 0; left &= left - 1) {
      keys_(group_key(key, static_cast<std::uint32_t>(std::countr_zero(left))));
    }
  });
  std::uint32_t left = used;
  for (const std::uint64_t key : keys_.keys()) {
    float* row = rows_.data() + static_cast<std::size_t>(std::countr_zero(left)) * kLine;
    const float* line = table_.weight + table_.line(key);
    for (std::uint32_t i = 0; i < kLine; ++i) row[i] += line[i];
    left &= left - 1;
    if (left == 0) left = used;
  }
  return unlabelled;
}

void PartScorer::soft_arcs(const Sentence& s, Parts& parts, std::vector<float>& label_scores) {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  label_scores.assign(parts.head.size() * width(), kForbidden);
  for (std::size_t a = 0; a < parts.head.size(); ++a) {
    const int h = parts.head[a], m = parts.word[a];
    const LabelMask& mask = sets_.find(s, h, m);
    const double unlabelled = arc_and_labels(s, h, m, mask);
    float* row = label_scores.data() + a * width();
    float most = kForbidden;
    for (std::size_t l = 0; l < width(); ++l) {
      if (!(mask[l / 64] >> (l % 64) & 1)) continue;
      row[l] = rows_[l];
      if (row[l] > most) {
        most = row[l];
        parts.label[a] = static_cast<std::uint16_t>(l);
      }
    }
    double sum = 0.0;
    for (std::size_t l = 0; l < width(); ++l) sum += std::exp(static_cast<double>(row[l] - most));
    parts.arc[a] = unlabelled + static_cast<double>(most) + std::log(sum);
  }
}

void PartScorer::arcs(const Sentence& s, Parts& parts, const Gold* gold) {
  for (std::size_t a = 0; a < parts.head.size(); ++a) {
    const int h = parts.head[a], m = parts.word[a];
    const LabelMask& mask = sets_.find(s, h, m);
    const double unlabelled = arc_and_labels(s, h, m, mask);
    const bool right_head = gold && gold->heads[static_cast<std::size_t>(m)] == h;
    double best = kMinusInfinity;
    std::size_t best_label = 0;
    for (std::size_t w = 0; w < mask.size(); ++w) {
      for (std::uint64_t bits = mask[w]; bits != 0; bits &= bits - 1) {
        const std::size_t label = 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
        double x = static_cast<double>(rows_[label]);
        if (gold && !(right_head && gold->labels[static_cast<std::size_t>(m)] == label)) {
          x += gold->label_cost;
        }
        if (x > best) {
          best = x;
          best_label = label;
        }
      }
    }
    parts.arc[a] = unlabelled + best + (gold && !right_head ? gold->head_cost : 0.0);
    parts.label[a] = static_cast<std::uint16_t>(best_label);
  }
}

double PartScorer::label_score(const Sentence& s, int h, int m, std::size_t label) {
  float sum = 0.0f;
  for_label_weights(table_, s, h, m, label,
                    [&](std::uint32_t index) { sum += table_.weight[index]; });
  return static_cast<double>(sum);
}

void PartScorer::second_order(const Sentence& s, Parts& parts) {
  parts.list_modifiers();
  for (int h = 0; h <= parts.n; ++h) {
    const auto at = static_cast<std::size_t>(h);
    for (int after = 0; after < 2; ++after) {
      const auto list = parts.side(h, after);
      const std::size_t k = list.size();
      double* out =
          parts.sibling.data() + parts.sibling_begin[2 * at + static_cast<std::size_t>(after)];
      for (std::size_t i = 0; i <= k; ++i) {
        const int a = i == 0 ? h : parts.word[list[i - 1]];
        for (std::size_t j = i; j <= k; ++j) {
          const int b = j == k ? kNoToken : parts.word[list[j]];
          keys_.clear();
          sibling_features(s, h, a, b, keys_);
          out[i * (k + 1) + j] =
              arc_sum(sibling_class(h, a, b), direction_place((b == kNoToken ? a : b) > h));
        }
      }
    }
    const std::uint32_t ups = parts.ups(h);
    const std::size_t first = parts.down_begin[2 * at];
    const std::size_t width = parts.down_begin[2 * at + 2] - first;
    double* out = parts.grand.data() + parts.grand_begin[at];
    for (std::uint32_t u = 0; u < ups; ++u) {
      const int g = parts.head[parts.begin[at] + u];
      for (std::size_t j = 0; j < width; ++j) {
        const int m = parts.word[parts.down[first + j]];
        if (m == g) continue;
        keys_.clear();
        grandparent_features(s, g, h, m, keys_);
        const std::uint32_t c = grandparent_class(g, h, m);
        float sum = 0.0f;
        for (const std::uint64_t key : keys_.keys()) {
          sum += table_.weight[table_.line(key) + place(key, c)];
        }
        out[u * width + j] = static_cast<double>(sum);
      }
    }
  }
}

}  // namespace structlearn::parsing
