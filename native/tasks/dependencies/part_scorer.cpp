#include "tasks/dependencies/part_scorer.hpp"

#include <algorithm>
#include <bit>

#include "structures/structure.hpp"

namespace structlearn::parsing {

// Four sums and not one: else an addition waits for the one before it rather than for memory.
template <class Real>
void PartScorer<Real>::sum(const Scored& part, Keys keys) const {
  Real sum[4] = {0, 0, 0, 0};
  const auto add = [&](std::uint64_t key, Real* to) {
    const Real* line = table_.weight + table_.line(key);
    to[0] += line[place(key, part.places[0])];
    if (part.places[0] != part.places[1]) to[1] += line[place(key, part.places[1])];
  };
  std::size_t i = 0;
  for (; i + 2 <= keys.size(); i += 2) {
    add(keys[i], sum);
    add(keys[i + 1], sum + 2);
  }
  if (i < keys.size()) add(keys[i], sum);
  *part.out =
      part.scale * (static_cast<double>(sum[0] + sum[2]) + static_cast<double>(sum[1] + sum[3]));
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
void PartScorer<Real>::add_labels(const Labelled& part, Keys keys, double scale,
                                  double* out) const {
  const auto step = static_cast<std::size_t>(std::popcount(part.groups));
  out += part.arc * groups_ * kLine;
  std::size_t first = 0;
  for (std::uint32_t left = part.groups; left != 0; left &= left - 1, ++first) {
    const auto group = static_cast<std::size_t>(std::countr_zero(left));
    Real row[kLine] = {};
    for (std::size_t i = first; i < keys.size(); i += step) {
      const Real* line = table_.weight + table_.line(keys[i]);
      for (std::uint32_t k = 0; k < kLine; ++k) row[k] += line[k];
    }
    std::uint64_t allowed = (*part.mask)[group / 4] >> (16 * (group % 4)) & 0xFFFF;
    for (; allowed != 0; allowed &= allowed - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(allowed));
      out[group * kLine + k] = scale * (unlabelled_[part.arc] + static_cast<double>(row[k]));
    }
  }
}

template <class Real>
void PartScorer<Real>::arcs(const Sentence& s, const Parts& parts, double scale, double* out) {
  std::fill_n(out, parts.arcs() * groups_ * kLine, kMinusInfinity);
  unlabelled_.resize(parts.arcs());
  const auto read = [&](const Scored& part, Keys keys) { sum(part, keys); };
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    const int h = parts.head[a], m = parts.word[a];
    arc_features(s, h, m, parts_);
    parts_.end({{direction_distance(h, m), direction_place(m > h)}, 1.0, &unlabelled_[a]}, read);
  }
  parts_.flush(read);
  const auto read_labels = [&](const Labelled& part, Keys keys) {
    add_labels(part, keys, scale, out);
  };
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    const int h = parts.head[a], m = parts.word[a];
    const LabelMask& mask = sets_.find(s, h, m);
    std::uint32_t used = 0;
    for (std::size_t g = 0; g < groups_; ++g) {
      if (mask[g / 4] >> (16 * (g % 4)) & 0xFFFF) used |= 1u << g;
    }
    label_features(s, h, m, [&](std::uint64_t key) {
      for (std::uint32_t left = used; left != 0; left &= left - 1) {
        labelled_(group_key(key, static_cast<std::uint32_t>(std::countr_zero(left))));
      }
    });
    labelled_.end({&mask, used, a}, read_labels);
  }
  labelled_.flush(read_labels);
}

template <class Real>
void PartScorer<Real>::siblings(const Sentence& s, const Parts& parts, double scale, double* out) {
  std::fill_n(out, parts.siblings(), 0.0);  // a pair out of order is in no tree
  const auto read = [&](const Scored& part, Keys keys) { sum(part, keys); };
  for (int h = 0; h <= parts.n; ++h) {
    for (int after = 0; after < 2; ++after) {
      const auto list = parts.side(h, after);
      const std::size_t k = list.size();
      for (std::size_t i = 0; i <= k; ++i) {
        const int a = i == 0 ? h : parts.word[list[i - 1]];
        for (std::size_t j = i; j <= k; ++j) {
          const int b = j == k ? kNoToken : parts.word[list[j]];
          sibling_features(s, h, a, b, parts_);
          parts_.end({{sibling_class(h, a, b), direction_place(sibling_side(h, a, b))},
                      scale,
                      out + i * (k + 1) + j},
                     read);
        }
      }
      out += (k + 1) * (k + 1);
    }
  }
  parts_.flush(read);
}

template <class Real>
void PartScorer<Real>::grandparents(const Sentence& s, const Parts& parts, double scale,
                                    double* out) {
  std::fill_n(out, parts.grands(), 0.0);  // nor is a word that is its own grandparent
  const auto read = [&](const Scored& part, Keys keys) { sum(part, keys); };
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
        grandparent_features(s, g, h, m, parts_);
        const std::uint32_t c = grandparent_class(g, h, m);
        parts_.end({{c, c}, scale, out + u * width + j}, read);
      }
    }
    out += ups * width;
  }
  parts_.flush(read);
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
