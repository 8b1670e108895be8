// Kernels for trees; included after kernels_body.hpp, once an instruction set.

// The largest of each of N * kWidth columns from column c on, and its row; A[i][i] is left out.
template <int N>
static inline void best_rows(const double* A, std::size_t stride, std::size_t n, std::size_t c,
                             double* best, std::int32_t* row) {
  constexpr std::size_t kColumns = N * kWidth;
  vd top[N];
  vi at[N];
  for (int j = 0; j < N; ++j) {
    top[j] = splat(-__builtin_inf());
    at[j] = vi{};
  }
  const double* line = A + c;
  std::size_t h = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t end = part == 0 ? c : part == 1 ? c + kColumns : n;
    for (; h < end; ++h, line += stride) {
      const vi here = static_cast<long long>(h) - vi{};
      for (int j = 0; j < N; ++j) {
        vd x;
        __builtin_memcpy(&x, line + j * kWidth, sizeof x);
        if (part == 1 && (h - c) / kWidth == static_cast<std::size_t>(j)) {
          x[(h - c) % kWidth] = -__builtin_inf();
        }
        const vi more = x > top[j];
        top[j] = more ? x : top[j];
        at[j] = more ? here : at[j];
      }
    }
  }
  for (int j = 0; j < N; ++j) {
    __builtin_memcpy(best + c + j * kWidth, &top[j], sizeof(vd));
    for (int k = 0; k < kWidth; ++k) {
      row[c + static_cast<std::size_t>(j * kWidth + k)] = static_cast<std::int32_t>(at[j][k]);
    }
  }
}

static void column_best(const double* A, std::size_t stride, std::size_t n, double* best,
                        std::int32_t* row) {
  std::size_t c = 0;
  for (; c + 4 * kWidth <= n; c += 4 * kWidth) best_rows<4>(A, stride, n, c, best, row);
  for (; c + kWidth <= n; c += kWidth) best_rows<1>(A, stride, n, c, best, row);
  if (c < n && n >= kWidth) {  // the last columns once more, with those that are left
    best_rows<1>(A, stride, n, n - kWidth, best, row);
    return;
  }
  for (; c < n; ++c) {
    best[c] = -__builtin_inf();
    row[c] = 0;
    for (std::size_t h = 0; h < n; ++h) {
      if (h != c && A[h * stride + c] > best[c]) {
        best[c] = A[h * stride + c];
        row[c] = static_cast<std::int32_t>(h);
      }
    }
  }
}

static inline void max_add(double a, const double* x, double* out, std::size_t n) {
  const vd s = splat(a);
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    vd v, o;
    __builtin_memcpy(&v, x + i, sizeof v);
    __builtin_memcpy(&o, out + i, sizeof o);
    v = s + v;
    o = v > o ? v : o;
    __builtin_memcpy(out + i, &o, sizeof o);
  }
  for (; i < n; ++i) {
    const double v = a + x[i];
    out[i] = v > out[i] ? v : out[i];
  }
}

static void max_add_rows(const double* a, const double* const* x, double* const* out,
                         std::size_t rows, std::size_t n) {
  for (std::size_t r = 0; r < rows; ++r) max_add(a[r], x[r], out[r], n);
}

static void max_rows(const double* const* rows, std::size_t count, bool add, double* out,
                     std::size_t n) {
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    vd top, x;
    __builtin_memcpy(&top, (add ? out : rows[0]) + i, sizeof top);
    for (std::size_t r = add ? 0 : 1; r < count; ++r) {
      __builtin_memcpy(&x, rows[r] + i, sizeof x);
      top = x > top ? x : top;
    }
    __builtin_memcpy(out + i, &top, sizeof top);
  }
  for (; i < n; ++i) {
    double top = add ? out[i] : rows[0][i];
    for (std::size_t r = add ? 0 : 1; r < count; ++r) top = rows[r][i] > top ? rows[r][i] : top;
    out[i] = top;
  }
}

// Everything above and in kernels_body.hpp, by name.
static constexpr Kernels table_of(const char* name) {
  return {
      .name = name,
      .max_step = max_step,
      .max_step_back = max_step_back,
      .max_sum = max_sum,
      .max_plus = max_plus,
      .sum_step = sum_step,
      .sum_step_back = sum_step_back,
      .outer_sum = outer_sum,
      .exp_shifted = exp_shifted,
      .largest = largest,
      .multiply_sum = multiply_sum,
      .scale = scale,
      .backward_row = backward_row,
      .add_scaled = add_scaled,
      .add_scaled_where = add_scaled_where,
      .dot_float_twice = dot_float_twice,
      .add_scaled_floats = add_scaled_floats,
      .score_site = score_site,
      .scatter_site = scatter_site,
      .scatter_growth_site = scatter_growth_site,
      .dual_step = dual_step,
      .dual_sums = dual_sums,
      .add_rows = add_rows,
      .integer_scores = integer_scores,
      .short_scores = short_scores,
      .integer_viterbi = integer_viterbi,
      .integer_path = integer_path,
      .all_scores = all_scores,
      .column_best = column_best,
      .max_add_rows = max_add_rows,
      .max_rows = max_rows,
  };
}
