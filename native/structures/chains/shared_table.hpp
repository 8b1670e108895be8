// Exponentials of a table of scores, cached as long as the table stays the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// exp((table - shift) / eps), shift its largest entry; all 0 if that is -inf.
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

// The same, cached if the last call had the same table.
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

// The exponentials of tables of K * K scores, one per position or (stride 0) the same for all.
class TableExponentials {
 public:
  // `own` has room for two tables; the second is free for the caller.
  TableExponentials(const double* first, std::size_t stride, std::size_t K, double eps, double* own,
                    Workspace& ws)
      : size_(K * K), stride_(stride), eps_(eps), own_(own) {
    if (stride == 0) shared_ = shared_exponentials(first, size_, eps, ws);
  }
  Exponentials of(const double* table) const {
    return stride_ == 0 ? shared_ : exponentials(table, size_, eps_, own_);
  }
  const double* shared() const { return shared_.E; }
  double* scratch() const { return own_ + size_; }

 private:
  std::size_t size_, stride_;
  double eps_;
  double* own_;
  Exponentials shared_{};
};

}  // namespace structlearn
