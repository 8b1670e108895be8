#include "structures/trees/constituency.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/lazy_kbest.hpp"
#include "structures/trees/constituency_view.hpp"

namespace structlearn {

std::size_t words_of_sites(std::size_t sites) {
  std::size_t n = static_cast<std::size_t>(std::sqrt(static_cast<double>(sites)));
  while (n * (n + 1) > sites) --n;
  while ((n + 1) * (n + 2) <= sites) ++n;
  return n * (n + 1) == sites ? n : 0;
}

void Constituency::check(const Layout& layout) const {
  const Block& span = layout.block[kSpan];
  if (!span.present || words_of_sites(span.sites) == 0 || span.outcomes == 0) {
    throw std::invalid_argument(
        "span must have shape (n, n + 1, R) with at least one word and one label");
  }
}

bool Constituency::reads(const Layout& layout, std::size_t block, std::size_t site) const {
  const std::size_t n = words_of_sites(layout.block[block].sites);
  return site / (n + 1) < site % (n + 1);
}

bool Constituency::scores_are_valid(const Layout& layout, std::size_t block,
                                    const double* x) const {
  // Only the half that is read, row by row: scores of long sentences do not fit in the cache.
  const std::size_t n = words_of_sites(layout.block[block].sites), R = layout.block[block].outcomes;
  for (std::size_t i = 0; i < n; ++i) {
    if (!kernels().all_scores(x + (i * (n + 1) + i + 1) * R, (n - i) * R)) return false;
  }
  return true;
}

namespace {

// The best scores of i..j: below its label; as a child that something follows; as the last child or
// the whole.
struct SpanChart {
  double *body, *child, *follow;
};

SpanChart best_chart(const SpanView& v, Workspace& ws) {
  const std::size_t n = v.n, m = n + 1;
  // Rows i of follow and body, columns j; child(i, j) is used as soon as it is known.
  enum Scratch { kFollow, kBody, kChild };
  double* follow = ws.real(kFollow, m * m);
  double* body = ws.real(kBody, m * m);
  double* child = ws.real(kChild, m * m);
  const Kernels& k = kernels();
  for (std::size_t i = n; i-- > 0;) {
    double* now = body + i * m;
    std::fill(now + i, now + m, kMinusInfinity);
    for (std::size_t j = i + 1; j <= n; ++j) {
      const double* s = v.row(i, j);
      const double labelled = k.largest(s + 1, v.R - 1), any = std::max(s[0], labelled);
      if (j == i + 1) now[j] = 0.0;
      const double here = now[j] + (j == i + 1 ? any : labelled);
      child[i * m + j] = here;
      follow[i * m + j] = now[j] + any;
      // The possible followers of this child, from j on, side by side.
      if (here > kMinusInfinity && j < n) {
        k.max_plus(here, follow + j * m + j + 1, now + j + 1, n - j);
      }
    }
  }
  return {body, child, follow};
}

// The chart as a forest; node (kind * m + i) * m + j.
struct SpanForest {
  enum Kind : std::size_t { kBody, kChild, kFollow };
  const SpanView& v;
  SpanChart chart;
  std::size_t m = v.n + 1;

  std::uint64_t node(Kind kind, std::size_t i, std::size_t j) const {
    return (kind * m + i) * m + j;
  }
  std::uint64_t root() const { return node(kFollow, 0, v.n); }
  Kind kind(std::uint64_t at) const { return static_cast<Kind>(at / (m * m)); }
  std::size_t begin(std::uint64_t at) const { return at / m % m; }
  std::size_t end(std::uint64_t at) const { return at % m; }
  // The first label: 0 is not allowed for a child of several words.
  std::size_t first(std::uint64_t at) const {
    return kind(at) == kChild && end(at) - begin(at) > 1 ? 1 : 0;
  }

  double best(std::uint64_t at) const {
    const double* const of[] = {chart.body, chart.child, chart.follow};
    return of[kind(at)][at % (m * m)];
  }
  std::uint32_t ways(std::uint64_t at) const {
    const std::size_t width = end(at) - begin(at);
    if (kind(at) == kBody) return static_cast<std::uint32_t>(width > 1 ? width - 1 : 1);
    return static_cast<std::uint32_t>(v.R - first(at));
  }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const std::size_t i = begin(at), j = end(at);
    tails.clear();
    if (kind(at) != kBody) {
      tails.push_back(node(kBody, i, j));
      return v.row(i, j)[first(at) + e];
    }
    if (j > i + 1) tails = {node(kFollow, i + 1 + e, j), node(kChild, i, i + 1 + e)};
    return 0.0;
  }
};

}  // namespace

double Constituency::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const SpanView v(layout, scores);
  const std::size_t n = v.n, m = n + 1;
  const auto [body, child, follow] = best_chart(v, ws);
  const double value = follow[n];
  if (value == kMinusInfinity) {
    y.assign(2 * (2 * n - 1), 0);
    return value;
  }
  std::vector<OpenSpan> open;
  write_tree(
      n, y, open,
      [&, body = body, child = child,
       follow = follow](const OpenSpan& at) -> std::pair<std::size_t, std::size_t> {
        const double* s = v.row(at.i, at.j);
        const std::size_t width = at.j - at.i, first = at.child && width > 1 ? 1 : 0;
        const std::size_t label = first + first_max(s + first, v.R - first);
        if (width == 1) return {label, 0};
        // Back-pointers are not stored: take the first split that gives the maximum. If rounding to
        // infinity leaves none, take the last one.
        const double best = body[at.i * m + at.j];
        std::size_t split = at.i + 1;
        while (split + 1 < at.j && !(child[at.i * m + split] + follow[split * m + at.j] == best)) {
          ++split;
        }
        return {label, split};
      });
  return value;
}

void Constituency::encode(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) const {
  const Block& span = layout.block[kSpan];
  const std::size_t n = words_of_sites(span.sites);
  walk_tree<2>(y, [&](std::size_t i, std::size_t j, const std::int32_t* row) {
    parts.push_back(static_cast<std::uint32_t>(span.offset + (i * (n + 1) + j) * span.outcomes +
                                               static_cast<std::size_t>(row[0])));
  });
}

void Constituency::spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const {
  found.clear();
  walk_tree<2>(y, [&](std::uint32_t i, std::uint32_t j, const std::int32_t* row) {
    if (row[0] > 0) {
      found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), row[0]});
    }
  });
}

std::vector<std::pair<double, Output>> Constituency::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t n,
                                                           Workspace& ws) const {
  const SpanView v(layout, scores);
  const SpanForest forest{v, best_chart(v, ws)};
  // Labels and splits come in preorder, as an output has them.
  return kbest_outputs(
      forest, forest.root(), n, {}, [&](std::uint64_t at, std::uint32_t e, Output& y) {
        const bool body = forest.kind(at) == SpanForest::kBody;
        const bool word = forest.end(at) - forest.begin(at) == 1;
        const std::size_t x = !body ? forest.first(at) + e : word ? 0 : forest.begin(at) + 1 + e;
        y.push_back(static_cast<std::int32_t>(x));
      });
}

}  // namespace structlearn
