// Exponentials of a table of scores, remembered while the table stays the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// exp((table - shift) / eps), shift its largest entry; all 0 where that is -inf.
struct Exponentials {
  const double* E;
  double shift;
};

inline Exponentials exponentials(const double* table, std::size_t size, double eps, double* out) {
  const double shift = kernels().largest(table, size);
  if (shift == kMinusInfinity) {
    std::fill(out, out + size, 0.0);
  } else {
    kernels().exp_shifted(table, size, shift, 1.0 / eps, out);
  }
  return {out, shift};
}

// The same from memory where the last call had the same table.
inline Exponentials shared_exponentials(const double* table, std::size_t size, double eps,
                                        Workspace& ws) {
  auto& known = ws.shared;
  if (known.eps != eps || known.table.size() != size ||
      std::memcmp(known.table.data(), table, size * sizeof(double)) != 0) {
    known.table.assign(table, table + size);
    known.exponentials.resize(size);
    known.eps = eps;
    known.shift = exponentials(table, size, eps, known.exponentials.data()).shift;
  }
  return {known.exponentials.data(), known.shift};
}

}  // namespace structlearn
