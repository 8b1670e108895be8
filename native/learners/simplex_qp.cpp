#include "learners/simplex_qp.hpp"

#include <algorithm>
#include <cmath>

namespace structlearn {

void Gram::grow(std::span<const double> row) {
  entry_.insert(entry_.end(), row.begin(), row.end());
  ++size_;
}

void Gram::keep(std::span<const unsigned char> kept) {
  std::size_t out = 0, rows = 0;
  for (std::size_t a = 0; a < size_; ++a) {
    if (!kept[a]) continue;
    for (std::size_t b = 0; b <= a; ++b) {
      if (kept[b]) entry_[out++] = entry_[a * (a + 1) / 2 + b];
    }
    ++rows;
  }
  entry_.resize(out);
  size_ = rows;
}

double SimplexPoint::best() const {
  double best = origin;
  for (const double g : gradient) best = std::max(best, g);
  return best;
}

double SimplexPoint::mean() const {
  double sum = *rest * origin;
  for (std::size_t a = 0; a < alpha.size(); ++a) sum += alpha[a] * gradient[a];
  return sum;
}

double SimplexPoint::spread() const {
  double worst = *rest > 0.0 ? origin : HUGE_VAL;
  for (std::size_t a = 0; a < alpha.size(); ++a) {
    if (alpha[a] > 0.0) worst = std::min(worst, gradient[a]);
  }
  return best() - worst;
}

std::size_t pairwise_steps(const Gram& gram, double scale, SimplexPoint& point, double tolerance,
                           std::size_t most) {
  const std::size_t n = point.alpha.size(), origin = n;
  std::size_t steps = 0;
  for (; steps < most; ++steps) {
    std::size_t up = origin;
    double high = point.origin;
    for (std::size_t a = 0; a < n; ++a) {
      if (point.gradient[a] > high) high = point.gradient[up = a];
    }
    // From which vertex: the one whose move gains most.
    const double up_square = up == origin ? 0.0 : gram(up, up);
    std::size_t down = n + 1;
    double most_gain = 0.0, widest = 0.0;
    const auto consider = [&](std::size_t v, double weight, double gradient, double product) {
      const double lead = high - gradient;
      if (weight <= 0.0 || lead <= 0.0) return;
      widest = std::max(widest, lead);
      const double curvature = scale * (up_square + product);
      const double length = curvature * weight > lead ? lead / curvature : weight;
      const double gain = length * (lead - 0.5 * curvature * length);
      if (gain > most_gain) {
        most_gain = gain;
        down = v;
      }
    };
    for (std::size_t a = 0; a < n; ++a) {
      if (point.alpha[a] <= 0.0 || a == up) continue;
      const double cross = up == origin ? 0.0 : gram(up, a);
      consider(a, point.alpha[a], point.gradient[a], gram(a, a) - 2.0 * cross);
    }
    if (up != origin) consider(origin, *point.rest, point.origin, 0.0);
    if (down > n || widest <= tolerance) break;

    const double lead = high - (down == origin ? point.origin : point.gradient[down]);
    double& from = down == origin ? *point.rest : point.alpha[down];
    double& to = up == origin ? *point.rest : point.alpha[up];
    double square = up_square;
    if (down != origin) square += gram(down, down);
    if (down != origin && up != origin) square -= 2.0 * gram(up, down);
    const double curvature = scale * square;
    const double length = curvature * from > lead ? lead / curvature : from;
    to += length;
    from = length == from ? 0.0 : from - length;
    for (std::size_t b = 0; b < n; ++b) {
      const double product =
          (up == origin ? 0.0 : gram(b, up)) - (down == origin ? 0.0 : gram(b, down));
      point.gradient[b] -= scale * length * product;
    }
  }
  return steps;
}

namespace {

// Solves the positive semi-definite system Mx = y (rows of M one after another) by Cholesky; false
// where it breaks down, which is where nothing but rounding is left of a pivot.
bool cholesky(std::vector<double>& M, std::vector<double>& y, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    const double whole = M[j * n + j];
    for (std::size_t i = j; i < n; ++i) {
      double sum = M[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= M[i * n + k] * M[j * n + k];
      if (i == j) {
        if (!(sum > 1e-13 * whole)) return false;
        M[j * n + j] = std::sqrt(sum);
      } else {
        M[i * n + j] = sum / M[j * n + j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) y[i] -= M[i * n + k] * y[k];
    y[i] /= M[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= M[k * n + i] * y[k];
    y[i] /= M[i * n + i];
  }
  return true;
}

// One step on the face of the vertices in use: towards the point where their gradients are equal,
// as far as no weight turns negative. False where nothing moved.
bool face_step(const Gram& gram, SimplexPoint& point) {
  // One vertex in use, the pivot, gives what the others take: the origin, or the heaviest.
  std::vector<std::size_t> used;
  for (std::size_t a = 0; a < point.alpha.size(); ++a) {
    if (point.alpha[a] > 0.0) used.push_back(a);
  }
  const bool from_origin = *point.rest > 0.0;
  std::size_t pivot = 0;
  if (!from_origin) {
    if (used.size() < 2) return false;
    const auto heaviest = std::max_element(
        used.begin(), used.end(),
        [&](std::size_t a, std::size_t b) { return point.alpha[a] < point.alpha[b]; });
    pivot = *heaviest;
    used.erase(heaviest);
  }
  const std::size_t n = used.size();
  if (n == 0) return false;
  std::vector<double> M(n * n), x(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double m = gram(used[i], used[j]);
      if (!from_origin) {
        m += gram(pivot, pivot) - gram(used[i], pivot) - gram(used[j], pivot);
      }
      M[i * n + j] = m;
    }
    x[i] = point.gradient[used[i]] - (from_origin ? point.origin : point.gradient[pivot]);
  }
  if (!cholesky(M, x, n)) return false;
  double sum = 0.0;
  for (const double d : x) sum += d;
  double length = 1.0;
  std::size_t blocked = n + 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double alpha = point.alpha[used[i]];
    if (x[i] < 0.0 && alpha < -x[i] * length) {
      length = alpha / -x[i];
      blocked = i;
    }
  }
  double& given = from_origin ? *point.rest : point.alpha[pivot];
  if (sum > 0.0 && given < sum * length) {
    length = given / sum;
    blocked = n;
  }
  for (std::size_t i = 0; i < n; ++i) {
    point.alpha[used[i]] = blocked == i ? 0.0 : point.alpha[used[i]] + length * x[i];
  }
  given = blocked == n ? 0.0 : std::max(0.0, given - length * sum);
  return length > 0.0;
}

}  // namespace

double solve_simplex(const Gram& gram, std::span<const double> b, SimplexPoint& point,
                     double tolerance, std::size_t most_rounds) {
  const std::size_t n = point.alpha.size();
  const auto refresh = [&] {  // no rounding is carried from step to step
    for (std::size_t a = 0; a < n; ++a) {
      double sum = b[a];
      for (std::size_t c = 0; c < n; ++c) {
        if (point.alpha[c] > 0.0) sum -= point.alpha[c] * gram(a, c);
      }
      point.gradient[a] = sum;
    }
  };
  refresh();
  double before = HUGE_VAL;
  for (std::size_t round = 0; round < most_rounds && point.spread() > tolerance; ++round) {
    // Rounding sets a limit of its own.
    if (round % 4 == 3) {
      if (point.spread() > 0.5 * before) break;
      before = point.spread();
    }
    pairwise_steps(gram, 1.0, point, tolerance, 20 * n + 16);
    refresh();
    for (std::size_t k = 0; k < 4 && point.spread() > tolerance; ++k) {
      const bool moved = face_step(gram, point);
      refresh();
      if (!moved) break;
    }
  }
  return point.spread();
}

}  // namespace structlearn
