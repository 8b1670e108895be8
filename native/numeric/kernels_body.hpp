// The body of the kernels; included by one source file an instruction set, inside a namespace of
// its own. Nothing from the standard library is instantiated here: a template compiled for AVX-512
// must never be the copy that the linker keeps for everyone.

// Eight doubles as a row of the machine's own vectors. Half of AVX-512's width is used, with all of
// its registers: rows of K scores are rarely aligned to 64 bytes, and a load that straddles two
// cache lines costs what the width would gain (measured at K = 45).
#if defined(__AVX__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
constexpr int kPieces = 8 / kWidth;
typedef double vd __attribute__((vector_size(kWidth * 8)));
typedef long long vi __attribute__((vector_size(kWidth * 8)));

struct v8 {
  vd piece[kPieces];
};

static inline v8 load(const double* p) {
  v8 v;
  for (int i = 0; i < kPieces; ++i) __builtin_memcpy(&v.piece[i], p + i * kWidth, sizeof(vd));
  return v;
}
static inline void store(double* p, v8 v) {
  for (int i = 0; i < kPieces; ++i) __builtin_memcpy(p + i * kWidth, &v.piece[i], sizeof(vd));
}
static inline vd splat(double x) {
  return x - vd{};
}  // x - 0 is x, -0 included
static inline v8 zeros() {
  return v8{};
}
static inline v8 operator+(v8 a, v8 b) {
  for (int i = 0; i < kPieces; ++i) a.piece[i] = a.piece[i] + b.piece[i];
  return a;
}
static inline v8 operator+(vd a, v8 b) {
  for (int i = 0; i < kPieces; ++i) b.piece[i] = a + b.piece[i];
  return b;
}
static inline v8 operator*(v8 a, v8 b) {
  for (int i = 0; i < kPieces; ++i) a.piece[i] = a.piece[i] * b.piece[i];
  return a;
}
static inline v8 operator*(vd a, v8 b) {
  for (int i = 0; i < kPieces; ++i) b.piece[i] = a * b.piece[i];
  return b;
}
static inline v8 larger(v8 a, v8 b) {
  for (int i = 0; i < kPieces; ++i) {
    a.piece[i] = a.piece[i] > b.piece[i] ? a.piece[i] : b.piece[i];
  }
  return a;
}

// The lanes of the last, overlapping vector of a row that earlier vectors have not covered.
static inline v8 keep_tail(const double* last, std::size_t tail) {
  double lanes[8];
  for (std::size_t j = 0; j < 8; ++j) lanes[j] = j + tail >= 8 ? last[j] : 0.0;
  return load(lanes);
}

// N vectors of columns of one r, accumulators in registers. The last vector starts at `last`: where
// the columns do not fill it, it overlaps the one before, and the same values are written twice.
template <int N, bool kMax>
static inline void columns(const double* a, const double* T, double* out, std::size_t K1,
                           std::size_t a_stride, std::size_t T_stride, std::ptrdiff_t last) {
  v8 acc[N];
  {
    const vd s = splat(a[0]);
    for (int j = 0; j < N; ++j) {
      const v8 t = load(T + (j == N - 1 ? last : 8 * j));
      acc[j] = kMax ? s + t : s * t;
    }
  }
  for (std::size_t k1 = 1; k1 < K1; ++k1) {
    const vd s = splat(a[k1 * a_stride]);
    const double* row = T + k1 * T_stride;
    for (int j = 0; j < N; ++j) {
      const v8 t = load(row + (j == N - 1 ? last : 8 * j));
      if constexpr (kMax) {
        acc[j] = larger(s + t, acc[j]);
      } else {
        acc[j] = acc[j] + s * t;
      }
    }
  }
  for (int j = 0; j < N; ++j) store(out + (j == N - 1 ? last : 8 * j), acc[j]);
}

// As many accumulators as hide the latency and fit the registers.
#ifdef __AVX512F__
constexpr int kBlock = 6;
#else
constexpr int kBlock = kWidth == 4 ? 3 : 1;
#endif

// Calls body(number<n>) for a number 1 <= n <= N that is known only at run time; nothing for
// others.
template <int N>
struct number {
  static constexpr int value = N;
};
template <int N, class Body>
static inline void with_number(std::size_t n, Body&& body) {
  if (n == N) {
    body(number<N>());
  } else if constexpr (N > 1) {
    with_number<N - 1>(n, body);
  }
}

// out[k] = sum (or, in the max-plus algebra, max) over i < n of a[i] * T[i][k].
template <bool kMax>
static inline void row_times(const double* a, std::size_t a_stride, const double* T,
                             std::size_t T_stride, double* out, std::size_t n, std::size_t K) {
  if (K < 8) {
    for (std::size_t k = 0; k < K; ++k) out[k] = kMax ? a[0] + T[k] : a[0] * T[k];
    for (std::size_t i = 1; i < n; ++i) {
      const double s = a[i * a_stride];
      const double* row = T + i * T_stride;
      for (std::size_t k = 0; k < K; ++k) {
        if constexpr (kMax) {
          const double c = s + row[k];
          out[k] = c > out[k] ? c : out[k];
        } else {
          out[k] += s * row[k];
        }
      }
    }
    return;
  }
  std::size_t k = 0;
  for (; k + 8 * kBlock <= K; k += 8 * kBlock) {
    columns<kBlock, kMax>(a, T + k, out + k, n, a_stride, T_stride, 8 * (kBlock - 1));
  }
  if (k < K) {
    with_number<kBlock>((K - k + 7) / 8, [&](auto vectors) {
      columns<vectors.value, kMax>(a, T + k, out + k, n, a_stride, T_stride,
                                   static_cast<std::ptrdiff_t>(K - k) - 8);
    });
  }
}

template <bool kMax>
static inline void step(const double* a, const double* T, double* out, std::size_t K1,
                        std::size_t R, std::size_t K) {
  for (std::size_t r = 0; r < R; ++r) {
    row_times<kMax>(a + r, R, T + r * K, R * K, out + r * K, K1, K);
  }
}

static void max_step(const double* a, const double* T, double* out, std::size_t K1, std::size_t R,
                     std::size_t K) {
  step<true>(a, T, out, K1, R, K);
}

static void max_sum(const double* a, const double* b, double* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) store(out + i, larger(load(a + i) + load(b + i), load(out + i)));
  for (; i < n; ++i) {
    const double c = a[i] + b[i];
    out[i] = c > out[i] ? c : out[i];
  }
}

static void max_plus(double a, const double* b, double* out, std::size_t n) {
  std::size_t i = 0;
  const vd s = splat(a);
  for (; i + 8 <= n; i += 8) store(out + i, larger(s + load(b + i), load(out + i)));
  for (; i < n; ++i) {
    const double c = a + b[i];
    out[i] = c > out[i] ? c : out[i];
  }
}

static inline double largest_lane(v8 v) {
  double l[8];
  store(l, v);
  double best = l[0];
  for (int i = 1; i < 8; ++i) best = l[i] > best ? l[i] : best;
  return best;
}

// A maximum has no order to keep: the last, overlapping vector may look at entries twice.
static void max_step_back(const double* T, const double* b, double* out, std::size_t K1,
                          std::size_t K) {
  for (std::size_t k1 = 0; k1 < K1; ++k1, T += K) {
    if (K < 8) {
      double best = T[0] + b[0];
      for (std::size_t k = 1; k < K; ++k) {
        const double x = T[k] + b[k];
        best = x > best ? x : best;
      }
      out[k1] = best;
      continue;
    }
    v8 best = load(T + K - 8) + load(b + K - 8);
    for (std::size_t k = 0; k + 8 <= K; k += 8) best = larger(load(T + k) + load(b + k), best);
    out[k1] = largest_lane(best);
  }
}

static void sum_step(const double* a, const double* E, double* out, std::size_t K1, std::size_t R,
                     std::size_t K) {
  step<false>(a, E, out, K1, R, K);
}

static inline double sum_lanes(v8 v) {
  double l[8];
  store(l, v);
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

// out[i * out_stride] = <row i, b> for N rows at once, which hides the latency of the additions.
template <int N>
static inline void dot_rows(const double* E, std::size_t E_stride, const double* b, v8 b_tail,
                            double* out, std::size_t out_stride, std::size_t K) {
  const std::size_t full = K / 8 * 8;
  v8 acc[N];
  for (int i = 0; i < N; ++i) acc[i] = zeros();
  for (std::size_t k = 0; k < full; k += 8) {
    const v8 x = load(b + k);
    for (int i = 0; i < N; ++i) acc[i] = acc[i] + load(E + i * E_stride + k) * x;
  }
  if (full < K) {
    for (int i = 0; i < N; ++i) acc[i] = acc[i] + load(E + i * E_stride + K - 8) * b_tail;
  }
  for (int i = 0; i < N; ++i) out[i * out_stride] = sum_lanes(acc[i]);
}

static void sum_step_back(const double* E, const double* b, double* out, std::size_t K1,
                          std::size_t R, std::size_t K) {
  for (std::size_t r = 0; r < R; ++r) {
    const double* b_r = b + r * K;
    const double* E_r = E + r * K;
    std::size_t k1 = 0;
    if (K >= 8) {
      const v8 b_tail = keep_tail(b_r + K - 8, K % 8);
      for (; k1 + 4 <= K1; k1 += 4) {
        dot_rows<4>(E_r + k1 * R * K, R * K, b_r, b_tail, out + k1 * R + r, R, K);
      }
      for (; k1 < K1; ++k1) {
        dot_rows<1>(E_r + k1 * R * K, R * K, b_r, b_tail, out + k1 * R + r, R, K);
      }
    }
    for (; k1 < K1; ++k1) {
      double sum = 0.0;
      for (std::size_t k = 0; k < K; ++k) sum += E_r[k1 * R * K + k] * b_r[k];
      out[k1 * R + r] = sum;
    }
  }
}

static void outer_sum(const double* A, const double* B, std::size_t n, std::size_t stride,
                      double* G, std::size_t K1, std::size_t R, std::size_t K) {
  for (std::size_t k1 = 0; k1 < K1; ++k1) {
    for (std::size_t r = 0; r < R; ++r) {
      row_times<false>(A + k1 * R + r, stride, B + r * K, stride, G + (k1 * R + r) * K, n, K);
    }
  }
}

// exp(x) for -708 <= x <= 0 by x = n ln 2 + r, |r| <= ln 2 / 2, and the Taylor polynomial of
// degree 13 in r (remainder below 5e-18); below -708 the result is 0.
//
// Four vectors at once: the polynomial is one long chain of dependent operations, and four chains
// run in the time of one.
constexpr int kChains = 4;

static inline void exp_chains(vd* x) {
  const vd magic = splat(6755399441055744.0);  // 1.5 * 2^52: rounds to an integer in the low bits
  const vd lowest = splat(-708.0);
  vd shifted[kChains], r[kChains], p[kChains];
  for (int c = 0; c < kChains; ++c) {
    const vd clamped = x[c] > lowest ? x[c] : lowest;
    shifted[c] = clamped * splat(1.4426950408889634074) + magic;
    const vd n = shifted[c] - magic;
    r[c] = clamped - n * splat(6.93145751953125e-1);
    r[c] = r[c] - n * splat(1.42860682030941723212e-6);
    p[c] = splat(1.0 / 6227020800.0);
  }
  constexpr double kInverseFactorial[] = {1.0 / 479001600.0,
                                          1.0 / 39916800.0,
                                          1.0 / 3628800.0,
                                          1.0 / 362880.0,
                                          1.0 / 40320.0,
                                          1.0 / 5040.0,
                                          1.0 / 720.0,
                                          1.0 / 120.0,
                                          1.0 / 24.0,
                                          1.0 / 6.0,
                                          0.5,
                                          1.0,
                                          1.0};
  for (const double coefficient : kInverseFactorial) {
    for (int c = 0; c < kChains; ++c) p[c] = p[c] * r[c] + splat(coefficient);
  }
  for (int c = 0; c < kChains; ++c) {
    vi bits, exponent;
    __builtin_memcpy(&bits, &p[c], sizeof bits);
    __builtin_memcpy(&exponent, &shifted[c], sizeof exponent);
    bits = bits + (exponent << 52);  // the low bits of `shifted` hold n
    vd result;
    __builtin_memcpy(&result, &bits, sizeof result);
    x[c] = x[c] < lowest ? vd{} : result;
  }
}

static void exp_shifted(const double* x, std::size_t n, double shift, double scale, double* out) {
  constexpr std::size_t kStep = kChains * kWidth;
  const vd m = splat(shift), s = splat(scale);
  double rest[kStep];
  for (std::size_t i = 0; i < n; i += kStep) {
    const bool whole = i + kStep <= n;
    const double* from = x + i;
    double* to = out + i;
    if (!whole) {
      for (std::size_t j = 0; j < kStep; ++j) rest[j] = i + j < n ? x[i + j] : shift;
      from = to = rest;
    }
    vd v[kChains];
    for (int c = 0; c < kChains; ++c) {
      __builtin_memcpy(&v[c], from + c * kWidth, sizeof(vd));
      v[c] = (v[c] - m) * s;
    }
    exp_chains(v);
    for (int c = 0; c < kChains; ++c) __builtin_memcpy(to + c * kWidth, &v[c], sizeof(vd));
    if (!whole) {
      for (std::size_t j = 0; i + j < n; ++j) out[i + j] = rest[j];
    }
  }
}

static inline v8 smaller(v8 a, v8 b) {
  for (int i = 0; i < kPieces; ++i) {
    a.piece[i] = a.piece[i] < b.piece[i] ? a.piece[i] : b.piece[i];
  }
  return a;
}

static double largest(const double* x, std::size_t n) {
  double top = -__builtin_inf();
  std::size_t i = 0;
  if (n >= 8) {
    v8 best = load(x);
    for (i = 8; i + 8 <= n; i += 8) best = larger(load(x + i), best);
    double lanes[8];
    store(lanes, best);
    for (const double y : lanes) top = y > top ? y : top;
  }
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

static double multiply_sum(double* a, const double* b, std::size_t n, double* least) {
  double sum = 0.0, low = __builtin_inf();
  std::size_t i = 0;
  if (n >= 8) {
    v8 total = zeros(), small = load(a) * load(b);
    for (; i + 8 <= n; i += 8) {
      const v8 y = load(a + i) * load(b + i);
      store(a + i, y);
      total = total + y;
      small = smaller(y, small);
    }
    sum = sum_lanes(total);
    double lanes[8];
    store(lanes, small);
    for (const double y : lanes) low = y < low ? y : low;
  }
  for (; i < n; ++i) {
    a[i] *= b[i];
    sum += a[i];
    low = a[i] < low ? a[i] : low;
  }
  *least = low;
  return sum;
}

static void scale(double a, double* x, std::size_t n) {
  const vd s = splat(a);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) store(x + i, s * load(x + i));
  for (; i < n; ++i) x[i] *= a;
}

static void backward_row(const double* alpha, const double* node, const double* beta, double a,
                         std::size_t n, double* p, double* back) {
  for (std::size_t i = 0; i < n; ++i) {
    p[i] = alpha[i] * beta[i];
    back[i] = alpha[i] > 0.0 ? node[i] * beta[i] * a : 0.0;
  }
}

static void add_scaled(double a, const double* x, double* y, std::size_t n) {
  const vd s = splat(a);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) store(y + i, load(y + i) + s * load(x + i));
  for (; i < n; ++i) y[i] += a * x[i];
}

static void add_scaled_where(double a, const double* x, const std::uint8_t* real, double* y,
                             std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += real[i] ? a * x[i] : 0.0;
}

// Rows lie anywhere in memory: ask for one while the ones before it are being added.
constexpr std::size_t kAhead = 6;

// The sum of all full rows (those with K entries), in registers; N vectors cover K columns, the
// last one ending at K.
template <int N>
static inline void sum_full_rows(const std::int32_t* indices, const double* values, std::size_t n,
                                 const std::uint32_t* row_ptr, const std::uint32_t* column,
                                 const double* w, double* out, std::size_t K) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(K) - 8;
  v8 acc[N];
  for (int i = 0; i < N; ++i) acc[i] = zeros();
  for (std::size_t j = 0; j < n; ++j) {
    if (j + kAhead < n) {
      const std::uint32_t next = row_ptr[indices[j + kAhead]];
      __builtin_prefetch(w + next);
      if (row_ptr[indices[j + kAhead] + 1] - next == K) {
        for (int i = 1; i < N; ++i) __builtin_prefetch(w + next + 8 * i);
      } else {
        __builtin_prefetch(column + next);
      }
    }
    const std::uint32_t begin = row_ptr[indices[j]], end = row_ptr[indices[j] + 1];
    if (end - begin != K) continue;
    const double* row = w + begin;
    const vd x = splat(values ? values[j] : 1.0);
    for (int i = 0; i < N; ++i) acc[i] = acc[i] + x * load(row + (i == N - 1 ? last : 8 * i));
  }
  for (int i = 0; i < N; ++i) store(out + (i == N - 1 ? last : 8 * i), acc[i]);
}

static void score_site(const std::int32_t* indices, const double* values, std::size_t n,
                       const std::uint32_t* row_ptr, const std::uint32_t* column, const double* w,
                       double* out, std::size_t K) {
  // Fewer than 8 labels fill no vector; more than 48 do not fit the registers: row by row.
  if (K >= 8 && K <= 48) {
    with_number<6>((K + 7) / 8, [&](auto vectors) {
      sum_full_rows<vectors.value>(indices, values, n, row_ptr, column, w, out, K);
    });
  } else {
    for (std::size_t k = 0; k < K; ++k) out[k] = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t begin = row_ptr[indices[j]], end = row_ptr[indices[j] + 1];
      if (end - begin == K) add_scaled(values ? values[j] : 1.0, w + begin, out, K);
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint32_t begin = row_ptr[indices[j]], end = row_ptr[indices[j] + 1];
    if (end - begin == K) continue;
    const double x = values ? values[j] : 1.0;
    for (std::uint32_t q = begin; q < end; ++q) out[column[q]] += x * w[q];
  }
}

static void scatter_site(const std::int32_t* indices, const double* values, std::size_t n,
                         const std::uint32_t* row_ptr, const std::uint32_t* column, double a,
                         const double* v, double* w, std::size_t K) {
  for (std::size_t j = 0; j < n; ++j) {
    if (j + kAhead < n) {
      const std::uint32_t next = row_ptr[indices[j + kAhead]];
      __builtin_prefetch(w + next, 1);
      __builtin_prefetch(column + next);
    }
    const std::uint32_t begin = row_ptr[indices[j]], end = row_ptr[indices[j] + 1];
    const double x = values ? a * values[j] : a;
    if (end - begin == K) {
      add_scaled(x, v, w + begin, K);
    } else {
      for (std::uint32_t q = begin; q < end; ++q) w[q] += x * v[column[q]];
    }
  }
}

static bool all_scores(const double* x, std::size_t n) {
  const vd limit = splat(1.7976931348623157e308);
  vi bad = vi{};
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    vd v;
    __builtin_memcpy(&v, x + i, sizeof v);
    bad |= ~(v <= limit);
  }
  long long any = 0;
  for (int j = 0; j < kWidth; ++j) any |= bad[j];
  for (; i < n; ++i) any |= !(x[i] <= 1.7976931348623157e308);
  return any == 0;
}

// -- rows of floats -----------------------------------------------------------------------------

typedef float vf __attribute__((vector_size(kWidth * 4)));

static inline vd load_row(const double* p) {
  vd v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
static inline vd load_row(const float* p) {
  vf v;
  __builtin_memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, vd);
}

// N vectors of the columns [c, end), kept in registers while the rows are added. The last one ends
// with the columns, and may share some with the one before it: both get the same sums.
template <int N>
static inline void row_columns(const double* const* rows, std::size_t n, const float* const* floats,
                               std::size_t m, std::size_t c, std::size_t end, double* out) {
  std::size_t at[N];
  for (int j = 0; j < N; ++j) at[j] = j + 1 < N ? c + j * kWidth : end - kWidth;
  vd sum[N];
  for (int j = 0; j < N; ++j) sum[j] = load_row(out + at[j]);
  for (std::size_t i = 0; i < n; ++i) {
    for (int j = 0; j < N; ++j) sum[j] += load_row(rows[i] + at[j]);
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (int j = 0; j < N; ++j) sum[j] += load_row(floats[i] + at[j]);
  }
  for (int j = 0; j < N; ++j) __builtin_memcpy(out + at[j], &sum[j], sizeof sum[j]);
}

static void add_rows(const double* const* rows, std::size_t n, const float* const* floats,
                     std::size_t m, std::size_t K, double* out) {
  if (K < kWidth) {
    for (std::size_t c = 0; c < K; ++c) {
      for (std::size_t i = 0; i < n; ++i) out[c] += rows[i][c];
      for (std::size_t i = 0; i < m; ++i) out[c] += static_cast<double>(floats[i][c]);
    }
    return;
  }
  // Whole blocks end where a vector does, so that only the last one overlaps itself.
  std::size_t c = 0;
  for (; c + 7 * kWidth <= K; c += 6 * kWidth) {
    row_columns<6>(rows, n, floats, m, c, c + 6 * kWidth, out);
  }
  with_number<7>((K - c + kWidth - 1) / kWidth,
                 [&](auto vectors) { row_columns<vectors.value>(rows, n, floats, m, c, K, out); });
}

static inline v8 load_floats(const float* p) {
  v8 v;
  for (int i = 0; i < kPieces; ++i) {
    vf row;
    __builtin_memcpy(&row, p + i * kWidth, sizeof row);
    v.piece[i] = __builtin_convertvector(row, vd);
  }
  return v;
}

static void dot_float_twice(const float* x, const double* a, const double* b, std::size_t n,
                            double* sums) {
  v8 first = zeros(), second = zeros();
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const v8 row = load_floats(x + i);
    first = first + row * load(a + i);
    second = second + row * load(b + i);
  }
  double one = sum_lanes(first), two = sum_lanes(second);
  for (; i < n; ++i) {
    one += static_cast<double>(x[i]) * a[i];
    two += static_cast<double>(x[i]) * b[i];
  }
  sums[0] += one;
  sums[1] += two;
}

static void add_scaled_floats(const double* a, const float* x, std::size_t rows, std::size_t stride,
                              double* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v8 one = load(out + i), two = load(out + i + 8);
    for (std::size_t r = 0; r < rows; ++r) {
      const vd s = splat(a[r]);
      one = one + s * load_floats(x + r * stride + i);
      two = two + s * load_floats(x + r * stride + i + 8);
    }
    store(out + i, one);
    store(out + i + 8, two);
  }
  for (; i < n; ++i) {
    for (std::size_t r = 0; r < rows; ++r) out[i] += a[r] * static_cast<double>(x[r * stride + i]);
  }
}

// -- whole numbers ------------------------------------------------------------------------------

typedef std::int32_t v8i __attribute__((vector_size(32)));

static inline v8i load_int(const std::int32_t* p) {
  v8i v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_int(std::int32_t* p, v8i v) {
  __builtin_memcpy(p, &v, sizeof v);
}
static inline v8i larger_int(v8i a, v8i b) {
  return a > b ? a : b;
}

constexpr std::size_t kFullAhead = 24, kEntryAhead = 24;
// Rows of weights are added in vectors of their own kind, and the sums are whole numbers of 32
// bits.
typedef std::int16_t v16s __attribute__((vector_size(32)));
typedef std::int16_t v8s __attribute__((vector_size(16)));
typedef std::int16_t v32s __attribute__((vector_size(64)));  // for machines that have such
template <class Row, class Whole>
static inline Row load_row(const Whole* p) {
  Row v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
// Stores the lanes that come before `room`.
static inline void store_row(std::int32_t* p, v8i v, std::size_t) {
  store_int(p, v);
}
static inline void store_row(std::int32_t* p, v16s v, std::size_t room) {
  v8s half[2];
  __builtin_memcpy(half, &v, sizeof v);
  store_int(p, __builtin_convertvector(half[0], v8i));
  if (room > 8) store_int(p + 8, __builtin_convertvector(half[1], v8i));
}
static inline void store_row(std::int32_t* p, v32s v, std::size_t room) {
  v16s half[2];
  __builtin_memcpy(half, &v, sizeof v);
  store_row(p, half[0], room);
  if (room > 16) store_row(p + 16, half[1], room - 16);
}

// N vectors a row, kept in registers while the rows are added.
template <int N, class Row, class Whole>
static inline void whole_scores(const IntegerTokens& tokens, const IntegerWeights<Whole>& weights,
                                std::size_t begin, std::size_t end, std::size_t stride,
                                std::size_t from, std::int32_t* out) {
  constexpr std::size_t kLanes = sizeof(Row) / sizeof(Whole);
  const Whole* const first = weights.full + from;
  std::size_t j = begin == 0 ? 0 : tokens.full_end[begin - 1];
  out += from;
  for (std::size_t t = begin; t < end; ++t, out += stride) {
    const std::size_t full_end = tokens.full_end[t];
    Row sum[N] = {};
    for (; j < full_end; j += kRowsAtOnce) {
      for (std::size_t i = j; i < j + kRowsAtOnce; ++i) {
        const Whole* row = first + tokens.full[i] * weights.stride;
        __builtin_prefetch(first + tokens.full[i + kFullAhead] * weights.stride);
        for (int n = 0; n < N; ++n) sum[n] += load_row<Row>(row + kLanes * n);
      }
    }
    for (std::size_t n = 0; n < N; ++n) {
      if (kLanes * n < stride - from)
        store_row(out + kLanes * n, sum[n], stride - from - kLanes * n);
    }
  }
}
template <class Row, class Whole>
static void whole_scores_of(const IntegerTokens& tokens, const IntegerWeights<Whole>& weights,
                            std::size_t begin, std::size_t end, std::size_t stride,
                            std::int32_t* out) {
  constexpr std::size_t kLanes = sizeof(Row) / sizeof(Whole);
  std::size_t from = 0;
  for (; from + 4 * kLanes <= stride; from += 4 * kLanes) {
    whole_scores<4, Row>(tokens, weights, begin, end, stride, from, out);
  }
  with_number<4>((stride - from + kLanes - 1) / kLanes, [&](auto vectors) {
    whole_scores<vectors.value, Row>(tokens, weights, begin, end, stride, from, out);
  });
  const std::size_t entries = tokens.entry_end[end - 1];
  for (std::size_t e = begin == 0 ? 0 : tokens.entry_end[begin - 1]; e < entries; ++e) {
    __builtin_prefetch(weights.listed + tokens.entry[e + kEntryAhead]);
    out[tokens.entry_place[e]] += weights.listed[tokens.entry[e]];
  }
}
static void integer_scores(const IntegerTokens& tokens, const IntegerWeights<std::int32_t>& weights,
                           std::size_t begin, std::size_t end, std::size_t stride,
                           std::int32_t* out) {
  whole_scores_of<v8i>(tokens, weights, begin, end, stride, out);
}
static void short_scores(const IntegerTokens& tokens, const IntegerWeights<std::int16_t>& weights,
                         std::size_t begin, std::size_t end, std::size_t stride,
                         std::int32_t* out) {
#ifdef __AVX512BW__
  if (stride > 16) {  // rows are whole lines of the cache
    whole_scores_of<v32s>(tokens, weights, begin, end, stride, out);
    return;
  }
#endif
  whole_scores_of<v16s>(tokens, weights, begin, end, stride, out);
}

// N vectors of columns from column c on.
template <int N>
static inline void integer_columns(const std::int32_t* T, const std::int32_t* before,
                                   const std::int32_t* s, std::size_t K, std::size_t stride,
                                   std::int32_t floor, std::int32_t* out) {
  v8i best[N];
  for (int n = 0; n < N; ++n) best[n] = floor - v8i{};
  for (std::size_t k = 0; k < K; ++k) {
    const v8i a = before[k] - v8i{};
    for (int n = 0; n < N; ++n) {
      best[n] = larger_int(a + load_int(T + k * stride + 8 * n), best[n]);
    }
  }
  for (int n = 0; n < N; ++n) store_int(out + 8 * n, best[n] + load_int(s + 8 * n));
}

static void integer_viterbi(const std::int32_t* T, const std::int32_t* s, std::size_t L,
                            std::size_t K, std::size_t stride, std::int32_t floor,
                            std::int32_t* alpha) {
  for (std::size_t t = 1; t < L; ++t) {
    const std::int32_t* before = alpha + (t - 1) * stride;
    std::size_t c = 0;
    for (; c + 32 <= stride; c += 32) {
      integer_columns<4>(T + c, before, s + t * stride + c, K, stride, floor,
                         alpha + t * stride + c);
    }
    const std::int32_t* from = s + t * stride + c;
    std::int32_t* out = alpha + t * stride + c;
    with_number<3>((stride - c) / 8, [&](auto vectors) {
      integer_columns<vectors.value>(T + c, before, from, K, stride, floor, out);
    });
  }
}

// The first k < K where a[k] + b[k] is largest.
static inline std::size_t first_largest(const std::int32_t* a, const std::int32_t* b,
                                        std::size_t K) {
  std::size_t best = 0;
  std::int32_t most = a[0] + b[0];
  for (std::size_t k = 1; k < K; ++k) {
    const std::int32_t sum = a[k] + b[k];
    best = sum > most ? k : best;
    most = sum > most ? sum : most;
  }
  return best;
}
// Whether a[k] + b[k] is larger than at every other place before K.
static inline bool is_largest(const std::int32_t* a, const std::int32_t* b, std::size_t k,
                              std::size_t K) {
  const v8i lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  const v8i most = a[k] + b[k] - v8i{};
  v8i hits = {};
  std::size_t n = 0;
  for (; n + 8 <= K; n += 8) hits += load_int(a + n) + load_int(b + n) >= most;
  if (n < K) {
    const v8i inside = lanes < static_cast<std::int32_t>(K - n);
    hits += (load_int(a + n) + load_int(b + n) >= most) & inside;
  }
  std::int32_t sum = 0;
  for (int i = 0; i < 8; ++i) sum += hits[i];
  return sum == -1;
}
static void integer_path(const std::int32_t* alpha, const std::int32_t* end,
                         const std::int32_t* into, std::size_t L, std::size_t K, std::size_t stride,
                         const std::uint16_t* likely, std::uint16_t* path) {
  for (std::size_t t = L; t-- > 0;) {
    const std::int32_t* from = alpha + t * stride;
    const std::int32_t* to = t + 1 == L ? end : into + path[t + 1] * stride;
    path[t] = is_largest(from, to, likely[t], K)
                  ? likely[t]
                  : static_cast<std::uint16_t>(first_largest(from, to, K));
  }
}

static inline v8 operator-(v8 a, v8 b) {
  for (int i = 0; i < kPieces; ++i) a.piece[i] = a.piece[i] - b.piece[i];
  return a;
}
// a where x is above -inf, else 0
static inline v8 where_finite(v8 x, v8 a) {
  const vd none = splat(-__builtin_inf()), zero = {};
  for (int i = 0; i < kPieces; ++i) a.piece[i] = x.piece[i] > none ? a.piece[i] : zero;
  return a;
}

// w[row of indices[j]] += a * values[j] * v for the features which(0), which(1), ...
template <class Which>
static inline void scatter_growth_rows(const std::int32_t* indices, const double* values,
                                       std::size_t count, Which which, const std::uint32_t* row_ptr,
                                       const std::uint32_t* column, const std::uint8_t* real,
                                       double a, const double* v, double* w, std::size_t K,
                                       double (*lanes)[4]) {
  // Four lanes, whatever the machine's width.
  constexpr int kParts = 4 / kWidth;
  typedef signed char bytes __attribute__((vector_size(kWidth)));
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::uint32_t next = row_ptr[indices[which(i + kAhead)]];
      __builtin_prefetch(w + next, 1);
      __builtin_prefetch(column + next);
    }
    const std::size_t j = which(i);
    const std::uint32_t begin = row_ptr[indices[j]], end = row_ptr[indices[j] + 1];
    const double x = values ? a * values[j] : a;
    double* sums = lanes[share_of(static_cast<std::size_t>(indices[j]))];
    if (end - begin != K) {
      double rest = 0.0;
      for (std::uint32_t q = begin; q < end; ++q) {
        const double d = x * v[column[q]];
        rest += d * (w[q] + w[q] + d);
        w[q] += d;
      }
      sums[0] += rest;
      continue;
    }
    double* row = w + begin;
    vd four[kParts] = {};
    double rest = 0.0;
    std::size_t k = 0;
    for (; k + 4 <= K; k += 4) {
      for (int c = 0; c < kParts; ++c) {
        const std::size_t at = k + static_cast<std::size_t>(c) * kWidth;
        vd d, old;
        __builtin_memcpy(&d, v + at, sizeof(vd));
        __builtin_memcpy(&old, row + at, sizeof(vd));
        d = splat(x) * d;
        if (real) {
          bytes is_real;
          __builtin_memcpy(&is_real, real + begin + at, sizeof(bytes));
          d = d * __builtin_convertvector(is_real, vd);
        }
        four[c] = four[c] + d * (old + old + d);
        old = old + d;
        __builtin_memcpy(row + at, &old, sizeof(vd));
      }
    }
    for (; k < K; ++k) {
      const double d = real && !real[begin + k] ? 0.0 : x * v[k];
      rest += d * (row[k] + row[k] + d);
      row[k] += d;
    }
    for (int c = 0; c < kParts; ++c) {
      vd sum;
      __builtin_memcpy(&sum, sums + c * kWidth, sizeof(vd));
      sum = sum + four[c];
      __builtin_memcpy(sums + c * kWidth, &sum, sizeof(vd));
    }
    sums[0] += rest;
  }
}

static void scatter_growth_site(const std::int32_t* indices, const double* values, std::size_t n,
                                const std::uint32_t* row_ptr, const std::uint32_t* column,
                                const std::uint8_t* real, double a, const double* v, double* w,
                                std::size_t K, std::size_t first, std::size_t last,
                                double (*lanes)[4]) {
  if (first == 0 && last == kShares) {
    const auto all = [](std::size_t i) { return i; };
    scatter_growth_rows(indices, values, n, all, row_ptr, column, real, a, v, w, K, lanes);
    return;
  }
  constexpr std::size_t kMost = 64;
  std::size_t own[kMost];
  for (std::size_t begin = 0; begin < n; begin += kMost) {
    const std::size_t end = begin + kMost < n ? begin + kMost : n;
    std::size_t count = 0;
    for (std::size_t j = begin; j < end; ++j) {  // branches would be unpredictable
      own[count] = j;
      count += share_of(static_cast<std::size_t>(indices[j])) - first < last - first;
    }
    const auto mine = [&](std::size_t i) { return own[i]; };
    scatter_growth_rows(indices, values, count, mine, row_ptr, column, real, a, v, w, K, lanes);
  }
}

// The weighted spread of x around its mean: sums of m (x - mean)^2 and of (m (x - mean))^2. n is a
// multiple of 8.
static inline bool spread(const double* x, const double* m, std::size_t n, double* mass,
                          double* mean, double* variance, double* square) {
  v8 sum = zeros(), first = zeros();
  for (std::size_t k = 0; k < n; k += 8) {
    const v8 weight = load(m + k);
    sum = sum + weight;
    first = first + weight * load(x + k);
  }
  *mass = sum_lanes(sum);
  if (!(*mass > 0.0)) return false;
  *mean = sum_lanes(first) / *mass;
  v8 v = zeros(), q = zeros();
  const vd back = splat(-*mean);
  for (std::size_t k = 0; k < n; k += 8) {
    const v8 centred = back + load(x + k), y = load(m + k) * centred;
    v = v + y * centred;
    q = q + y * y;
  }
  *variance = sum_lanes(v);
  *square = sum_lanes(q);
  return *variance > 0.0;
}

static void dual_step(const double* scores, const double* theta, const double* mu, std::size_t n,
                      double eps, double curvature, double* scratch, double* next) {
  constexpr double kNear = 0.5;  // scores over eps that move less leave the covariance as it is
  const std::size_t padded = (n + 7) / 8 * 8;
  double *delta = scratch, *m = scratch + padded, *e = m + padded;
  for (std::size_t k = 0; k < n; ++k) {
    const double x = scores[k] - theta[k];
    delta[k] = theta[k] > -__builtin_inf() ? x : 0.0;
    m[k] = mu[k];
  }
  for (std::size_t k = n; k < padded; ++k) {
    delta[k] = delta[0];
    m[k] = 0.0;
  }
  double eta = 1.0, mass, mean, v, q;
  if (spread(delta, m, padded, &mass, &mean, &v, &q)) {
    double ratio = q / v;
    const vd minus = splat(-1.0);
    v8 high = load(delta), low = minus * high;
    for (std::size_t k = 8; k < padded; k += 8) {
      high = larger(load(delta + k), high);
      low = larger(minus * load(delta + k), low);
    }
    const double top = largest_lane(high);
    // Where the scores have moved far, so has the covariance: look at the other end too.
    if (top + largest_lane(low) > kNear * eps) {
      exp_shifted(delta, padded, top, 1.0 / eps, e);
      for (std::size_t k = 0; k < padded; k += 8) store(e + k, load(e + k) * load(m + k));
      double total;
      if (spread(delta, e, padded, &total, &mean, &v, &q)) {
        const double there = q / v * (mass / total);
        ratio = there > ratio ? there : ratio;
      }
    }
    eta = 1.0 / (1.0 + curvature * ratio / eps);
  }
  for (std::size_t k = 0; k < n; ++k) next[k] = theta[k] + eta * delta[k];
}

static void dual_sums(const double* model, const double* theta, const double* next,
                      const double* now, const double* mu, std::size_t n, double* d, double* out) {
  v8 a = zeros(), b = zeros(), c = zeros(), e = zeros(), f = zeros();
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    const v8 y = load(next + k), p = load(now + k), old = load(mu + k), x = p - old;
    store(d + k, x);
    a = a + where_finite(y, y * p);
    b = b + where_finite(y, load(model + k) * x);
    c = c + where_finite(y, load(theta + k) * x);
    e = e + where_finite(y, y * x);
    f = f + where_finite(y, load(model + k) * old);
  }
  out[0] = sum_lanes(a);
  out[1] = sum_lanes(b);
  out[2] = sum_lanes(c);
  out[3] = sum_lanes(e);
  out[4] = sum_lanes(f);
  for (; k < n; ++k) {
    d[k] = now[k] - mu[k];
    if (!(next[k] > -__builtin_inf())) continue;
    out[0] += next[k] * now[k];
    out[1] += model[k] * d[k];
    out[2] += theta[k] * d[k];
    out[3] += next[k] * d[k];
    out[4] += model[k] * mu[k];
  }
}
