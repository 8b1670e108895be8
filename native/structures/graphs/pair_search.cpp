#include "structures/graphs/pair_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "structures/graphs/pair_sums.hpp"
#include "structures/graphs/standard_pairwise.hpp"

namespace structlearn {
namespace {

// Sweeps of tree-reweighted messages for a bound. They end where one takes no more than this share
// off what is between bound and value.
constexpr std::size_t kBoundRounds = 50;
constexpr double kLeastGain = 1e-3;
// Graphs with at most this many nodes are searched by branch and bound if nothing else is exact,
// for at most this many steps: some milliseconds.
constexpr std::size_t kFewNodes = 24, kMostSteps = std::size_t{1} << 15;

constexpr std::array<std::pair<std::string_view, PairMethod>, 8> kMethods{{
    {"auto", PairMethod::kAuto},
    {"elimination", PairMethod::kElimination},
    {"cut", PairMethod::kCut},
    {"expansion", PairMethod::kExpansion},
    {"swap", PairMethod::kSwap},
    {"max-product", PairMethod::kMaxProduct},
    {"trws", PairMethod::kReweighted},
    {"qpbo", PairMethod::kRoofDual},
}};

PairFound refused(PairRefusal why, std::int64_t place = -1) {
  PairFound found;
  found.refusal = why;
  found.place = place;
  return found;
}

// The searches of one model, in standard units.
class Searcher {
 public:
  Searcher(const Pairwise& m, bool with_bound, EliminationPlans& plans, Interrupt* interrupt)
      : m_(m), with_bound_(with_bound), plans_(plans), interrupt_(interrupt) {}

  PairFound run(PairMethod method) {
    switch (method) {
      case PairMethod::kElimination:
        return eliminate();
      case PairMethod::kCut:
        return m_.labels == 1 ? independent() : cut();
      case PairMethod::kExpansion:
        return bounded(climb(false).first);
      case PairMethod::kSwap:
        return bounded(climb(true).first);
      case PairMethod::kMaxProduct:
        return max_product();
      case PairMethod::kReweighted:
        return reweighted(200, kLeastGain / 10);
      case PairMethod::kRoofDual:
        return roof();
      case PairMethod::kAuto:
        break;
    }
    return automatic();
  }

 private:
  PairFound automatic() {
    if (!m_.has_pairs() || m_.labels == 1) return independent();
    if (m_.labels == 2) {
      PairFound found = cut();
      if (found.refusal == PairRefusal::kNone) return found;
    }
    if (const auto plan = plans_.find(m_)) return eliminate(*plan);
    PairFound found = approximate();
    if (!found.complete || found.exact() || m_.nodes > kFewNodes) return found;
    std::vector<std::int32_t> y = found.y;
    if (branch_and_bound(m_, kMostSteps, y)) return proven(std::move(y), "branch and bound");
    found.value = m_.score(y.data());  // never less than it was
    found.bound = std::max(found.bound, found.value);
    found.y = std::move(y);
    return found;
  }

  // A good labelling, often the best.
  PairFound approximate() {
    if (m_.labels == 2 && m_.cliques.count == 0) return roof();
    auto [found, truncated] = climb(false);
    if (!found.complete) return found;
    if ((m_.cliques.count == 0 && truncated) || found.value == kMinusInfinity) {
      PairFound other = reweighted(200, kLeastGain / 10);
      if (!other.complete || other.value > found.value) return other;
      found.bound = other.bound;
      return found;
    }
    return bounded(std::move(found));
  }

  // A labelling proven to be the best.
  PairFound proven(std::vector<std::int32_t> y, const char* method) const {
    PairFound found;
    found.value = found.bound = m_.score(y.data());
    found.y = std::move(y);
    found.method = method;
    return found;
  }
  PairFound interrupted() const {
    PairFound found;
    found.complete = false;
    return found;
  }

  std::vector<std::int32_t> best_alone() const {
    std::vector<std::int32_t> y(m_.nodes);
    for (std::size_t v = 0; v < m_.nodes; ++v) {
      const double* row = m_.label + v * m_.labels;
      y[v] = static_cast<std::int32_t>(std::max_element(row, row + m_.labels) - row);
    }
    return y;
  }
  PairFound independent() const { return proven(best_alone(), "maximum of each label"); }

  PairFound eliminate() {
    const auto plan = plans_.find(m_);
    return plan == nullptr ? refused(PairRefusal::kTooWide) : eliminate(*plan);
  }
  PairFound eliminate(const Elimination& plan) const {
    std::vector<std::int64_t> wide(m_.nodes);
    const double value = plan.best(m_.label, all_tables(m_).data(), wide.data());
    PairFound found = proven({wide.begin(), wide.end()}, "elimination");
    if (value == kMinusInfinity) found.value = found.bound = value;
    return found;
  }

  PairFound cut() const {
    if (m_.labels != 2) return refused(PairRefusal::kNotTwoLabels);
    std::vector<std::int32_t> y;
    const CutResult r = binary_cut(m_, y, interrupt_);
    if (!r.complete) return interrupted();
    if (r.not_submodular >= 0) return refused(PairRefusal::kNotSubmodular, r.not_submodular);
    return proven(std::move(y), "minimum cut");
  }

  // Also returns whether some pairs were not a metric.
  std::pair<PairFound, bool> climb(bool swap) const { return climb(swap, best_alone()); }
  std::pair<PairFound, bool> climb(bool swap, std::vector<std::int32_t> y) const {
    const MoveResult r = climb_by_cuts(m_, {swap, 1000}, y, interrupt_);
    if (!r.complete) return {interrupted(), false};
    PairFound found;
    found.value = m_.score(y.data());
    found.y = std::move(y);
    found.method = swap ? "alpha-beta-swap" : "alpha-expansion";
    return {std::move(found), r.truncated};
  }

  PairFound reweighted(std::size_t rounds, double least_gain) const {
    PairFound found;
    const MessageResult r = pass_messages(m_, {0.0, true, 0.0, rounds, least_gain}, found.y,
                                          nullptr, nullptr, interrupt_);
    if (!r.complete) return interrupted();
    found.value = m_.score(found.y.data());
    found.bound = std::max(found.value, r.bound);
    found.method = "tree-reweighted messages";
    return found;
  }

  // The same with a bound by tree-reweighted messages, if requested.
  PairFound bounded(PairFound found) const {
    if (!with_bound_ || !found.complete) return found;
    const PairFound other = reweighted(kBoundRounds, kLeastGain);
    if (!other.complete) return interrupted();
    double bound = other.bound;
    for (std::size_t c = 0; c < m_.cliques.count; ++c) {  // messages ignore them
      const double* row = m_.cliques.reward + c * m_.labels;
      bound += std::max(0.0, *std::max_element(row, row + m_.labels));
    }
    found.bound = std::max(found.value, bound);
    return found;
  }

  PairFound max_product() const {
    PairFound found;
    const MessageResult r =
        pass_messages(m_, {0.0, false, 0.3, 200, rest()}, found.y, nullptr, nullptr, interrupt_);
    if (!r.complete) return interrupted();
    found.value = m_.score(found.y.data());
    found.method = "loopy max-product";
    return bounded(std::move(found));
  }

  // A small score compared to most: a millionth of the median of those that are not the largest.
  double rest() const {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < m_.nodes * m_.labels; ++i) {
      if (std::isfinite(m_.label[i]) && m_.label[i] < 0.0) sizes.push_back(-m_.label[i]);
    }
    if (sizes.empty()) return 1e-6;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double below = sizes.size() % 2 == 0 ? *std::max_element(sizes.begin(), middle) : *middle;
    return 1e-6 * (0.5 * (below + *middle));
  }

  PairFound roof() const {
    if (m_.labels != 2) return refused(PairRefusal::kNotTwoLabels);
    // The flow cannot be distinguished from an interrupted one: check for the interrupt.
    std::vector<std::int32_t> known;
    const double bound = roof_dual(m_, known, interrupt_);
    if (interrupt_ != nullptr && interrupt_->requested()) return interrupted();
    if (std::find(known.begin(), known.end(), -1) == known.end()) {
      return proven(std::move(known), "roof duality");
    }
    // Known labels stay; the rest is searched.
    const PairFound guess = reweighted(100, kLeastGain);
    if (!guess.complete) return interrupted();
    for (std::size_t v = 0; v < m_.nodes; ++v) {
      if (known[v] < 0) known[v] = guess.y[v];
    }
    PairFound found = climb(false, std::move(known)).first;
    if (!found.complete) return found;
    found.bound = std::max(found.value, bound);
    found.method = "roof duality, the open labels by expansion";
    return found;
  }

  const Pairwise& m_;
  bool with_bound_;
  EliminationPlans& plans_;
  Interrupt* interrupt_;
};

// The methods that support groups of nodes.
bool takes_cliques(PairMethod method) {
  return method == PairMethod::kAuto || method == PairMethod::kCut ||
         method == PairMethod::kExpansion || method == PairMethod::kSwap;
}

// Whether one cut can take the scores unchanged: two labels, strengths alone, and nothing so large
// that sums overflow. Neither offsets nor the unit affect a bit of such a cut.
bool cuts_unscaled(const Pairwise& m) {
  constexpr double kMost = 1e300;
  const auto moderate = [](const double* from, std::size_t n) {
    std::size_t others = 0;
    for (std::size_t i = 0; i < n; ++i) others += std::fabs(from[i]) <= kMost ? 0 : 1;
    return others == 0;
  };
  if (m.labels != 2 || m.cliques.count > 0 || !m.has_pairs()) return false;
  for (const PairScores& s : m.pairs) {
    if (s.table != nullptr) return false;
    const std::size_t n = s.count > 0 && s.step == 0 ? 1 : s.count;
    if (s.strength != nullptr && !moderate(s.strength, n)) return false;
  }
  return moderate(m.label, m.nodes * m.labels);
}

}  // namespace

std::optional<PairMethod> pair_method(std::string_view name) {
  for (const auto& [known, method] : kMethods) {
    if (known == name) return method;
  }
  return std::nullopt;
}

PairFound search_labels(const Pairwise& given, PairMethod method, bool with_bound,
                        EliminationPlans& plans, Interrupt* interrupt) {
  if ((method == PairMethod::kAuto || method == PairMethod::kCut) && cuts_unscaled(given)) {
    PairFound found = Searcher(given, with_bound, plans, interrupt).run(PairMethod::kCut);
    if (method == PairMethod::kCut || found.refusal == PairRefusal::kNone) return found;
  }
  for (std::size_t v = 0; v < given.nodes; ++v) {  // no search could give it a label
    const double* row = given.label + v * given.labels;
    if (std::all_of(row, row + given.labels, [](double x) { return x == kMinusInfinity; })) {
      return refused(PairRefusal::kNoLabel, static_cast<std::int64_t>(v));
    }
  }
  if (given.cliques.count > 0) {
    if (!takes_cliques(method)) return refused(PairRefusal::kCliques);
    const double* reward = given.cliques.reward;
    for (std::size_t i = 0; i < given.cliques.count * given.labels; ++i) {
      if (reward[i] < 0.0) {
        return refused(PairRefusal::kNegativeClique, static_cast<std::int64_t>(i));
      }
    }
  }
  const StandardPairwise standard(given);
  PairFound found = Searcher(standard.model(), with_bound, plans, interrupt).run(method);
  if (!found.complete || found.refusal != PairRefusal::kNone || found.value == kMinusInfinity) {
    return found;
  }
  const double value = given.score(found.y.data());
  found.bound = standard.given_bound(found.value, found.bound, value);
  found.value = value;
  return found;
}

}  // namespace structlearn
