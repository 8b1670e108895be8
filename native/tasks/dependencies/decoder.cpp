#include "tasks/dependencies/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "structures/trees/edmonds.hpp"
#include "structures/trees/eisner.hpp"
#include "text/hash.hpp"

namespace structlearn::parsing {
namespace {

constexpr double kShare = 1.0 / 3.0;  // of an arc's score: tree, modifier and head each have one
constexpr double kFirstRate = 2.0;    // of Polyak's step, and
constexpr double kSlower = 0.9;       // what it is multiplied by
constexpr int kPatience = 3;          // after this many rounds without a better bound

// Both of the magnitude of a tree: scores have no unit.
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
constexpr double kLeastGap = 1e-9;  // for the length of a step

// The most that the magnitudes of a tree's parts can add up to: an arc and a grandparent a word,
// and a sibling before it, or an end on either side of a head.
double magnitude(const Parts& parts, const PartScores& scores) {
  const auto largest = [](const double* score, std::size_t size) {
    double most = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      if (std::isfinite(score[i])) most = std::max(most, std::fabs(score[i]));
    }
    return most;
  };
  const double n = parts.n;
  return n * (largest(scores.arc, parts.arcs()) + largest(scores.grand, parts.grands())) +
         (3 * n + 2) * largest(scores.sibling, parts.siblings());
}

std::uint64_t hash_of(const std::vector<std::int32_t>& heads) {
  std::uint64_t h = text::kHashA;
  for (const std::int32_t head : heads) h = text::combine(h, static_cast<std::uint64_t>(head));
  return h;
}

}  // namespace

void TreeSearch::begin(int n) {
  width_ = static_cast<std::size_t>(n) + 1;
  score_.assign(width_ * width_, kMinusInfinity);
}

double TreeSearch::best(std::vector<std::int32_t>& heads) {
  heads.resize(width_);
  heads[0] = -1;
  const double* arc = score_.data();
  return projective_ ? best_projective(arc, nullptr, width_ - 1, true, heads.data() + 1, workspace_)
                     : best_arborescence(arc, width_ - 1, true, heads.data() + 1, workspace_);
}

// The best choice of a head for h and of modifiers on both sides, given the multipliers.
double Decoder::automaton(const Parts& parts, const PartScores& scores, int h) {
  const auto at = static_cast<std::size_t>(h);
  const std::uint32_t first_up = parts.begin[at], ups = parts.ups(h);
  const std::size_t width = parts.down_begin[2 * at + 2] - parts.down_begin[2 * at];
  const std::uint32_t* const downs = parts.down.data() + parts.down_begin[2 * at];
  for (std::size_t j = 0; j < width; ++j) z_down_[downs[j]] = 0;
  for (std::uint32_t u = 0; u < ups; ++u) z_up_[first_up + u] = 0;
  double best = kMinusInfinity;
  std::uint32_t best_up = Parts::kNone;
  f_.resize(width + 2);
  from_.resize(width + 2);
  trace_.clear();
  std::vector<std::uint32_t>& chosen = trace_;
  for (std::uint32_t u = 0; u < std::max<std::uint32_t>(ups, 1); ++u) {
    double total = 0.0;
    int g = -1;
    const double* grand = nullptr;
    if (ups > 0) {
      const std::uint32_t a = first_up + u;
      g = parts.head[a];
      total = scores.arc[a] * kShare - dual_up_[a];
      grand = scores.grand + parts.grand_begin[at] + u * width;
    }
    std::size_t end_from[2] = {0, 0};
    for (int after = 0; after < 2; ++after) {
      const auto list = parts.side(h, after);
      const std::size_t k = list.size();
      const std::size_t first = after ? width - k : 0;
      const double* sibling =
          scores.sibling + parts.sibling_begin[2 * at + static_cast<std::size_t>(after)];
      for (std::size_t j = 0; j <= k; ++j) {
        double value = sibling[j];
        std::uint32_t from = 0;  // 0: none before; i + 1: modifier i
        for (std::size_t i = 0; i < j; ++i) {
          const double x = f_[first + i] + sibling[(i + 1) * (k + 1) + j];
          if (x > value) {
            value = x;
            from = static_cast<std::uint32_t>(i + 1);
          }
        }
        if (j == k) {
          total += value;
          end_from[after] = from;
          break;
        }
        const std::uint32_t a = list[j];
        value += scores.arc[a] * kShare - dual_down_[a];
        if (grand) value += grand[first + j];
        if (parts.word[a] == g) value = kMinusInfinity;
        f_[first + j] = value;
        from_[first + j] = from;
      }
    }
    if (total > best) {
      best = total;
      best_up = ups > 0 ? first_up + u : Parts::kNone;
      chosen.clear();
      for (int after = 0; after < 2; ++after) {
        const auto list = parts.side(h, after);
        const std::size_t first = after ? width - list.size() : 0;
        for (std::size_t i = end_from[after]; i > 0; i = from_[first + i - 1]) {
          chosen.push_back(list[i - 1]);
        }
      }
    }
  }
  if (best_up != Parts::kNone) z_up_[best_up] = 1;
  for (const std::uint32_t a : chosen) z_down_[a] = 1;
  return best;
}

Solved Decoder::decode(const Parts& parts, const PartScores& scores,
                       std::vector<std::int32_t>& heads) {
  const std::size_t arcs = parts.head.size();
  Solved result;
  if (parts.second_order && projective_) {
    result.value = result.bound = chart_.best(parts, scores, heads);
    return result;
  }
  tree_.begin(parts.n);
  if (!parts.second_order) {
    for (std::size_t a = 0; a < arcs; ++a) tree_.at(parts.head[a], parts.word[a]) = scores.arc[a];
    result.value = result.bound = tree_.best(heads);
    return result;
  }
  dual_up_.assign(arcs, 0.0);
  dual_down_.assign(arcs, 0.0);
  z_up_.assign(arcs, 0);
  z_down_.assign(arcs, 0);
  y_.assign(arcs, 0);
  const std::size_t n = static_cast<std::size_t>(parts.n);
  dirty_.assign(n + 1, 1);
  value_.assign(n + 1, 0.0);
  result.bound = std::numeric_limits<double>::infinity();
  result.exact = false;
  const double size = magnitude(parts, scores);
  double rate = kFirstRate;
  int stalled = 0;
  seen_.clear();
  for (int iteration = 0; iteration < max_iterations_; ++iteration) {
    for (std::size_t a = 0; a < arcs; ++a) {
      tree_.at(parts.head[a], parts.word[a]) = scores.arc[a] * kShare + dual_up_[a] + dual_down_[a];
    }
    double dual = tree_.best(candidate_);
    if (dual == kMinusInfinity) {
      result.value = dual;
      return result;
    }
    for (std::size_t h = 0; h <= n; ++h) {
      if (dirty_[h]) value_[h] = automaton(parts, scores, static_cast<int>(h));
      dirty_[h] = 0;
      dual += value_[h];
    }
    // A tree that was looked at before brings nothing new.
    const std::uint64_t seen = hash_of(candidate_);
    if (std::find(seen_.begin(), seen_.end(), seen) == seen_.end()) {
      seen_.push_back(seen);
      tried_ = candidate_;
      search_.improve(parts, scores, candidate_);
      const double primal = parts.score(candidate_, scores);
      if (primal > result.value) {
        result.value = primal;
        heads = candidate_;
      }
      candidate_ = tried_;
    }
    if (dual < result.bound) {
      result.bound = dual;
      stalled = 0;
    } else if (++stalled >= kPatience) {
      rate *= kSlower;
      stalled = 0;
    }
    if (result.bound - result.value <= kRounding * size) {
      result.bound = std::max(result.bound, result.value);
      result.exact = true;
      return result;
    }
    std::size_t differ = 0;
    for (std::size_t a = 0; a < arcs; ++a) {
      y_[a] = candidate_[parts.word[a]] == parts.head[a];
      differ += y_[a] != z_up_[a];
      differ += y_[a] != z_down_[a];
    }
    if (differ == 0) {  // they agree: the tree is the best
      heads = candidate_;
      result.value = parts.score(candidate_, scores);
      result.bound = std::max(result.bound, result.value);
      result.exact = true;
      return result;
    }
    const double left = std::max(dual - result.value, kLeastGap * size);
    const double step = rate * left / static_cast<double>(differ);
    for (std::size_t a = 0; a < arcs; ++a) {
      if (y_[a] != z_up_[a]) {
        dual_up_[a] -= step * (static_cast<double>(y_[a]) - static_cast<double>(z_up_[a]));
        dirty_[parts.word[a]] = 1;
      }
      if (y_[a] != z_down_[a]) {
        dual_down_[a] -= step * (static_cast<double>(y_[a]) - static_cast<double>(z_down_[a]));
        dirty_[parts.head[a]] = 1;
      }
    }
  }
  return result;
}

}  // namespace structlearn::parsing
