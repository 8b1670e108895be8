#include "tasks/constituents/tree_chart.hpp"

#include <algorithm>

#include "numeric/kernels.hpp"

namespace structlearn::text {

TreeChart best_chart(const TreeView<const double>& v, Workspace& ws) {
  const std::size_t n = v.n, R = v.R, size = spans_of(n) * R;
  using Scratch = SpanTreeScratch;
  TreeChart chart{ws.real(Scratch::kNode, size), ws.real(Scratch::kFirst, size),
                  ws.real(Scratch::kMiddle, size), ws.real(Scratch::kFollow, size), kMinusInfinity};
  const Kernels& k = kernels();
  std::vector<double> split(R), last(R);
  const double* rows[TreeShape::kMostKinds];
  const auto at = [&](std::size_t i, std::size_t j) { return span_site(n, i, j) * R; };
  // Scores by parent of a child over i..j in one of the three places.
  const auto as_child = [&](std::size_t place, std::size_t i, std::size_t j, double* out) {
    const double* node = chart.node + at(i, j);
    k.max_step(node + 1, v.pair(place, 1), out, R - 1, 1, R);
    if (j == i + 1) k.max_plus(node[0], v.pair(place, v.symbol(i, 0)), out, R);
    k.add_scaled(1.0, v.row(kFirst + place, i, j), out, R);
  };
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j <= n; ++j) {
      double *node = chart.node + at(i, j), *follow = chart.follow + at(i, j);
      std::fill(node, node + R, j == i + 1 ? 0.0 : kMinusInfinity);
      std::fill(follow, follow + R, kMinusInfinity);
      for (std::size_t m = i + 1; m < j; ++m) {
        const double* after = chart.follow + at(m, j);
        std::copy(after, after + R, split.data());
        k.add_rows(rows, v.split(i, m, j, rows), nullptr, 0, R, split.data());
        k.max_sum(chart.first + at(i, m), split.data(), node, R);
        if (i > 0) k.max_sum(chart.middle + at(i, m), split.data(), follow, R);
      }
      k.add_scaled(1.0, v.row(kNode, i, j), node, R);
      forbid(v, i, j, node);
      if (has_site(kFirst, n, i, j)) as_child(0, i, j, chart.first + at(i, j));
      if (has_site(kMiddle, n, i, j)) as_child(1, i, j, chart.middle + at(i, j));
      if (has_site(kLast, n, i, j)) {
        if (j > i + 1) k.add_scaled(1.0, v.row(kRest, i, j), follow, R);
        as_child(2, i, j, last.data());
        const double* const only[] = {last.data()};
        k.max_rows(only, 1, true, follow, R);
      }
    }
  }
  const double* whole = chart.node + at(0, n);
  for (std::size_t s = n == 1 ? 0 : 1; s < R; ++s) {
    chart.whole = std::max(chart.whole, whole[s] + v.block[kRoot][v.symbol(0, s)]);
  }
  return chart;
}

TreeForest::Item TreeForest::item(std::uint64_t number) const {
  const std::uint64_t label = number % v_.R, span = number / v_.R, m = v_.n + 1;
  return {static_cast<Kind>(span / m / m), span / m % m, span % m, label};
}

double TreeForest::best(std::uint64_t node) const {
  const Item a = item(node);
  if (a.kind == kWhole) return chart_.whole;
  const double* const charts[] = {chart_.node, chart_.first, chart_.middle, chart_.follow};
  return charts[a.kind][span_site(v_.n, a.i, a.j) * v_.R + a.label];
}

std::uint32_t TreeForest::ways(std::uint64_t node) const {
  const Item a = item(node);
  const auto splits = static_cast<std::uint32_t>(a.j - a.i - 1);
  if (a.kind == kNodeItem) return a.word() ? 1 : splits;
  return symbols(a) + (a.kind == kFollowItem ? splits : 0);
}

double TreeForest::way(std::uint64_t node, std::uint32_t edge,
                       std::vector<std::uint64_t>& tails) const {
  const Item a = item(node);
  const std::size_t x = a.label;
  tails.clear();
  if (a.kind == kNodeItem && a.word()) {
    return v_.allows(a.i, a.j, x) ? v_.row(kNode, a.i, a.j)[x] : kMinusInfinity;
  }
  const std::uint32_t children = a.kind == kNodeItem ? 0 : symbols(a);
  if (edge < children) {
    const std::size_t s = edge + v_.R - children, symbol = v_.symbol(a.i, s);
    tails.push_back(number(kNodeItem, a.i, a.j, s));
    if (a.kind == kWhole) return v_.block[kRoot][symbol];
    const std::size_t place = a.kind - kFirstItem;
    return v_.row(kFirst + place, a.i, a.j)[x] + v_.pair(place, symbol)[x];
  }
  const std::size_t k = a.i + 1 + edge - children;
  const bool rest = a.kind == kFollowItem;
  tails.push_back(number(kFollowItem, k, a.j, x));
  tails.push_back(number(rest ? kMiddleItem : kFirstItem, a.i, k, x));
  double gain = v_.row(rest ? kRest : kNode, a.i, a.j)[x];
  const double* rows[TreeShape::kMostKinds];
  const std::size_t count = v_.split(a.i, k, a.j, rows);
  for (std::size_t r = 0; r < count; ++r) gain += rows[r][x];
  return gain;
}

void TreeForest::write(std::uint64_t node, std::uint32_t edge, Output& y) const {
  const Item a = item(node);
  const std::uint32_t children = a.kind == kNodeItem ? 0 : symbols(a);
  if (edge < children) return;
  y.push_back(a.kind == kNodeItem ? static_cast<std::int32_t>(a.label) : -1);
  y.push_back(a.word() ? 0 : static_cast<std::int32_t>(a.i + 1 + edge - children));
}

}  // namespace structlearn::text
