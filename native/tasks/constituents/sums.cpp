#include "tasks/constituents/sums.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"

namespace structlearn::text {
namespace {

constexpr TreeFeatures::Place kPlaces[] = {
    TreeFeatures::Place::kFirst, TreeFeatures::Place::kMiddle, TreeFeatures::Place::kLast};

// out[x] = log of the sum over the rows of `ways` of exp(ways[row][x]).
void log_sum_rows(const double* ways, std::size_t rows, std::size_t width, double* out) {
  for (std::size_t x = 0; x < width; ++x) {
    double top = kMinusInfinity;
    for (std::size_t r = 0; r < rows; ++r) top = std::max(top, ways[r * width + x]);
    double sum = 0.0;
    if (top > kMinusInfinity) {
      for (std::size_t r = 0; r < rows; ++r) sum += std::exp(ways[r * width + x] - top);
    }
    out[x] = top > kMinusInfinity ? top + std::log(sum) : kMinusInfinity;
  }
}

double log_add(double a, double b) {
  const double top = std::max(a, b);
  if (top == kMinusInfinity) return top;
  return top + std::log1p(std::exp(std::min(a, b) - top));
}

// exp(part - whole), 0 where there is no whole.
double share(double part, double whole) {
  return part == kMinusInfinity ? 0.0 : std::exp(part - whole);
}

}  // namespace

void TreeSums::add(double* out) {
  rows_.clear();
  for (const std::uint64_t key : keys_) {
    const std::uint32_t row = index_.find(key);
    if (row != KeyIndex::kAbsent) {
      rows_.push_back(weights_ + static_cast<std::size_t>(row) * sizes_.labels);
    }
  }
  kernels().add_rows(nullptr, 0, rows_.data(), rows_.size(), sizes_.labels, out);
  keys_.clear();
}

void TreeSums::exponentials() {
  const std::size_t size = sizes_.table_size();
  most_ = *std::max_element(table_, table_ + size);
  pair_.resize(size);
  kernels().exp_shifted(table_, size, most_, 1.0, pair_.data());
}

double TreeSums::as_child(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j) {
  const std::size_t R = sizes_.labels, least = j == i + 1 ? 0 : 1;
  const double* node = node_.data() + at(i, j);
  const double top = *std::max_element(node + least, node + R);
  std::fill(denominator_.begin(), denominator_.end(), 0.0);
  symbol_.assign(R, 0.0);
  if (top == kMinusInfinity) return top;
  kernels().exp_shifted(node + least, R - least, top, 1.0, symbol_.data() + least);
  for (std::size_t s = least; s < R; ++s) {
    if (symbol_[s] == 0.0) continue;
    const double* pair = pair_.data() + sizes_.pair(place, s == 0 ? R + input.tag[i] : s, 0);
    for (std::size_t p = 0; p < R; ++p) denominator_[p] += symbol_[s] * pair[p];
  }
  return top;
}

double TreeSums::inside(const TreeInput& input) {
  const std::size_t n = n_ = input.tokens.size(), R = sizes_.labels;
  const std::size_t size = n * (n + 1) * R;
  for (auto* chart : {&node_, &inner_, &first_, &middle_, &follow_, &rest_, &last_}) {
    chart->assign(size, kMinusInfinity);
  }
  exponentials();
  denominator_.resize(R);
  scratch_.resize(3 * R);
  ways_.resize(2 * n * R);
  const TreeFeatures features(input.tokens);
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j <= n; ++j) {
      const std::size_t here = at(i, j);
      double *node = node_.data() + here, *rest = rest_.data() + here;
      double *scores = scratch_.data(), *more = scores + R;
      std::fill(scores, scores + R, 0.0);
      if (j == i + 1) {
        features.word(i, keys_);
        add(scores);
        std::copy(scores, scores + R, node);
      } else {
        const std::size_t splits = j - i - 1;
        double *as_node = ways_.data(), *as_rest = as_node + splits * R;
        for (std::size_t k = i + 1; k < j; ++k) {
          std::fill(scores, scores + R, 0.0);
          features.split(i, k, j, keys_);
          add(scores);
          const double *first = first_.data() + at(i, k), *middle = middle_.data() + at(i, k),
                       *after = follow_.data() + at(k, j);
          for (std::size_t x = 0; x < R; ++x) {
            as_node[(k - i - 1) * R + x] = first[x] + after[x] + scores[x];
            as_rest[(k - i - 1) * R + x] = middle[x] + after[x] + scores[x];
          }
        }
        log_sum_rows(as_node, splits, R, inner_.data() + here);
        log_sum_rows(as_rest, splits, R, rest);
        inner_[here] = kMinusInfinity;  // label 0 is a word's
        std::fill(scores, scores + 2 * R, 0.0);
        features.node(i, j, keys_);
        add(scores);
        features.rest(i, j, keys_);
        add(more);
        for (std::size_t x = 0; x < R; ++x) {
          node[x] = inner_[here + x] + scores[x];
          rest[x] += more[x];
        }
      }
      if (i == 0 && j == n) continue;
      double* places[] = {first_.data() + here, middle_.data() + here, last_.data() + here};
      for (std::size_t place = 0; place < 3; ++place) {
        const double top = as_child(input, place, i, j);
        std::fill(scores, scores + R, 0.0);
        TreeFeatures(input.tokens).child(kPlaces[place], i, j, keys_);
        add(scores);
        for (std::size_t p = 0; p < R; ++p) {
          places[place][p] = denominator_[p] > 0.0
                                 ? top + most_ + std::log(denominator_[p]) + scores[p]
                                 : kMinusInfinity;
        }
      }
      for (std::size_t x = 0; x < R; ++x) follow_[here + x] = log_add(rest[x], places[2][x]);
    }
  }
  total_ = kMinusInfinity;
  const double* whole = node_.data() + at(0, n);
  for (std::size_t s = n == 1 ? 0 : 1; s < R; ++s) {
    total_ = log_add(total_, whole[s] + table_[sizes_.root(s == 0 ? R + input.tag[0] : s)]);
  }
  return total_;
}

void TreeSums::hand_down(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j,
                         const double* p, double least, TreeCounts* counts) {
  const std::size_t R = sizes_.labels;
  if (*std::max_element(p, p + R) <= least) return;
  as_child(input, place, i, j);
  double* weight = scratch_.data() + 2 * R;
  for (std::size_t x = 0; x < R; ++x)
    weight[x] = denominator_[x] > 0.0 ? p[x] / denominator_[x] : 0;
  double* node = p_node_.data() + at(i, j);
  for (std::size_t s = j == i + 1 ? 0 : 1; s < R; ++s) {
    if (symbol_[s] == 0.0) continue;
    const std::size_t entry = sizes_.pair(place, s == 0 ? R + input.tag[i] : s, 0);
    const double* pair = pair_.data() + entry;
    double sum = 0.0;
    for (std::size_t x = 0; x < R; ++x) sum += pair[x] * weight[x];
    node[s] += symbol_[s] * sum;
    if (!counts || symbol_[s] * sum <= least) continue;
    for (std::size_t x = 0; x < R; ++x) {
      const double q = symbol_[s] * pair[x] * weight[x];
      if (q > least) counts->pair(entry + x, q);
    }
  }
  if (counts) {
    TreeFeatures(input.tokens).child(kPlaces[place], i, j, keys_);
    counts->features(keys_, p);
    keys_.clear();
  }
}

void TreeSums::outside(const TreeInput& input, double least, TreeCounts* counts) {
  const std::size_t n = n_, R = sizes_.labels;
  for (auto* chart : {&p_node_, &p_first_, &p_middle_, &p_follow_}) {
    chart->assign(n * (n + 1) * R, 0.0);
  }
  const TreeFeatures features(input.tokens);
  std::vector<double> split(R), last(R), rest(R), both(R);
  for (std::size_t s = n == 1 ? 0 : 1; s < R; ++s) {
    const std::size_t entry = sizes_.root(s == 0 ? R + input.tag[0] : s);
    const double p = share(node_[at(0, n) + s] + table_[entry], total_);
    p_node_[at(0, n) + s] = p;
    if (counts && p > least) counts->pair(entry, p);
  }
  for (std::size_t length = n; length > 0; --length) {
    for (std::size_t i = 0; i + length <= n; ++i) {
      const std::size_t j = i + length, here = at(i, j);
      double* node = p_node_.data() + here;
      std::fill(rest.begin(), rest.end(), 0.0);
      if (length < n) {
        for (std::size_t x = 0; x < R; ++x) {
          const double p = p_follow_[here + x];
          last[x] = p > 0.0 ? p * share(last_[here + x], follow_[here + x]) : 0.0;
          rest[x] = p > 0.0 ? p * share(rest_[here + x], follow_[here + x]) : 0.0;
        }
        hand_down(input, 0, i, j, p_first_.data() + here, least, counts);
        hand_down(input, 1, i, j, p_middle_.data() + here, least, counts);
        hand_down(input, 2, i, j, last.data(), least, counts);
      }
      const bool as_node = *std::max_element(node, node + R) > least;
      const bool as_rest = *std::max_element(rest.begin(), rest.end()) > least;
      if (counts && as_node) {
        length == 1 ? features.word(i, keys_) : features.node(i, j, keys_);
        counts->features(keys_, node);
        keys_.clear();
      }
      if (counts && as_rest) {
        features.rest(i, j, keys_);
        counts->features(keys_, rest.data());
        keys_.clear();
      }
      if (length == 1 || !(as_node || as_rest)) continue;
      // A rest without the features of its span: they are the same for every split.
      double* own = scratch_.data();
      std::fill(own, own + R, 0.0);
      features.rest(i, j, keys_);
      add(own);
      for (std::size_t k = i + 1; k < j; ++k) {
        std::fill(split.begin(), split.end(), 0.0);
        features.split(i, k, j, keys_);
        add(split.data());
        const std::size_t left = at(i, k), right = at(k, j);
        for (std::size_t x = 0; x < R; ++x) {
          both[x] = 0.0;
          const double after = follow_[right + x] + split[x];
          if (node[x] > least) {
            const double q = node[x] * share(first_[left + x] + after, inner_[here + x]);
            p_first_[left + x] += q;
            both[x] += q;
          }
          if (rest[x] > least) {
            const double q = rest[x] * share(middle_[left + x] + after + own[x], rest_[here + x]);
            p_middle_[left + x] += q;
            both[x] += q;
          }
          p_follow_[right + x] += both[x];
        }
        if (counts && *std::max_element(both.begin(), both.end()) > least) {
          features.split(i, k, j, keys_);
          counts->features(keys_, both.data());
          keys_.clear();
        }
      }
    }
  }
}

}  // namespace structlearn::text
