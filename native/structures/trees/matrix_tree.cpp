// The matrix-tree theorem (Kirchhoff 1847, Tutte 1948; for parsing Koo, Globerson, Carreras &
// Collins 2007, Smith & Smith 2007, McDonald & Satta 2007) without a determinant or an inverse, and
// without a subtraction, so that nothing cancels.
//
// Let a word m step to the head h with weight w[m][h]. A word v is eliminated by letting the others
// step over it: w[m][h] += w[m][v] q_v[h], q_v[h] = w[v][h] / D_v, where D_v is the sum of row v
// over the remaining words; steps of a word to itself are dropped (Grassmann, Taksar & Heyman
// 1985). The sum over trees is the product of all D_v.
//
// Exactly one root: let arcs from the root weigh an infinitesimal t. The sum over trees with one of
// them is the coefficient of t, obtained by keeping only the leading power of t everywhere. A
// number of the root's column is stored as two parts, without t and with t; the second only has a
// meaning if the first is 0.
//
// The head of m is h with probability w[m][h] e[h] / sum, where e[h] is the probability that a walk
// from h reaches the root before m: it is found by eliminating all words but m. Eliminating one
// half of the words for the other half, and so on down, costs O(n^3) for all m together.
//
// A draw puts the words back in reverse. An arc h -> m of the tree without v stands for the arc
// itself, or for a step over v, in proportion to their weights; let M be the words whose arc
// stepped over v. They become the words of v, and v gets a head from q_v among the nodes that are
// not below a word of M. (The trees without v that give the same M and the same forest sum to q_v
// of those nodes, by Cayley's formula with weights.)
#include "structures/trees/matrix_tree.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "structures/trees/widening_sums.hpp"

namespace structlearn {
namespace {

// The graph after some words have been eliminated: those from `kept` to `size` have in row v their
// q_v[h], h < v, and in column v the weights w[m][v], m < v, with which others stepped over them.
template <class T>
struct Reduced {
  std::size_t size = 0, kept = 0;
  std::vector<T> w;                // (size, size)
  std::vector<T> root, root_once;  // the root's column: without t, with t
  bool rotated = false;            // the second half of the words above comes first

  T* row(std::size_t m) { return w.data() + m * size; }
  const T* row(std::size_t m) const { return w.data() + m * size; }

  void resize(std::size_t n) {
    size = n;
    w.resize(n * n);
    root.resize(n);
    root_once.resize(n);
  }

  // Eliminates the words from `keep` on, the last first. False if T is too small for it, or if a
  // word has no path to the root: log_z and order then hold what was accumulated until there.
  bool eliminate(std::size_t keep, double* log_z, std::size_t* order) {
    kept = keep;
    for (std::size_t v = size; v-- > keep;) {
      T* q = row(v);
      T total = sum_of(q, v) + root[v];
      const bool once = is_zero(total);
      if (once) total = root_once[v];
      // Among doubles, a sum of 0 may be an underflow.
      if (too_small(total) || (once && v > 0 && std::is_same_v<T, double>)) return false;
      if (is_zero(total)) {
        *log_z = kMinusInfinity;
        return false;
      }
      if (log_z != nullptr) *log_z += log_of(total);
      if (order != nullptr) *order += once;
      const T scale = one<T>() / total;
      for (std::size_t h = 0; h < v; ++h) q[h] = q[h] * scale;
      root[v] = once ? one<T>() : root[v] * scale;
      root_once[v] = once ? T{} : root_once[v] * scale;
      for (std::size_t m = 0; m < v; ++m) {
        const T a = row(m)[v];
        if (is_zero(a)) continue;
        add_times(a, q, row(m), v);
        root[m] += a * root[v];
        root_once[m] += a * root_once[v];
      }
    }
    return true;
  }
};

template <class T>
class TreeSums {
 public:
  TreeSums(const double* arc, std::size_t n, bool single_root, double eps)
      : arc_(arc), n_(n), single_root_(single_root), eps_(eps) {
    graph_.resize(n);
    shift_.resize(n);
  }

  // Eliminates all words. False if T is too small; the value is -inf if there is no tree.
  bool settle(double* value) {
    *value = kMinusInfinity;
    if (!set_up()) return true;
    all_ = graph_;
    double log_z = 0.0;
    std::size_t order = 0;
    if (!all_.eliminate(0, &log_z, &order)) return log_z == kMinusInfinity;
    if (single_root_ && order != 1) return true;
    *value = base_sum_ + base_ + eps_ * log_z;
    return std::isfinite(*value);
  }

  // For open numbers: the entropy of the sum; -inf if there is no tree.
  double openness(const T* labels) {
    if (!set_up()) return kMinusInfinity;
    const std::size_t N = n_ + 1;
    for (std::size_t m = 0; m < n_; ++m) {
      for (std::size_t h = 0; h < n_; ++h) {
        graph_.row(m)[h] = graph_.row(m)[h] * labels[(h + 1) * N + m + 1];
      }
      graph_.root[m] = graph_.root[m] * labels[m + 1];
      graph_.root_once[m] = graph_.root_once[m] * labels[m + 1];
    }
    double sum = 0.0;
    std::size_t order = 0;
    if (!graph_.eliminate(0, &sum, &order)) return kMinusInfinity;
    return single_root_ && order != 1 ? kMinusInfinity : sum;
  }

  // False if T is too small.
  bool marginals(double* p) {
    p_ = p;
    std::fill(p, p + (n_ + 1) * (n_ + 1), 0.0);
    std::size_t depth = 1;
    while ((std::size_t{1} << depth) < 2 * n_) ++depth;
    levels_.resize(depth + 1);
    way_.resize(n_);
    return halve(graph_, n_, 0, 0);
  }

  Output draw(Random& random) {
    Output heads(n_, -1);
    std::vector<std::size_t> origin(n_, n_);
    std::vector<std::uint8_t> outside(n_);
    std::vector<T> weight(n_ + 1);
    origin[0] = origin_of(0, -1, 0, weight, random);
    for (std::size_t v = 1; v < n_; ++v) {
      // Nodes that are not below a word whose arc stepped over v.
      enum : std::uint8_t { kUnknown, kOutside, kBelow };
      std::fill(outside.begin(), outside.begin() + static_cast<std::ptrdiff_t>(v), kUnknown);
      for (std::size_t m = 0; m < v; ++m) {
        std::size_t u = m;
        std::uint8_t found = kUnknown;
        while (found == kUnknown) {
          if (outside[u] != kUnknown) {
            found = outside[u];
          } else if (origin[u] == v) {
            found = kBelow;
          } else if (heads[u] < 0) {
            found = kOutside;
          } else {
            u = static_cast<std::size_t>(heads[u]);
          }
        }
        for (u = m; outside[u] == kUnknown; u = static_cast<std::size_t>(heads[u])) {
          outside[u] = found;
          if (heads[u] < 0 || origin[u] == v) break;
        }
      }
      for (std::size_t h = 0; h < v; ++h) {
        weight[h] = outside[h] == kOutside ? all_.row(v)[h] : T{};
      }
      weight[v] = all_.root[v];
      const std::size_t h = choose_weight(weight, v + 1, v, random);
      heads[v] = h == v ? -1 : static_cast<std::int32_t>(h);
      for (std::size_t m = 0; m < v; ++m) {
        if (origin[m] != v) continue;
        heads[m] = static_cast<std::int32_t>(v);
        origin[m] = origin_of(m, heads[m], v, weight, random);
      }
      origin[v] = origin_of(v, heads[v], v, weight, random);
    }
    for (std::int32_t& h : heads) ++h;
    return heads;
  }

 private:
  // False if a word has no arc.
  bool set_up() {
    const std::size_t N = n_ + 1;
    double root_shift = 0.0;
    if (single_root_) root_shift = kMinusInfinity;
    for (std::size_t m = 1; m < N; ++m) {
      double top = single_root_ ? kMinusInfinity : arc_[m];
      for (std::size_t h = 1; h < N; ++h) {
        if (h != m) top = std::max(top, arc_[h * N + m]);
      }
      if (top == kMinusInfinity) top = arc_[m];
      if (top == kMinusInfinity) return false;
      shift_[m - 1] = top;
      if (single_root_ && !(arc_[m] - top <= root_shift)) {
        root_shift = arc_[m] - top;
        likely_root_ = m - 1;
      }
    }
    if (root_shift == kMinusInfinity) return false;
    base_ = single_root_ ? root_shift : 0.0;
    for (std::size_t m = 0; m < n_; ++m) {
      for (std::size_t h = 0; h < n_; ++h) {
        graph_.row(m)[h] = h == m ? T{} : weight(arc_[(h + 1) * N + m + 1], shift_[m]);
      }
      const T root = root_weight(m);
      graph_.root[m] = single_root_ ? T{} : root;
      graph_.root_once[m] = single_root_ ? root : T{};
      base_sum_ += shift_[m];
    }
    return true;
  }

  // exp((score - shift) / eps)
  T weight(double score, double shift) const {
    if constexpr (!std::is_same_v<T, double>) {
      if (score == kMinusInfinity) return T{};
      if (is_enormous(score - shift)) return T::exp_difference(score / eps_, shift / eps_);
      if (!is_enormous(score)) return T::exp_ratio(score, eps_) / T::exp_ratio(shift, eps_);
    }
    return exponential((score - shift) / eps_, T{});
  }
  T root_weight(std::size_t m) const {
    if constexpr (!std::is_same_v<T, double>) {
      const T found = weight(arc_[m + 1], shift_[m]);
      const std::size_t r = likely_root_;
      return single_root_ ? found / weight(arc_[r + 1], shift_[r]) : found;
    }
    return exponential((arc_[m + 1] - shift_[m] - base_) / eps_, T{});
  }
  bool is_enormous(double score) const { return std::abs(score) > 1e15 * eps_; }

  // Eliminates each half of the first `size` words of a graph for the other.
  bool halve(const Reduced<T>& graph, std::size_t size, std::size_t first, std::size_t depth) {
    if (size == 1) return leaf(first, depth);
    const std::size_t half = size / 2;
    Reduced<T>& below = levels_[depth];
    for (const bool second : {false, true}) {
      below.resize(size);
      below.rotated = second;
      const std::size_t shift = second ? half : 0;
      for (std::size_t m = 0; m < size; ++m) {
        const T* from = graph.row((m + shift) % size);
        T* to = below.row(m);
        std::copy(from + shift, from + size, to);
        std::copy(from, from + shift, to + (size - shift));
        below.root[m] = graph.root[(m + shift) % size];
        below.root_once[m] = graph.root_once[(m + shift) % size];
      }
      const std::size_t keep = second ? size - half : half;
      double log_z = 0.0;
      if (!below.eliminate(keep, &log_z, nullptr)) return false;
      if (!halve(below, keep, first + shift, depth + 1)) return false;
    }
    return true;
  }

  // All but the word m are eliminated.
  bool leaf(std::size_t m, std::size_t depth) {
    for (const bool once : {false, true}) {
      if (once != single_root_ && !(single_root_ && any_root(depth))) continue;
      way(depth, once);
      const T* w = graph_.row(m);
      T total = once ? graph_.root_once[m] : graph_.root[m];
      total += inner_product(w, way_.data(), n_);
      if (is_zero(total) && !once && single_root_) continue;
      if (too_small(total)) return false;
      const T scale = one<T>() / total;
      const std::size_t N = n_ + 1;
      p_[m + 1] = as_double((once ? graph_.root_once[m] : graph_.root[m]) * scale);
      for (std::size_t h = 0; h < n_; ++h) {
        if (h != m) p_[(h + 1) * N + m + 1] = as_double(w[h] * way_[h] * scale);
      }
      return true;
    }
    return false;
  }

  // Whether any word reaches the root with weights of order 0.
  bool any_root(std::size_t depth) const {
    for (std::size_t d = 0; d < depth; ++d) {
      for (std::size_t v = levels_[d].kept; v < levels_[d].size; ++v) {
        if (!is_zero(levels_[d].root[v])) return true;
      }
    }
    return false;
  }

  // The probability of reaching the root first, from all words, in their own order.
  void way(std::size_t depth, bool once) {
    way_[0] = T{};
    for (std::size_t d = depth; d-- > 0;) {
      const Reduced<T>& level = levels_[d];
      for (std::size_t v = level.kept; v < level.size; ++v) {
        way_[v] = inner_product(level.row(v), way_.data(), v) +
                  (once ? level.root_once[v] : level.root[v]);
      }
      if (level.rotated) {
        std::rotate(way_.begin(), way_.begin() + static_cast<std::ptrdiff_t>(level.kept),
                    way_.begin() + static_cast<std::ptrdiff_t>(level.size));
      }
    }
  }

  // The later word that the arc h -> m steps over in the graph of the words 0..v, or n: none.
  std::size_t origin_of(std::size_t m, std::int32_t h, std::size_t v, std::vector<T>& weight,
                        Random& random) const {
    const T* over = all_.row(m);
    const std::size_t count = n_ - v - 1;
    if (h >= 0) {
      const std::size_t head = static_cast<std::size_t>(h);
      for (std::size_t u = 0; u < count; ++u)
        weight[u] = over[v + 1 + u] * all_.row(v + 1 + u)[head];
      weight[count] = graph_.row(m)[head];
    } else {
      for (const bool once : {false, true}) {
        const std::vector<T>& column = once ? all_.root_once : all_.root;
        bool any = false;
        for (std::size_t u = 0; u < count; ++u) {
          weight[u] = over[v + 1 + u] * column[v + 1 + u];
          any = any || !is_zero(weight[u]);
        }
        weight[count] = once ? graph_.root_once[m] : graph_.root[m];
        if (any || !is_zero(weight[count])) break;
      }
    }
    return v + 1 + choose_weight(weight, count + 1, count, random);
  }

  // An index in proportion to the weights; `last` if all are 0.
  static std::size_t choose_weight(const std::vector<T>& weight, std::size_t count,
                                   std::size_t last, Random& random) {
    const T total = sum_of(weight.data(), count);
    if (is_zero(total)) return last;
    return choose(count, total, last, random, [&](std::size_t i) { return weight[i]; });
  }

  const double* arc_;
  std::size_t n_;
  bool single_root_;
  double eps_;
  Reduced<T> graph_, all_;  // and with all words eliminated
  std::vector<double> shift_;
  double base_ = 0.0, base_sum_ = 0.0;
  std::size_t likely_root_ = 0;  // base_ is its arc from the root, minus its shift
  double* p_ = nullptr;
  std::vector<Reduced<T>> levels_;
  std::vector<T> way_;
};

}  // namespace

double sum_arborescences(const double* arc, std::size_t n, bool single_root, double eps,
                         double* p) {
  double value;
  if (!try_sum(TreeSums<double>(arc, n, single_root, eps), &value, p != nullptr, p)) {
    try_sum(TreeSums<Wide>(arc, n, single_root, eps), &value, p != nullptr, p);
  }
  return value;
}

double entropy_of_arborescences(const double* arc, const Open* labels, std::size_t n,
                                bool single_root, double eps) {
  return TreeSums<Open>(arc, n, single_root, eps).openness(labels);
}

std::vector<Output> draw_arborescences(const double* arc, std::size_t n, bool single_root,
                                       double eps, std::size_t count, std::uint64_t seed) {
  std::vector<Output> drawn;
  if (!try_draw(TreeSums<double>(arc, n, single_root, eps), count, seed, &drawn)) {
    try_draw(TreeSums<Wide>(arc, n, single_root, eps), count, seed, &drawn);
  }
  return drawn;
}

}  // namespace structlearn
