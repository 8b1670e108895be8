#include "problem/graph_oracles.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "numeric/kernels.hpp"
#include "structures/graphs/assignment.hpp"
#include "structures/graphs/pair_sums.hpp"

namespace structlearn {

PairwiseOracle::PairwiseOracle(std::shared_ptr<const Oracle> behind,
                               const PairwiseSettings& settings, const Scorer& scorer)
    : BackedOracle(std::move(behind)), settings_(settings), fits_(scorer.examples()) {
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    fits_[i] = PairwiseExample::fits(settings.kind, scorer.layout(i));
  }
  const std::span<const std::int64_t> ptr = settings.label_ptr;
  bool fine = ptr.empty() || (ptr.size() == fits_.size() + 1 && ptr.front() == 0 &&
                              static_cast<std::size_t>(ptr.back()) == settings.labels.size());
  for (std::size_t i = 0; fine && i + 1 < ptr.size(); ++i) fine = ptr[i] <= ptr[i + 1];
  if (!fine) throw std::invalid_argument("the pointers into the gold labels are wrong");
}

bool PairwiseOracle::readable(std::size_t i, const Layout& layout, const double* theta) const {
  return fits_[i] && kernels().all_scores(theta, layout.parts);
}

// False if the core has no reliable answer.
bool PairwiseOracle::search(const PairwiseExample& example, bool with_bound,
                            PairFound& found) const {
  if (!settings_.method || !example.strengths_are_finite()) return false;
  found = search_labels(example.model(), *settings_.method, with_bound, plans_, nullptr);
  return found.refusal == PairRefusal::kNone && found.value > kMinusInfinity;
}

bool PairwiseOracle::sums(std::size_t i, const PairwiseExample& example, double eps, double& value,
                          PartVector& p) const {
  const Pairwise& m = example.model();
  if (m.cliques.count > 0 || !example.strengths_are_finite()) return false;
  PairSums sums;
  const bool labelled = !settings_.label_ptr.empty();
  if (settings_.likelihood == Likelihood::kLoopy) {
    loopy_sums(m, eps, settings_.damping, sums, nullptr);
  } else if (settings_.likelihood == Likelihood::kPseudo && labelled) {
    const auto first = static_cast<std::size_t>(settings_.label_ptr[i]),
               last = static_cast<std::size_t>(settings_.label_ptr[i + 1]);
    const auto known = [&](std::int64_t k) {
      return k >= 0 && static_cast<std::size_t>(k) < m.labels;
    };
    const std::span<const std::int64_t> gold = settings_.labels.subspan(first, last - first);
    if (gold.size() != m.nodes || !std::all_of(gold.begin(), gold.end(), known)) return false;
    const std::vector<std::int32_t> y(gold.begin(), gold.end());
    sums.node.resize(m.nodes * m.labels);
    sums.pair.assign(m.n_edges * m.labels * m.labels, 0.0);
    sums.value = pseudo_likelihood(m, y.data(), eps, sums.node.data(), sums.pair.data());
  } else if (!exact_sums(m, eps, plans_, sums)) {
    return false;
  }
  value = sums.value;
  p.clear(true);
  example.gather(sums.node, sums.pair, p.value);
  return true;
}

double PairwiseOracle::infer(std::size_t i, const Layout& layout, const double* theta, double eps,
                             PartVector& p, Workspace& ws) const {
  if (readable(i, layout, theta)) {
    const PairwiseExample example(settings_.kind, layout, theta);
    double value = 0.0;
    if (eps > 0.0 && sums(i, example, eps, value, p)) return value;
    PairFound found;
    if (eps == 0.0 && search(example, false, found)) {
      if (!found.exact()) count_inexact();
      example.encode(found.y.data(), p);
      return found.value;
    }
  }
  return behind().infer(i, layout, theta, eps, p, ws);
}

double PairwiseOracle::missed(std::size_t i, const Layout& layout, const double* theta,
                              Workspace& ws) const {
  if (readable(i, layout, theta)) {
    const PairwiseExample example(settings_.kind, layout, theta);
    PairFound found;
    if (search(example, true, found)) {
      if (found.exact()) return 0.0;
      const double missed = found.bound - found.value;
      return missed > 0.0 ? missed : std::numeric_limits<double>::infinity();
    }
  }
  return behind().missed(i, layout, theta, ws);
}

double PairwiseOracle::argmax(std::size_t i, const Layout& layout, const double* theta, Output& y,
                              Workspace& ws) const {
  if (readable(i, layout, theta)) {
    const PairwiseExample example(settings_.kind, layout, theta);
    PairFound found;
    if (search(example, false, found)) {
      y = std::move(found.y);
      return found.value;
    }
  }
  PartVector p;
  const double value = behind().infer(i, layout, theta, 0.0, p, ws);
  const Block& label = layout.block[0];
  y.assign(label.sites, 0);
  for (std::size_t n = 0; n < p.index.size(); ++n) {
    const std::size_t part = p.index[n] - label.offset;
    if (p.index[n] < label.offset || part >= label.size() || p.value[n] != 1.0) continue;
    y[part / label.outcomes] = static_cast<std::int32_t>(part % label.outcomes);
  }
  return value;
}

double MatchingOracle::infer(std::size_t i, const Layout& layout, const double* theta, double eps,
                             PartVector& p, Workspace& ws) const {
  if (eps > 0.0) return behind().infer(i, layout, theta, eps, p, ws);
  enum Scratch { kPartners };
  Output& y = ws.integer[kPartners];
  const double value = argmax(i, layout, theta, y, ws);
  p.clear(false);
  if (value == kMinusInfinity) return value;
  const auto columns = static_cast<std::size_t>(layout.topology[1]);
  for (std::size_t row = 0; row < y.size(); ++row) {
    if (y[row] < 0) continue;
    p.add(layout.block[0].offset + row * columns + static_cast<std::size_t>(y[row]), 1.0);
  }
  return value;
}

double MatchingOracle::argmax(std::size_t i, const Layout& layout, const double* theta, Output& y,
                              Workspace&) const {
  const Block& pair = layout.block[0];
  const bool fits = layout.topology.size() == 2 && layout.topology[0] > 0 &&
                    layout.topology[1] > 0 && pair.present && pair.outcomes == 1 &&
                    static_cast<std::size_t>(layout.topology[0] * layout.topology[1]) == pair.sites;
  const double* scores = theta + pair.offset;
  if (!fits || !kernels().all_scores(scores, pair.size())) {
    throw std::invalid_argument(
        "example " + std::to_string(i) +
        (fits ? ": pair contains NaN or +inf; scores are finite, or -inf to forbid"
              : ": pair must have features of shape (n, m), at least one of each"));
  }
  return best_assignment(scores, static_cast<std::size_t>(layout.topology[0]),
                         static_cast<std::size_t>(layout.topology[1]), y);
}

}  // namespace structlearn
