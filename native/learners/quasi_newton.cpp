#include "learners/quasi_newton.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "numeric/kernels.hpp"
#include "numeric/parallel.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kRun = 16384;  // of the passes below; fixed, whatever the threads

// Calls body(begin, end, sums) for fixed chunks and adds the chunks' sums up in order.
template <std::size_t N, class Body>
std::array<double, N> sum_chunks(std::size_t n, std::size_t threads, Body&& body) {
  const std::size_t chunks = (n + kRun - 1) / kRun;
  std::vector<std::array<double, N>> part(chunks, std::array<double, N>{});
  parallel_for(chunks, threads, [&](std::size_t c, std::size_t) {
    body(c * kRun, std::min(n, (c + 1) * kRun), part[c]);
  });
  std::array<double, N> total{};
  for (const auto& p : part) {
    for (std::size_t k = 0; k < N; ++k) total[k] += p[k];
  }
  return total;
}

// Eight running sums, so that the compiler may use vectors of any width up to that.
struct Lanes {
  static constexpr std::size_t kLanes = 8;
  double lane[kLanes] = {};
  double sum() const {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
};

// each(i, lane) for begin <= i < end, in blocks of eight.
template <class Each>
inline void by_lanes(std::size_t begin, std::size_t end, Each&& each) {
  std::size_t i = begin;
  for (; i + Lanes::kLanes <= end; i += Lanes::kLanes) {
    for (std::size_t l = 0; l < Lanes::kLanes; ++l) each(i + l, l);
  }
  for (; i < end; ++i) each(i, std::size_t{0});
}

}  // namespace

CurvatureMemory::CurvatureMemory(std::size_t n, std::size_t pairs)
    : n_(n),
      slots_(pairs + 1),  // a new pair is written before it is known whether it is any good
      sy_(slots_ * slots_),
      yy_(slots_ * slots_),
      vs_(slots_),
      vy_(slots_) {
  history_.resize((n + kTile - 1) / kTile * 2 * slots_ * kTile);
  order_.reserve(slots_);
}

CurvatureMemory::Dump CurvatureMemory::dump() const {
  Dump dump{{order_.begin(), order_.end()}, {}, sy_, yy_, vs_, vy_};
  dump.history.resize(order_.size() * 2 * n_);
  float* out = dump.history.data();
  for (const std::size_t slot : order_) {
    for (std::size_t row = 2 * slot; row < 2 * slot + 2; ++row) {
      for (std::size_t begin = 0; begin < n_; begin += kTile) {
        const float* from = tile(begin / kTile) + row * kTile;
        out = std::copy(from, from + std::min(kTile, n_ - begin), out);
      }
    }
  }
  return dump;
}

void CurvatureMemory::load(const Dump& dump) {
  bool fits = dump.order.size() < slots_ && dump.history.size() == dump.order.size() * 2 * n_ &&
              dump.sy.size() == sy_.size() && dump.yy.size() == yy_.size() &&
              dump.vs.size() == vs_.size() && dump.vy.size() == vy_.size();
  std::vector<bool> used(slots_, false);
  for (const std::int64_t slot : dump.order) {
    fits = fits && slot >= 0 && static_cast<std::size_t>(slot) < slots_ &&
           !used[static_cast<std::size_t>(slot)];
    if (fits) used[static_cast<std::size_t>(slot)] = true;
  }
  if (!fits) throw std::invalid_argument("the saved pairs are not those of such a memory");
  order_.assign(dump.order.begin(), dump.order.end());
  sy_ = dump.sy, yy_ = dump.yy, vs_ = dump.vs, vy_ = dump.vy;
  const float* from = dump.history.data();
  for (const std::size_t slot : order_) {
    for (std::size_t row = 2 * slot; row < 2 * slot + 2; ++row) {
      for (std::size_t begin = 0; begin < n_; begin += kTile) {
        const std::size_t size = std::min(kTile, n_ - begin);
        std::copy(from, from + size, tile(begin / kTile) + row * kTile);
        from += size;
      }
    }
  }
}

bool CurvatureMemory::remember(const double* w, const double* w_before, const double* g,
                               const double* g_before, const double* v, std::size_t threads) {
  std::size_t fresh = 0;
  while (std::find(order_.begin(), order_.end(), fresh) != order_.end()) ++fresh;
  // Of a slot: <s, y new>, <s, v>, <y, y new>, <y, v>; and <s, s> of the new one.
  const std::size_t width = 4 * slots_ + 1;
  std::vector<double> part(tasks() * width, 0.0);
  parallel_for(tasks(), threads, [&](std::size_t task, std::size_t) {
    double* sums = part.data() + task * width;
    double y[kTile];
    for (std::size_t begin = task * kTask * kTile; begin < std::min(n_, (task + 1) * kTask * kTile);
         begin += kTile) {
      const std::size_t size = std::min(kTile, n_ - begin);
      float* rows = tile(begin / kTile);
      float* new_s = rows + 2 * fresh * kTile;
      float* new_y = new_s + kTile;
      for (std::size_t i = 0; i < size; ++i) {
        new_s[i] = static_cast<float>(w[begin + i] - w_before[begin + i]);
        new_y[i] = static_cast<float>(g[begin + i] - g_before[begin + i]);
        y[i] = static_cast<double>(new_y[i]);
        const double s = static_cast<double>(new_s[i]);
        sums[width - 1] += s * s;
      }
      const auto products = [&](std::size_t slot) {
        const float* s = rows + 2 * slot * kTile;
        kernels().dot_float_twice(s, y, v + begin, size, sums + 4 * slot);
        kernels().dot_float_twice(s + kTile, y, v + begin, size, sums + 4 * slot + 2);
      };
      products(fresh);
      for (const std::size_t slot : order_) products(slot);
    }
  });
  for (std::size_t task = 1; task < tasks(); ++task) {
    for (std::size_t k = 0; k < width; ++k) part[k] += part[task * width + k];
  }
  const auto take = [&](std::size_t slot) {
    vs_[slot] = part[4 * slot + 1];
    vy_[slot] = part[4 * slot + 3];
  };
  for (const std::size_t slot : order_) take(slot);
  const double curvature = part[4 * fresh], squared = part[4 * fresh + 2];
  // An angle between s and y that rounding may explain tells nothing, whatever the units.
  if (!(curvature > 1e-10 * std::sqrt(part[width - 1] * squared))) return false;
  if (order_.size() + 1 == slots_) order_.pop_back();
  order_.insert(order_.begin(), fresh);
  take(fresh);
  for (const std::size_t slot : order_) {
    sy_[slot * slots_ + fresh] = part[4 * slot];
    yy_[slot * slots_ + fresh] = yy_[fresh * slots_ + slot] = part[4 * slot + 2];
  }
  return true;
}

double CurvatureMemory::direction(const double* v, double* d, bool aligned,
                                  std::size_t threads) const {
  // The two-loop recursion on coefficients: q = v - sum of alpha_j y_j, then
  // H v = scale * q + sum of c_i s_i.
  std::vector<double> alpha(slots_, 0.0), c(slots_, 0.0);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t slot = order_[i];
    double product = vs_[slot];
    for (std::size_t j = 0; j < i; ++j)
      product -= alpha[order_[j]] * sy_[slot * slots_ + order_[j]];
    alpha[slot] = product / sy_[slot * slots_ + slot];
  }
  double scale = 1.0;
  if (!order_.empty()) {
    const std::size_t newest = order_[0] * slots_ + order_[0];
    scale = sy_[newest] / yy_[newest];
  }
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::size_t slot = order_[i];
    double product = vy_[slot];
    for (const std::size_t j : order_) product -= alpha[j] * yy_[slot * slots_ + j];
    product *= scale;
    for (std::size_t j = i + 1; j < order_.size(); ++j) {
      product += c[order_[j]] * sy_[order_[j] * slots_ + slot];
    }
    c[slot] = alpha[slot] - product / sy_[slot * slots_ + slot];
  }
  // Slots that are not in use have the coefficient 0, and maybe anything in them: rows in runs.
  std::vector<double> factor;
  std::vector<std::size_t> used(order_);
  std::sort(used.begin(), used.end());
  for (const std::size_t slot : used) {
    factor.push_back(-c[slot]);
    factor.push_back(scale * alpha[slot]);
  }
  std::vector<double> part(tasks(), 0.0);
  parallel_for(tasks(), threads, [&](std::size_t task, std::size_t) {
    double out[kTile];
    Lanes slope;
    for (std::size_t begin = task * kTask * kTile; begin < std::min(n_, (task + 1) * kTask * kTile);
         begin += kTile) {
      const std::size_t size = std::min(kTile, n_ - begin);
      const float* rows = tile(begin / kTile);
      const double* u = v + begin;
      for (std::size_t i = 0; i < size; ++i) out[i] = -scale * u[i];
      for (std::size_t k = 0; k < used.size();) {
        std::size_t run = k + 1;
        while (run < used.size() && used[run] == used[run - 1] + 1) ++run;
        kernels().add_scaled_floats(factor.data() + 2 * k, rows + 2 * used[k] * kTile,
                                    2 * (run - k), kTile, out, size);
        k = run;
      }
      if (aligned) {
        for (std::size_t i = 0; i < size; ++i) out[i] = out[i] * u[i] < 0.0 ? out[i] : 0.0;
      }
      by_lanes(0, size, [&](std::size_t i, std::size_t l) { slope.lane[l] += out[i] * u[i]; });
      std::copy(out, out + size, d + begin);
    }
    part[task] = slope.sum();
  });
  double total = 0.0;
  for (const double x : part) total += x;
  return total;
}

void advance(const double* w, const double* d, double step, std::size_t n, double* out,
             std::size_t threads) {
  sum_chunks<1>(n, threads, [&](std::size_t begin, std::size_t end, auto&) {
    for (std::size_t i = begin; i < end; ++i) out[i] = w[i] + step * d[i];
  });
}

void advance_in_orthant(const double* w, const double* d, const double* v, double step,
                        std::size_t n, double* out, std::size_t threads) {
  sum_chunks<1>(n, threads, [&](std::size_t begin, std::size_t end, auto&) {
    for (std::size_t i = begin; i < end; ++i) {
      const double side = w[i] != 0.0 ? w[i] : -v[i];
      const double moved = w[i] + step * d[i];
      // Not by the sign of a product, which may underflow to 0.
      const bool inside = side > 0.0 ? moved > 0.0 : side < 0.0 && moved < 0.0;
      out[i] = inside ? moved : 0.0;
    }
  });
}

SmoothPoint finish_gradient(const double* w, const double* d, double C, std::size_t n, double* g,
                            std::size_t threads) {
  const auto sums = sum_chunks<4>(n, threads, [&](std::size_t begin, std::size_t end, auto& out) {
    Lanes ww, gg, zz, gd;
    by_lanes(begin, end, [&](std::size_t i, std::size_t l) {
      const double x = w[i], z = C * g[i], slope = z + x;
      g[i] = slope;
      ww.lane[l] += x * x;
      gg.lane[l] += slope * slope;
      zz.lane[l] += z * z;
      gd.lane[l] += slope * d[i];
    });
    out = {ww.sum(), gg.sum(), zz.sum(), gd.sum()};
  });
  return {sums[0], sums[1], sums[2], sums[3]};
}

SparsePoint finish_pseudo_gradient(const double* w, const double* w_before, const double* v_before,
                                   double C, double l1, std::size_t n, double* g, double* v,
                                   std::size_t threads) {
  const auto sums = sum_chunks<5>(n, threads, [&](std::size_t begin, std::size_t end, auto& out) {
    Lanes ww, absolute, vv, moved, gap;
    by_lanes(begin, end, [&](std::size_t i, std::size_t l) {
      const double x = w[i], z = -C * g[i], size = std::abs(x);
      const double slope = x - z;
      const double beyond = std::abs(z) - l1, soft = beyond > 0.0 ? beyond : 0.0;
      // At 0 the slope must be steeper than l1 for a move to pay.
      const double at_zero = slope > l1 ? slope - l1 : slope < -l1 ? slope + l1 : 0.0;
      const double pseudo = x > 0.0 ? slope + l1 : x < 0.0 ? slope - l1 : at_zero;
      ww.lane[l] += x * x;
      absolute.lane[l] += size;
      vv.lane[l] += pseudo * pseudo;
      moved.lane[l] += v_before[i] * (x - w_before[i]);
      gap.lane[l] += 0.5 * x * x + l1 * size + 0.5 * soft * soft - x * z;  // never below 0
      g[i] = slope;
      v[i] = pseudo;
    });
    out = {ww.sum(), absolute.sum(), vv.sum(), moved.sum(), gap.sum()};
  });
  return {sums[0], sums[1], sums[2], sums[3], sums[4]};
}

}  // namespace structlearn
