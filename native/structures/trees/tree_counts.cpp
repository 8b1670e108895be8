#include "structures/trees/tree_counts.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace structlearn {
namespace {

using Sum = std::uint64_t;
using Row = std::uint32_t;

constexpr std::size_t kProducts = 60;  // of numbers below 2^29, plus the initial value

Row residue(std::int64_t x, std::uint32_t prime) {
  const std::int64_t r = x % static_cast<std::int64_t>(prime);
  return static_cast<Row>(r < 0 ? r + prime : r);
}

Row product(Row a, Row b, std::uint32_t prime) {
  return static_cast<Row>(Sum{a} * b % prime);
}

// By Fermat's little theorem; a is not 0.
Row inverse(Row a, std::uint32_t prime) {
  Row result = 1;
  for (std::uint32_t e = prime - 2; e > 0; e >>= 1) {
    if (e & 1) result = product(result, a, prime);
    a = product(a, a, prime);
  }
  return result;
}

void reduce(Sum* x, std::size_t n, std::uint32_t prime) {
  for (std::size_t i = 0; i < n; ++i) x[i] %= prime;
}

// y += a x
void add_times(Row a, const Row* x, Sum* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += Sum{a} * x[i];
}

// y += the sum of a[r] times row r of x: four rows per pass over y.
void add_times_4(const Row* a, const Row* x, std::size_t stride, Sum* y, std::size_t n) {
  const Row *x0 = x, *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
  const Sum a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += (a0 * x0[i] + a1 * x1[i]) + (a2 * x2[i] + a3 * x3[i]);
  }
}

}  // namespace

std::uint32_t determinant_modulo(const std::int64_t* matrix, std::size_t n, std::uint32_t prime) {
  std::vector<Row> upper(n * n), inverses(n);
  for (std::size_t i = 0; i < n * n; ++i) upper[i] = residue(matrix[i], prime);
  std::vector<Sum> row(n);
  Row value = 1;
  for (std::size_t i = 0; i < n; ++i) {
    Row* out = upper.data() + i * n;
    std::copy(out, out + n, row.begin());
    // Subtract its component along each row above, four of them at once.
    Row factor[4];
    for (std::size_t k = 0; k < i;) {
      const std::size_t rows = std::min<std::size_t>(4, i - k);
      for (std::size_t r = 0; r < rows; ++r) {
        const Row x = product(static_cast<Row>(row[k + r] % prime), inverses[k + r], prime);
        factor[r] = x == 0 ? 0 : prime - x;
        const Row* above = upper.data() + (k + r) * n;
        for (std::size_t c = k + r; c < k + rows; ++c) row[c] += Sum{factor[r]} * above[c];
      }
      const std::size_t next = k + rows;
      if (rows == 4) {
        add_times_4(factor, upper.data() + k * n + next, n, row.data() + next, n - next);
      } else {
        for (std::size_t r = 0; r < rows; ++r) {
          add_times(factor[r], upper.data() + (k + r) * n + next, row.data() + next, n - next);
        }
      }
      k = next;
      if (k % kProducts == 0) reduce(row.data() + k, n - k, prime);
    }
    reduce(row.data() + i, n - i, prime);
    std::copy(row.begin(), row.end(), out);  // before column i it is not read again
    std::size_t pivot = i;
    while (pivot < n && out[pivot] == 0) ++pivot;
    if (pivot == n) return 0;
    if (pivot != i) {
      for (std::size_t r = 0; r < n; ++r) std::swap(upper[r * n + i], upper[r * n + pivot]);
      value = prime - value;
    }
    value = product(value, out[i], prime);
    inverses[i] = inverse(out[i], prime);
  }
  return value;
}

namespace {

// The tables of eisner_chart.hpp with sums in place of maxima.
class CountChart {
 public:
  CountChart(const std::int64_t* ways, const std::uint8_t* pairs, std::size_t n,
             std::uint32_t prime)
      : pairs_(pairs), n_(n), N_(n + 1), prime_(prime), ways_(N_ * N_), tables_(5 * N_ * N_) {
    for (std::size_t h = 0; h < N_; ++h) {
      for (std::size_t m = 1; m < N_; ++m) {
        ways_[at(h, m)] = h == m ? 0 : residue(ways[at(h, m)], prime);
      }
    }
    Row* table = tables_.data();
    for (Row** t : {&right_, &left_, &arc_right_, &arc_left_, &between_}) {
      *t = table;
      table += N_ * N_;
    }
    for (auto& sums : sums_) sums.resize(N_);
  }

  Row count(bool single_root) {
    for (std::size_t i = N_; i-- > (single_root ? 1 : 0);) fill_row(i);
    if (!single_root) return right_[n_];
    Sum total = 0;
    for (std::size_t m = 1; m < N_; ++m) {
      if (pairs_ != nullptr && !pairs_[m]) continue;
      total += product(product(ways_[m], left_[at(1, m)], prime_), right_[at(m, n_)], prime_);
    }
    return static_cast<Row>(total % prime_);
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * N_ + j; }
  bool pair(std::size_t h, std::size_t s, std::size_t m) const {
    return pairs_[(h * N_ + s) * N_ + m] != 0;
  }

  void fill_row(std::size_t i) {
    auto& [right, left, between, with_right, with_left] = sums_;
    for (auto& sums : sums_)
      std::fill(sums.begin() + static_cast<std::ptrdiff_t>(i), sums.end(), 0);
    right_[at(i, i)] = left_[at(i, i)] = 1;
    for (std::size_t j = i + 1; j < N_; ++j) between[j] = left_[at(i + 1, j)];
    std::size_t pushed = 0;
    for (std::size_t j = i + 1; j < N_; ++j) {
      const Row beside = between_[at(i, j)] = static_cast<Row>(between[j] % prime_);
      Row first = beside, last = beside;
      if (pairs_ != nullptr) {
        first =
            static_cast<Row>((with_right[j] + (pair(i, i, j) ? left_[at(i + 1, j)] : 0)) % prime_);
        last =
            static_cast<Row>((with_left[j] + (pair(j, j, i) ? right_[at(i, j - 1)] : 0)) % prime_);
      }
      const Row arc_right = arc_right_[at(i, j)] = product(first, ways_[at(i, j)], prime_);
      const Row now_right = right_[at(i, j)] = static_cast<Row>((right[j] + arc_right) % prime_);
      Row now_left = 0;
      if (i > 0) {
        arc_left_[at(i, j)] = product(last, ways_[at(j, i)], prime_);
        now_left = left_[at(i, j)] = static_cast<Row>((left[j] + arc_left_[at(i, j)]) % prime_);
      }
      const std::size_t next = j + 1, rest = N_ - next;
      add_times(arc_right, right_ + at(j, next), right.data() + next, rest);
      if (rest > 0) add_times(now_right, left_ + at(next, next), between.data() + next, rest);
      if (i > 0) add_times(now_left, arc_left_ + at(j, next), left.data() + next, rest);
      if (pairs_ != nullptr) push_pairs(i, j);
      if (++pushed % kProducts != 0) continue;
      for (auto& sums : sums_) reduce(sums.data() + next, rest, prime_);
    }
  }

  void push_pairs(std::size_t i, std::size_t j) {
    const Sum before = arc_right_[at(i, j)], beside = between_[at(i, j)];
    for (std::size_t k = j + 1; k < N_; ++k) {
      if (pair(i, j, k)) sums_[3][k] += before * between_[at(j, k)];
      if (i > 0 && pair(k, j, i)) sums_[4][k] += beside * arc_left_[at(j, k)];
    }
  }

  const std::uint8_t* pairs_;
  std::size_t n_, N_;
  std::uint32_t prime_;
  std::vector<Row> ways_, tables_;
  Row *right_, *left_, *arc_right_, *arc_left_, *between_;
  // Of the row being filled: right, left, between, and arcs with a sibling.
  std::array<std::vector<Sum>, 5> sums_;
};

}  // namespace

std::uint32_t projective_modulo(const std::int64_t* ways, const std::uint8_t* pairs, std::size_t n,
                                bool single_root, std::uint32_t prime) {
  return CountChart(ways, pairs, n, prime).count(single_root);
}

}  // namespace structlearn
