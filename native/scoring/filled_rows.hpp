// Sparse rows of weights, of which nearly full ones are stored full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace structlearn {

struct FilledRows {
  std::vector<std::uint32_t> row_ptr, column;
  std::vector<std::uint8_t> real;  // 0: the entry is padding of its row
  bool empty() const { return row_ptr.empty(); }
};

// Rows with at least about a quarter of the outcomes get all of them: full rows are added as
// vectors, which is faster. Columns ascend in each row. Empty if no row is nearly full.
inline FilledRows filled_rows(std::span<const std::uint32_t> row_ptr,
                              std::span<const std::uint32_t> column, std::size_t outcomes) {
  const auto size = [&](std::size_t f) { return std::size_t{row_ptr[f + 1] - row_ptr[f]}; };
  const auto nearly_full = [&](std::size_t f) {
    return size(f) >= std::max<std::size_t>(4, outcomes / 4) && size(f) < outcomes;
  };
  const std::size_t rows = row_ptr.size() - 1;
  std::size_t total = column.size();
  for (std::size_t f = 0; f < rows; ++f) total += nearly_full(f) ? outcomes - size(f) : 0;
  FilledRows out;
  if (total == column.size()) return out;
  out.row_ptr.resize(rows + 1, 0);
  out.column.resize(total);
  out.real.resize(total, 1);
  std::uint32_t at = 0;
  for (std::size_t f = 0; f < rows; ++f) {
    const std::uint32_t begin = row_ptr[f], end = row_ptr[f + 1];
    if (!nearly_full(f)) {
      std::copy(column.begin() + begin, column.begin() + end, out.column.begin() + at);
      at += end - begin;
    } else {
      std::uint32_t q = begin;
      for (std::uint32_t k = 0; k < outcomes; ++k, ++at) {
        out.column[at] = k;
        out.real[at] = q < end && column[q] == k;
        q += out.real[at];
      }
    }
    out.row_ptr[f + 1] = at;
  }
  return out;
}

}  // namespace structlearn
