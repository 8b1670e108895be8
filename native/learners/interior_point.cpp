#include "learners/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learners/newton_system.hpp"
#include "numeric/elementary.hpp"

namespace structlearn {

double SparseRows::dot(std::size_t row, const double* x) const {
  double sum = 0.0;
  for (std::size_t k = ptr[row]; k < ptr[row + 1]; ++k) sum += value[k] * x[column[k]];
  return sum;
}

void SparseRows::add(std::size_t row, double a, double* x) const {
  for (std::size_t k = ptr[row]; k < ptr[row + 1]; ++k) x[column[k]] += a * value[k];
}

void BlockProgram::add_row(std::vector<std::pair<std::size_t, double>>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < entries.size();) {
    const std::size_t column = entries[k].first;
    double sum = 0.0;
    for (; k < entries.size() && entries[k].first == column; ++k) sum += entries[k].second;
    if (sum == 0.0) continue;
    rows.column.push_back(static_cast<std::uint32_t>(column));
    rows.value.push_back(sum);
  }
  rows.ptr.push_back(rows.column.size());
}

void BlockProgram::end_block(double gold_cost, double scale) {
  block.push_back(rows.size());
  gold.push_back(gold_cost);
  C.push_back(scale);
}

std::vector<std::size_t> BlockProgram::compact() {
  std::vector<std::uint32_t> place(columns, 0);
  for (const std::uint32_t j : rows.column) place[j] = 1;
  std::vector<std::size_t> kept;
  for (std::size_t j = 0; j < columns; ++j) {
    if (place[j] == 0) continue;
    place[j] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(j);
  }
  for (std::uint32_t& j : rows.column) j = place[j];
  columns = kept.size();
  return kept;
}

double BlockProgram::work() const {
  return std::min(NewtonSystem::work_by_weights(*this), NewtonSystem::work_by_rows(*this));
}

bool BlockProgram::small_enough() const {
  constexpr std::size_t kMost = 3000;
  return (NewtonSystem::by_weights(*this) ? columns : rows.size()) <= kMost;
}

namespace {

using Vector = std::vector<double>;

constexpr std::size_t kMostIterations = 100;
// Steps without a tenth off the gap after which rounding is all there is.
constexpr std::size_t kPatience = 15;
// How far a step goes towards the boundary.
constexpr double kInside = 0.995;

// A value a row and a value a block: of b and the rest, or of the slacks.
struct Point {
  Vector row, gold;
};

class Run {
 public:
  Run(const BlockProgram& program, NewtonSystem& system)
      : p_(program), system_(system), n_(program.rows.size()), blocks_(program.blocks()) {}

  // `level`: how far b begins between the size of the best multiple of all vectors (0) and the
  // middle of the simplices (1), by orders of magnitude.
  void begin(double level);
  // False where rounding leaves no step.
  bool step();
  // The gap between w and b as they are; `solution` takes them where it is the smallest so far.
  double look(BlockSolution& solution) const;

 private:
  struct Direction {
    Vector w, xi;
    Point b, s;
  };

  std::size_t begin_of(std::size_t i) const { return p_.block[i]; }
  void residuals();
  // The Newton step for products b s that change by `change`.
  void direction(const Point& change, Direction& to);
  // The part of it that moves with the weights.
  void follow(const Vector& w, Direction& to) const;
  double longest(const Direction& d) const;
  double mean_product(const Direction* d, double length) const;

  const BlockProgram& p_;
  NewtonSystem& system_;
  std::size_t n_, blocks_;
  Vector w_, xi_;
  Point b_, s_;
  // What is left of: w + V'b = 0; xi - cost - Vw - s = 0; sum b + rest - C = 0.
  Vector dual_, sum_;
  Point primal_;
  Vector dot_, total_;
  Point ratio_;  // b / s
  double mu_ = 0.0, first_mu_ = 0.0, first_residual_[2] = {0.0, 0.0};
};

double largest(const Vector& x) {
  double most = 0.0;
  for (const double v : x) most = std::max(most, std::fabs(v));
  return most;
}

void Run::begin(double level) {
  double squares = 0.0, costs = 0.0, spread = 0.0;
  for (const double v : p_.rows.value) squares += v * v;
  for (std::size_t i = 0; i < blocks_; ++i) {
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      costs += std::fabs(p_.cost[r] - p_.gold[i]);
      spread = std::max(spread, std::fabs(p_.cost[r] - p_.gold[i]));
    }
  }
  const double multiple = squares > 0.0 && costs > 0.0 ? costs / squares : HUGE_VAL;
  w_.assign(p_.columns, 0.0);
  b_.row.assign(n_, 0.0);
  b_.gold.assign(blocks_, 0.0);
  s_.row.assign(n_, spread);
  s_.gold.assign(blocks_, 0.0);
  double mean = 0.0;
  for (std::size_t i = 0; i < blocks_; ++i) {
    const auto count = static_cast<double>(begin_of(i + 1) - begin_of(i));
    const double middle = p_.C[i] / (count + 1.0);
    const double b = multiple < middle
                         ? multiple * elementary::exp(level * elementary::log(middle / multiple))
                         : middle;
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) b_.row[r] = b;
    b_.gold[i] = p_.C[i] - count * b;
    mean += count * b;
  }
  const std::size_t inside = p_.block.back();
  mean /= static_cast<double>(std::max<std::size_t>(1, inside));
  for (std::size_t r = inside; r < n_; ++r) b_.row[r] = mean;
  xi_.resize(blocks_);
  for (std::size_t i = 0; i < blocks_; ++i) {
    s_.gold[i] = mean * spread / b_.gold[i];
    xi_[i] = p_.gold[i] + s_.gold[i];
  }
  residuals();
  first_mu_ = mu_;
  first_residual_[0] = largest(dual_);
  first_residual_[1] = std::max(largest(primal_.row), largest(primal_.gold));
}

double Run::mean_product(const Direction* d, double t) const {
  double sum = 0.0;
  const auto add = [&](const Vector& b, const Vector& s, const Vector* db, const Vector* ds) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      sum += db ? (b[k] + t * (*db)[k]) * (s[k] + t * (*ds)[k]) : b[k] * s[k];
    }
  };
  add(b_.row, s_.row, d ? &d->b.row : nullptr, d ? &d->s.row : nullptr);
  add(b_.gold, s_.gold, d ? &d->b.gold : nullptr, d ? &d->s.gold : nullptr);
  return sum / static_cast<double>(n_ + blocks_);
}

void Run::residuals() {
  dual_ = w_;
  dot_.resize(n_);
  primal_.row.resize(n_);
  primal_.gold.resize(blocks_);
  ratio_.row.resize(n_);
  ratio_.gold.resize(blocks_);
  sum_.resize(blocks_);
  total_.resize(blocks_);
  for (std::size_t r = 0; r < n_; ++r) {
    p_.rows.add(r, b_.row[r], dual_.data());
    dot_[r] = p_.rows.dot(r, w_.data());
    ratio_.row[r] = b_.row[r] / s_.row[r];
  }
  for (std::size_t i = 0; i < blocks_; ++i) {
    primal_.gold[i] = xi_[i] - p_.gold[i] - s_.gold[i];
    ratio_.gold[i] = b_.gold[i] / s_.gold[i];
    sum_[i] = b_.gold[i];
    total_[i] = ratio_.gold[i];
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      primal_.row[r] = xi_[i] - p_.cost[r] - dot_[r] - s_.row[r];
      sum_[i] += b_.row[r];
      total_[i] += ratio_.row[r];
    }
    sum_[i] -= p_.C[i];
  }
  for (std::size_t r = p_.block.back(); r < n_; ++r) primal_.row[r] = -dot_[r] - s_.row[r];
  mu_ = mean_product(nullptr, 0.0);
}

double Run::look(BlockSolution& best) const {
  // The weights, inside of what bounds them: rows that share no column are settled one by one.
  Vector w = w_, dot = dot_;
  bool moved = false;
  for (std::size_t r = p_.block.back(); r < n_; ++r) {
    if (!(dot[r] > 0.0)) continue;
    double square = 0.0;
    for (std::size_t k = p_.rows.ptr[r]; k < p_.rows.ptr[r + 1]; ++k) {
      square += p_.rows.value[k] * p_.rows.value[k];
    }
    p_.rows.add(r, -dot[r] / square, w.data());
    moved = true;
  }
  for (std::size_t r = 0; moved && r < n_; ++r) dot[r] = p_.rows.dot(r, w.data());
  // The point of the simplices that b stands for.
  Point b = b_;
  Vector away = w;
  double gap = 0.0, primal = 0.0;
  for (std::size_t i = 0; i < blocks_; ++i) {
    double sum = b.gold[i], most = p_.gold[i];
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      sum += b.row[r];
      most = std::max(most, p_.cost[r] + dot[r]);
    }
    const double scale = p_.C[i] / sum;
    b.gold[i] *= scale;
    gap += b.gold[i] * (most - p_.gold[i]);
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      b.row[r] *= scale;
      gap += b.row[r] * (most - (p_.cost[r] + dot[r]));
    }
    primal += p_.C[i] * most;
  }
  for (std::size_t r = 0; r < n_; ++r) {
    p_.rows.add(r, b.row[r], away.data());
    if (r >= p_.block.back()) gap += b.row[r] * std::max(0.0, -dot[r]);
  }
  for (std::size_t j = 0; j < w.size(); ++j) {
    gap += 0.5 * away[j] * away[j];
    primal += 0.5 * w[j] * w[j];
  }
  if (gap < best.gap) {
    best.w = std::move(w);
    best.b = std::move(b.row);
    best.rest = std::move(b.gold);
    best.gap = gap;
    best.primal = primal;
  }
  return gap;
}

// xi, s and b follow from the weights' part of a direction.
void Run::follow(const Vector& w, Direction& to) const {
  Vector dots(n_);
  for (std::size_t r = 0; r < n_; ++r) dots[r] = p_.rows.dot(r, w.data());
  for (std::size_t i = 0; i < blocks_; ++i) {
    double mean = 0.0;
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) mean += ratio_.row[r] * dots[r];
    mean /= total_[i];
    to.xi[i] += mean;
    to.s.gold[i] += mean;
    to.b.gold[i] -= ratio_.gold[i] * mean;
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      to.s.row[r] += mean - dots[r];
      to.b.row[r] -= ratio_.row[r] * (mean - dots[r]);
    }
  }
  for (std::size_t r = p_.block.back(); r < n_; ++r) {
    to.s.row[r] -= dots[r];
    to.b.row[r] += ratio_.row[r] * dots[r];
  }
  for (std::size_t j = 0; j < w.size(); ++j) to.w[j] += w[j];
}

void Run::direction(const Point& change, Direction& to) {
  // With the weights held still:
  to.w.assign(w_.size(), 0.0);
  to.xi.assign(blocks_, 0.0);
  to.b.row.resize(n_);
  to.s.row.resize(n_);
  to.b.gold.resize(blocks_);
  to.s.gold.resize(blocks_);
  const auto alone = [&](std::size_t r, double xi) {
    to.s.row[r] = xi + primal_.row[r];
    to.b.row[r] = (change.row[r] - b_.row[r] * to.s.row[r]) / s_.row[r];
  };
  for (std::size_t i = 0; i < blocks_; ++i) {
    double sum = (change.gold[i] - b_.gold[i] * primal_.gold[i]) / s_.gold[i] + sum_[i];
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) {
      sum += (change.row[r] - b_.row[r] * primal_.row[r]) / s_.row[r];
    }
    to.xi[i] = sum / total_[i];
    to.s.gold[i] = to.xi[i] + primal_.gold[i];
    to.b.gold[i] = (change.gold[i] - b_.gold[i] * to.s.gold[i]) / s_.gold[i];
    for (std::size_t r = begin_of(i); r < begin_of(i + 1); ++r) alone(r, to.xi[i]);
  }
  for (std::size_t r = p_.block.back(); r < n_; ++r) alone(r, 0.0);
  // The weights answer what that leaves of w + V'b = 0; once more, for the sake of rounding.
  Vector left(w_.size());
  for (int again = 0; again < 2; ++again) {
    for (std::size_t j = 0; j < left.size(); ++j) left[j] = -dual_[j] - to.w[j];
    for (std::size_t r = 0; r < n_; ++r) p_.rows.add(r, -to.b.row[r], left.data());
    system_.solve(left);
    follow(left, to);
  }
}

double Run::longest(const Direction& d) const {
  double t = HUGE_VAL;
  const auto limit = [&](const Vector& x, const Vector& dx) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (dx[k] < 0.0) t = std::min(t, -x[k] / dx[k]);
    }
  };
  limit(b_.row, d.b.row);
  limit(b_.gold, d.b.gold);
  limit(s_.row, d.s.row);
  limit(s_.gold, d.s.gold);
  return t;
}

bool Run::step() {
  if (!system_.prepare(ratio_.row, ratio_.gold)) return false;
  // Straight for the solution, to see how far that goes; then with what it has told.
  Point change = b_;
  for (std::size_t r = 0; r < n_; ++r) change.row[r] = -b_.row[r] * s_.row[r];
  for (std::size_t i = 0; i < blocks_; ++i) change.gold[i] = -b_.gold[i] * s_.gold[i];
  Direction d;
  direction(change, d);
  const double length = std::min(1.0, longest(d));
  const double less = mean_product(&d, length) / mu_;
  double target = mu_ * less * less * less;
  // The products must not run ahead of the equations.
  const double left =
      std::max(first_residual_[0] > 0.0 ? largest(dual_) / first_residual_[0] : 0.0,
               first_residual_[1] > 0.0
                   ? std::max(largest(primal_.row), largest(primal_.gold)) / first_residual_[1]
                   : 0.0);
  target = std::min(mu_, std::max(target, 0.1 * first_mu_ * left * (1.0 - length)));
  for (std::size_t r = 0; r < n_; ++r) change.row[r] += target - d.b.row[r] * d.s.row[r];
  for (std::size_t i = 0; i < blocks_; ++i) {
    change.gold[i] += target - d.b.gold[i] * d.s.gold[i];
  }
  direction(change, d);
  const double t = std::min(1.0, kInside * longest(d));
  if (!(t > 0.0) || !std::isfinite(largest(d.w))) return false;
  const auto move = [t](Vector& x, const Vector& dx) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * dx[k];
  };
  move(w_, d.w);
  move(xi_, d.xi);
  move(b_.row, d.b.row);
  move(b_.gold, d.b.gold);
  move(s_.row, d.s.row);
  move(s_.gold, d.s.gold);
  residuals();
  return std::isfinite(mu_) && mu_ > 0.0;
}

}  // namespace

BlockSolution solve_blocks(const BlockProgram& program, const Precision& wanted,
                           Interrupt& interrupt) {
  BlockSolution best;
  best.gap = HUGE_VAL;
  NewtonSystem system(program);
  // Beginnings differ in what they are good at; the first is good at most.
  for (const double level : {0.7, 1.0, 0.4}) {
    Run run(program, system);
    run.begin(level);
    double last = HUGE_VAL, lowest = HUGE_VAL;
    std::size_t idle = 0;
    for (std::size_t k = 0; k < kMostIterations && !interrupt.requested(); ++k) {
      if (!run.step()) break;
      ++best.steps;
      const double gap = run.look(best);
      best.reached = best.gap <= wanted.at(best.primal - best.gap);
      if (best.reached && (gap <= 1e-3 * std::fabs(best.primal) || gap > 0.5 * last)) break;
      idle = gap < 0.9 * lowest ? 0 : idle + 1;
      lowest = std::min(lowest, gap);
      last = gap;
      if (idle >= kPatience) break;
    }
    if (best.reached || interrupt.requested()) break;
  }
  return best;
}

}  // namespace structlearn
