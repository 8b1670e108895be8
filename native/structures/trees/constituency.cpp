#include "structures/trees/constituency.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/hypergraph.hpp"
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
  // The half that is read, row by row: scores of long sentences do not fit the cache.
  const std::size_t n = words_of_sites(layout.block[block].sites), R = layout.block[block].outcomes;
  for (std::size_t i = 0; i < n; ++i) {
    if (!kernels().all_scores(x + (i * (n + 1) + i + 1) * R, (n - i) * R)) return false;
  }
  return true;
}

double Constituency::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const SpanView v(layout, scores);
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
      // Whatever follows this child, from j on, side by side.
      if (here > kMinusInfinity && j < n) {
        k.max_plus(here, follow + j * m + j + 1, now + j + 1, n - j);
      }
    }
  }
  const double value = follow[n];
  if (value == kMinusInfinity) {
    y.assign(2 * (2 * n - 1), 0);
    return value;
  }
  std::vector<OpenSpan> open;
  write_tree(n, y, open, [&](const OpenSpan& at) -> std::pair<std::size_t, std::size_t> {
    const double* s = v.row(at.i, at.j);
    const std::size_t width = at.j - at.i, first = at.child && width > 1 ? 1 : 0;
    const std::size_t label = first + first_max(s + first, v.R - first);
    if (width == 1) return {label, 0};
    // Where a maximum came from is not stored: the first split that gives it. If rounding to
    // infinity leaves none, the last one will do.
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
  walk_tree(y, [&](std::size_t i, std::size_t j, std::int32_t label) {
    parts.push_back(static_cast<std::uint32_t>(span.offset + (i * (n + 1) + j) * span.outcomes +
                                               static_cast<std::size_t>(label)));
  });
}

void Constituency::spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const {
  found.clear();
  walk_tree(y, [&](std::uint32_t i, std::uint32_t j, std::int32_t label) {
    if (label > 0) {
      found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), label});
    }
  });
}

namespace {

// The chart as hyperedges, without the labels that no list of `most` trees can need: a span with a
// label has a better tree for each label that is better there.
class TreeEdges {
 public:
  TreeEdges(const SpanView& v, std::size_t most) : v_(v) {
    part_ptr_.push_back(0);
    tail_ptr_.push_back(0);
    for (std::size_t width = 1; width <= v.n; ++width) {
      for (std::size_t i = 0; i + width <= v.n; ++i) add_span(i, i + width, most);
    }
  }

  Hypergraph build() {
    return Hypergraph(node_, v_.n * (v_.n + 1) * v_.R, std::move(head_), std::move(tail_ptr_),
                      std::move(tail_), std::move(part_ptr_), std::move(part_));
  }

 private:
  void edge(std::uint32_t head, std::initializer_list<std::uint32_t> tails, std::size_t part) {
    head_.push_back(head);
    tail_.insert(tail_.end(), tails);
    tail_ptr_.push_back(static_cast<std::uint32_t>(tail_.size()));
    if (part != kNone) part_.push_back(static_cast<std::uint32_t>(part));
    part_ptr_.push_back(static_cast<std::uint32_t>(part_.size()));
  }

  void add_span(std::size_t i, std::size_t j, std::size_t most) {
    const std::size_t first = v_.site(i, j) * v_.R;
    const double* s = v_.row(i, j);
    std::vector<std::uint32_t> labels(v_.R - 1);
    std::iota(labels.begin(), labels.end(), 1);
    std::stable_sort(labels.begin(), labels.end(), [s](auto a, auto b) { return s[a] > s[b]; });
    labels.resize(std::min(labels.size(), most));
    std::sort(labels.begin(), labels.end());
    const std::uint32_t body = node_++;
    if (j == i + 1) {
      edge(body, {}, kNone);
    } else {
      for (std::size_t k = i + 1; k < j; ++k) {
        edge(body, {child_[v_.site(i, k)], follow_[v_.site(k, j)]}, kNone);
      }
    }
    const std::uint32_t child = node_++;
    for (const std::uint32_t r : labels) edge(child, {body}, first + r);
    const std::uint32_t follow = node_++;
    edge(follow, {body}, first);
    edge(follow, {child}, kNone);
    child_[v_.site(i, j)] = j == i + 1 ? follow : child;
    follow_[v_.site(i, j)] = follow;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const SpanView& v_;
  std::uint32_t node_ = 0;
  std::vector<std::uint32_t> head_, tail_ptr_, tail_, part_ptr_, part_;
  std::vector<std::uint32_t> child_ = std::vector<std::uint32_t>(v_.n * (v_.n + 1));
  std::vector<std::uint32_t> follow_ = std::vector<std::uint32_t>(v_.n * (v_.n + 1));
};

// The row of the tree with these parts, one a node of the binary tree.
Output row_of_parts(const SpanView& v, const std::vector<std::uint32_t>& parts) {
  // A node's left child is the widest span that starts with it and is a node as well.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> ends(v.n);  // (end, label)
  for (const std::uint32_t part : parts) {
    const std::size_t site = part / v.R;
    ends[site / (v.n + 1)].emplace_back(site % (v.n + 1), part % v.R);
  }
  for (auto& list : ends) std::sort(list.begin(), list.end());
  Output y;
  std::vector<OpenSpan> open;
  write_tree(v.n, y, open, [&](const OpenSpan& at) -> std::pair<std::size_t, std::size_t> {
    auto& list = ends[at.i];
    const std::size_t label = list.back().second;
    list.pop_back();
    return {label, at.j - at.i == 1 ? 0 : list.back().first};
  });
  return y;
}

}  // namespace

std::vector<std::pair<double, Output>> Constituency::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t n,
                                                           Workspace&) const {
  const SpanView v(layout, scores);
  const Hypergraph graph = TreeEdges(v, n).build();
  std::vector<double> theta(v.span, v.span + v.n * (v.n + 1) * v.R);
  std::vector<std::pair<double, Output>> result;
  for (const auto& [value, edges] : graph.kbest(theta.data(), n)) {
    result.emplace_back(value, row_of_parts(v, graph.parts_of(edges)));
  }
  return result;
}

}  // namespace structlearn
