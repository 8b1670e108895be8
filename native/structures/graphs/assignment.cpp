#include "structures/graphs/assignment.hpp"

#include <limits>
#include <utility>

namespace structlearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Costs of few sides (rows) and many sides (columns) with prices that make every reduced cost
// cost - row_price - column_price >= 0, and 0 along what is matched.
class Assigner {
 public:
  Assigner(const double* score, std::size_t rows, std::size_t columns)
      : turned_(rows > columns),
        few_(turned_ ? columns : rows),
        many_(turned_ ? rows : columns),
        cost_(few_ * many_),
        row_price_(few_, 0.0),
        column_price_(many_, 0.0),
        column_of_(few_, kNone),
        row_of_(many_, kNone),
        distance_(many_),
        before_(many_),
        open_(many_) {
    for (std::size_t i = 0; i < few_; ++i) {
      for (std::size_t j = 0; j < many_; ++j) {
        cost_[i * many_ + j] = -(turned_ ? score[j * columns + i] : score[i * columns + j]);
      }
    }
  }

  bool run() {
    for (std::size_t i = 0; i < few_; ++i) {
      if (!match(i)) return false;
    }
    return true;
  }

  void write(std::size_t rows, Output& y) const {
    y.assign(rows, -1);
    for (std::size_t i = 0; i < few_; ++i) {
      const std::size_t j = column_of_[i];
      y[turned_ ? j : i] = static_cast<std::int32_t>(turned_ ? i : j);
    }
  }

 private:
  // Finds the shortest path from a row to a free column, over matched columns (Dijkstra), and
  // augments along it.
  bool match(std::size_t start) {
    // Backwards, so that for constant costs each row gets the column of its own number.
    std::size_t left = many_;
    for (std::size_t k = 0; k < many_; ++k) {
      open_[k] = many_ - 1 - k;
      distance_[k] = kInfinity;
    }
    reached_rows_.clear();
    done_columns_.clear();
    double length = 0.0;
    std::size_t i = start, sink = kNone;
    while (sink == kNone) {
      reached_rows_.push_back(i);
      std::size_t nearest = kNone;
      double least = kInfinity;
      for (std::size_t k = 0; k < left; ++k) {
        const std::size_t j = open_[k];
        const double there = length + cost_[i * many_ + j] - row_price_[i] - column_price_[j];
        if (there < distance_[j]) {
          distance_[j] = there;
          before_[j] = i;
        }
        // Among equally near columns prefer a free one: the path ends there.
        if (distance_[j] < least || (distance_[j] == least && row_of_[j] == kNone)) {
          least = distance_[j];
          nearest = k;
        }
      }
      if (least == kInfinity) return false;
      length = least;
      const std::size_t j = open_[nearest];
      if (row_of_[j] == kNone) {
        sink = j;
      } else {
        i = row_of_[j];
      }
      done_columns_.push_back(j);
      open_[nearest] = open_[--left];
    }
    for (const std::size_t r : reached_rows_) {
      row_price_[r] += r == start ? length : length - distance_[column_of_[r]];
    }
    for (const std::size_t j : done_columns_) column_price_[j] -= length - distance_[j];
    for (std::size_t j = sink;;) {
      const std::size_t r = before_[j];
      row_of_[j] = r;
      std::swap(column_of_[r], j);
      if (r == start) return true;
    }
  }

  bool turned_;
  std::size_t few_, many_;
  std::vector<double> cost_, row_price_, column_price_;
  std::vector<std::size_t> column_of_, row_of_;
  std::vector<double> distance_;
  std::vector<std::size_t> before_, open_, reached_rows_, done_columns_;
};

}  // namespace

double best_assignment(const double* score, std::size_t rows, std::size_t columns, Output& y) {
  Assigner assigner(score, rows, columns);
  if (!assigner.run()) return kMinusInfinity;
  assigner.write(rows, y);
  double value = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (y[i] >= 0) value += score[i * columns + static_cast<std::size_t>(y[i])];
  }
  return value;
}

}  // namespace structlearn
