#include "structures/trees/arborescence.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/softmax.hpp"
#include "structures/trees/arc_scores.hpp"
#include "structures/trees/edmonds.hpp"
#include "structures/trees/eisner.hpp"
#include "structures/trees/kbest_trees.hpp"
#include "structures/trees/matrix_tree.hpp"
#include "structures/trees/projective_sums.hpp"

namespace structlearn {

void Arborescence::check(const Layout& layout) const {
  const Block& arc = layout.block[kArc];
  const std::size_t N = nodes_of(layout);
  if (!arc.present || N * N != arc.sites || N < 2 || arc.outcomes == 0) {
    throw std::invalid_argument(
        "arc must have shape (n + 1, n + 1), or that with R labels at the end, for a sentence of "
        "at "
        "least one word: row and column 0 are the root");
  }
  const Block& sibling = layout.block[kSibling];
  if (!sibling.present) return;
  if (!projective_) {
    throw std::invalid_argument(
        "sibling scores need projective=True: the best non-projective tree with them is NP-hard");
  }
  if (sibling.sites != N * N * N || sibling.outcomes != 1) {
    const std::string side = std::to_string(N);
    throw std::invalid_argument("sibling must have shape (" + side + ", " + side + ", " + side +
                                ") to go with arc");
  }
}

bool Arborescence::reads(const Layout& layout, std::size_t block, std::size_t site) const {
  const std::size_t N = nodes_of(layout), m = site % N;
  if (block == kArc) return m != 0 && m != site / N;
  const std::size_t s = site / N % N, h = site / N / N;
  return m != 0 && ((h <= s && s < m) || (m < s && s <= h));
}

double Arborescence::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const std::size_t N = nodes_of(layout), n = N - 1, R = layout.block[kArc].outcomes;
  const double* arc = best_labels(layout, scores, ws);
  y.assign(R > 1 ? 2 * n : n, 0);
  const double value =
      projective_ ? best_projective(arc, scores.block[kSibling], n, single_root_, y.data(), ws)
                  : best_arborescence(arc, n, single_root_, y.data(), ws);
  if (value > kMinusInfinity && R > 1) choose_labels(scores.block[kArc], arc, n, R, y.data());
  return value;
}

void Arborescence::encode(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) const {
  const std::size_t N = nodes_of(layout), n = N - 1, R = layout.block[kArc].outcomes;
  if (y.size() != 2 * n && (y.size() != n || R > 1)) {  // one label may be left out
    throw std::invalid_argument("the tree has " + std::to_string(R > 1 ? y.size() / 2 : y.size()) +
                                " words, the scores are for " + std::to_string(n));
  }
  const auto push = [&parts](std::size_t i) { parts.push_back(static_cast<std::uint32_t>(i)); };
  for (std::size_t m = 1; m <= n; ++m) {
    const std::size_t h = static_cast<std::size_t>(y[m - 1]);
    const std::size_t r = R > 1 ? static_cast<std::size_t>(y[n + m - 1]) : 0;
    push(layout.block[kArc].offset + (h * N + m) * R + r);
  }
  if (!layout.block[kSibling].present) return;
  for (std::size_t m = 1; m <= n; ++m) {
    const std::size_t h = static_cast<std::size_t>(y[m - 1]);
    std::size_t s = h > m ? m + 1 : m - 1;
    while (s != h && y[s - 1] != y[m - 1]) s = h > m ? s + 1 : s - 1;
    push(layout.block[kSibling].offset + (h * N + s) * N + m);
  }
}

double Arborescence::infer(const Layout& layout, const Scores& scores, double eps,
                           const Marginals& out, Workspace& ws) const {
  const std::size_t N = nodes_of(layout), R = layout.block[kArc].outcomes;
  const double* arc = summed_labels(layout, scores, eps, ws);
  double* p = out.block[kArc];
  if (p != nullptr && R > 1) p = ws.real(ArcScratch::kMarginals, N * N);
  const double value = projective_ ? sum_projective(arc, scores.block[kSibling], N - 1,
                                                    single_root_, eps, p, out.block[kSibling])
                                   : sum_arborescences(arc, N - 1, single_root_, eps, p);
  if (value > kMinusInfinity && p != nullptr && R > 1) {
    share_among_labels(layout, scores, arc, p, eps, out.block[kArc]);
  }
  return value;
}

std::optional<double> Arborescence::exact_entropy(const Layout& layout, const Scores& scores,
                                                  double eps, Workspace& ws) const {
  const std::size_t N = nodes_of(layout), R = layout.block[kArc].outcomes;
  const double* arc = best_labels(layout, scores, ws);
  std::vector<Open> labels(N * N);
  for (std::size_t a = 0; a < N * N; ++a) {
    if (arc[a] > kMinusInfinity) labels[a] = openness_of_labels(scores.block[kArc] + a * R, R, eps);
  }
  if (!projective_) return entropy_of_arborescences(arc, labels.data(), N - 1, single_root_, eps);
  return entropy_of_projective(arc, scores.block[kSibling], labels.data(), N - 1, single_root_,
                               eps);
}

std::vector<std::pair<double, Output>> Arborescence::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t n,
                                                           Workspace& ws) const {
  const std::size_t words = nodes_of(layout) - 1;
  const ArcScores arcs{scores.block[kArc], best_labels(layout, scores, ws), words,
                       layout.block[kArc].outcomes};
  if (projective_) return kbest_projective(arcs, scores.block[kSibling], single_root_, n, ws);
  return kbest_trees(arcs, n, [&](const double* arc, std::int32_t* heads) {
    return best_arborescence(arc, words, single_root_, heads, ws);
  });
}

std::vector<Output> Arborescence::sample(const Layout& layout, const Scores& scores, double eps,
                                         std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const std::size_t words = nodes_of(layout) - 1, R = layout.block[kArc].outcomes;
  const double* arc = summed_labels(layout, scores, eps, ws);
  std::vector<Output> drawn =
      projective_ ? draw_projective(arc, scores.block[kSibling], words, single_root_, eps, n, seed)
                  : draw_arborescences(arc, words, single_root_, eps, n, seed);
  if (R == 1) return drawn;
  std::vector<double> weight(R);
  for (std::size_t s = 0; s < drawn.size(); ++s) {
    Random random(~seed, s);
    drawn[s].resize(2 * words);
    for (std::size_t m = 1; m <= words; ++m) {
      const std::size_t site = static_cast<std::size_t>(drawn[s][m - 1]) * (words + 1) + m;
      softmax(scores.block[kArc] + site * R, R, eps, weight.data());
      drawn[s][words + m - 1] = static_cast<std::int32_t>(draw(weight.data(), R, 1, random));
    }
  }
  return drawn;
}

}  // namespace structlearn
