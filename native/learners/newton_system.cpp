#include "learners/newton_system.hpp"

#include <algorithm>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kGold = static_cast<std::size_t>(-1);

double cube(std::size_t n) {
  const double x = static_cast<double>(n);
  return x * x * x / 6.0;
}

}  // namespace

double NewtonSystem::work_by_weights(const BlockProgram& program) {
  const SparseRows& rows = program.rows;
  double work = cube(program.columns);
  const auto square = [](std::size_t n) {
    return 0.5 * static_cast<double>(n) * static_cast<double>(n);
  };
  for (std::size_t i = 0; i < program.blocks(); ++i) {
    std::size_t all = 0;
    for (std::size_t r = program.block[i]; r < program.block[i + 1]; ++r) {
      all += rows.ptr[r + 1] - rows.ptr[r];
      work += 2.0 * square(rows.ptr[r + 1] - rows.ptr[r]);
    }
    // The square of their sum: added as whole rows.
    if (program.block[i + 1] - program.block[i] > 1) {
      work += 0.25 * square(std::min(all, program.columns));
    }
  }
  return work;
}

double NewtonSystem::work_by_rows(const BlockProgram& program) {
  const double n = static_cast<double>(program.rows.size());
  return cube(program.rows.size()) + 4.0 * n * n;
}

bool NewtonSystem::by_weights(const BlockProgram& program) {
  return work_by_weights(program) <= work_by_rows(program);
}

NewtonSystem::NewtonSystem(const BlockProgram& program)
    : program_(program),
      by_weights_(by_weights(program)),
      matrix_(by_weights_ ? program.columns : program.rows.size()),
      sum_(program.columns, 0.0) {
  if (by_weights_) return;
  const SparseRows& rows = program.rows;
  const std::size_t n = rows.size();
  products_.resize(n * n);
  std::vector<double> dense(program.columns, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    rows.add(a, 1.0, dense.data());
    for (std::size_t b = 0; b <= a; ++b) {
      products_[a * n + b] = products_[b * n + a] = rows.dot(b, dense.data());
    }
    for (std::size_t k = rows.ptr[a]; k < rows.ptr[a + 1]; ++k) dense[rows.column[k]] = 0.0;
  }
}

// The vector of a vertex minus its pivot's, into column_ and value_.
void NewtonSystem::difference(const Vertex& vertex) {
  const SparseRows& rows = program_.rows;
  column_.clear();
  value_.clear();
  std::size_t i = 0, i_end = 0, j = 0, j_end = 0;
  if (vertex.row != kGold) i = rows.ptr[vertex.row], i_end = rows.ptr[vertex.row + 1];
  if (vertex.pivot != kGold) j = rows.ptr[vertex.pivot], j_end = rows.ptr[vertex.pivot + 1];
  while (i < i_end || j < j_end) {
    const bool mine = j == j_end || (i < i_end && rows.column[i] <= rows.column[j]);
    const bool theirs = i == i_end || (j < j_end && rows.column[j] <= rows.column[i]);
    const std::uint32_t column = mine ? rows.column[i] : rows.column[j];
    const double x = (mine ? rows.value[i] : 0.0) - (theirs ? rows.value[j] : 0.0);
    i += mine;
    j += theirs;
    if (x == 0.0) continue;
    column_.push_back(column);
    value_.push_back(x);
  }
}

// matrix += a * the square of the difference at hand.
void NewtonSystem::add_square(double a) {
  const std::size_t n = column_.size();
  for (std::size_t i = 0; i < n; ++i) {
    double* row = matrix_.row(column_[i]);
    const double x = a * value_[i];
    for (std::size_t j = i; j < n; ++j) row[column_[j]] += x * value_[j];
  }
}

void NewtonSystem::add_block(std::span<const Vertex> vertices, double pivot_d) {
  double total = pivot_d;
  for (const Vertex& vertex : vertices) total += vertex.d;
  if (vertices.size() == 1) {
    difference(vertices[0]);
    add_square(vertices[0].d * (pivot_d / total));
    return;
  }
  std::size_t first = sum_.size(), last = 0;
  for (const Vertex& vertex : vertices) {
    difference(vertex);
    if (column_.empty()) continue;
    add_square(vertex.d);
    first = std::min<std::size_t>(first, column_.front());
    last = std::max<std::size_t>(last, column_.back());
    for (std::size_t k = 0; k < column_.size(); ++k) sum_[column_[k]] += vertex.d * value_[k];
  }
  for (std::size_t i = first; i <= last && i < sum_.size(); ++i) {
    if (sum_[i] == 0.0) continue;
    kernels().add_scaled(-sum_[i] / total, sum_.data() + i, matrix_.row(i) + i, last + 1 - i);
    sum_[i] = 0.0;
  }
}

// <u_a, u_b> of two vertices, from the products of the rows.
double NewtonSystem::product(std::size_t a, std::size_t b) {
  const std::size_t n = program_.rows.size();
  const auto of = [&](std::size_t r, std::size_t s) {
    return r == kGold || s == kGold ? 0.0 : products_[r * n + s];
  };
  const Vertex &x = vertices_[a], &y = vertices_[b];
  return (of(x.row, y.row) - of(x.pivot, y.row)) - (of(x.row, y.pivot) - of(x.pivot, y.pivot));
}

// diag(d)^-1 + 11'/pivot_d in each block, plus all products.
void NewtonSystem::prepare_rows() {
  for (std::size_t i = 0; i + 1 < block_begin_.size(); ++i) {
    for (std::size_t a = block_begin_[i]; a < block_begin_[i + 1]; ++a) {
      double* row = matrix_.row(a);
      for (std::size_t b = a; b < vertices_.size(); ++b) row[b] = product(a, b);
      row[a] += 1.0 / vertices_[a].d;
      if (i == pivot_d_.size()) continue;  // no block
      for (std::size_t b = a; b < block_begin_[i + 1]; ++b) row[b] += 1.0 / pivot_d_[i];
    }
  }
}

bool NewtonSystem::prepare(std::span<const double> d, std::span<const double> d_gold) {
  vertices_.clear();
  block_begin_.clear();
  pivot_d_.clear();
  for (std::size_t i = 0; i < program_.blocks(); ++i) {
    const std::size_t begin = program_.block[i], end = program_.block[i + 1];
    std::size_t pivot = kGold;
    double most = d_gold[i];
    for (std::size_t r = begin; r < end; ++r) {
      if (d[r] > most) most = d[pivot = r];
    }
    block_begin_.push_back(vertices_.size());
    pivot_d_.push_back(most);
    for (std::size_t r = begin; r < end; ++r) {
      if (r != pivot) vertices_.push_back({r, pivot, d[r]});
    }
    if (pivot != kGold) vertices_.push_back({kGold, pivot, d_gold[i]});
  }
  block_begin_.push_back(vertices_.size());
  for (std::size_t r = program_.block.back(); r < program_.rows.size(); ++r) {
    vertices_.push_back({r, kGold, d[r]});
  }
  matrix_.clear();
  if (by_weights_) {
    for (std::size_t j = 0; j < matrix_.size(); ++j) matrix_(j, j) = 1.0;
    for (std::size_t i = 0; i < program_.blocks(); ++i) {
      const std::size_t begin = block_begin_[i], end = block_begin_[i + 1];
      if (end > begin) add_block({vertices_.data() + begin, end - begin}, pivot_d_[i]);
    }
    for (std::size_t a = block_begin_.back(); a < vertices_.size(); ++a) {
      difference(vertices_[a]);
      add_square(vertices_[a].d);
    }
  } else {
    block_begin_.push_back(vertices_.size());
    prepare_rows();
  }
  return matrix_.factorise();
}

void NewtonSystem::solve(std::span<double> x) {
  if (by_weights_) {
    matrix_.solve(x.data());
    return;
  }
  const SparseRows& rows = program_.rows;
  const std::size_t n = vertices_.size();
  std::vector<double> dots(rows.size()), y(n);
  for (std::size_t r = 0; r < rows.size(); ++r) dots[r] = rows.dot(r, x.data());
  const auto of = [&](std::size_t r) { return r == kGold ? 0.0 : dots[r]; };
  for (std::size_t a = 0; a < n; ++a) y[a] = of(vertices_[a].row) - of(vertices_[a].pivot);
  matrix_.solve(y.data());
  std::fill(dots.begin(), dots.end(), 0.0);  // what each row is subtracted with
  for (std::size_t a = 0; a < n; ++a) {
    if (vertices_[a].row != kGold) dots[vertices_[a].row] += y[a];
    if (vertices_[a].pivot != kGold) dots[vertices_[a].pivot] -= y[a];
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (dots[r] != 0.0) rows.add(r, -dots[r], x.data());
  }
}

}  // namespace structlearn
