#include "learners/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/random.hpp"

namespace structlearn {

std::vector<std::int64_t> gap_sampled_order(std::span<const double> gap, double uniform,
                                            std::uint64_t& random) {
  const std::size_t n = gap.size();
  double sum = 0.0;
  for (const double g : gap) sum += g;
  Random draw(random, 0);
  random += 0x9E3779B97F4A7C15ULL;
  // Systematic sampling: one random number for all, so that no example strays from its share.
  std::vector<std::int64_t> order;
  double reached = draw.uniform();
  for (std::size_t i = 0; i < n; ++i) {
    const double share = sum > 0.0 ? gap[i] / sum * static_cast<double>(n) : 1.0;
    reached += (1.0 - uniform) * share + uniform;
    for (; reached >= 1.0; reached -= 1.0) order.push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t k = order.size(); k > 1; --k) {
    const auto j = static_cast<std::size_t>(draw.uniform() * static_cast<double>(k));
    std::swap(order[k - 1], order[j]);
  }
  return order;
}

FrankWolfeReport frank_wolfe_pass(WorkingSets& sets, std::span<const std::int64_t> order,
                                  const FrankWolfeSettings& settings, std::span<double> w,
                                  std::span<double> gap, Interrupt& interrupt) {
  const Problem& problem = sets.problem();
  FrankWolfeReport report;
  Workspace ws;
  PartVector r;
  std::vector<double> score, scratch(problem.weights(), 0.0);
  for (const std::int64_t index : order) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    const auto i = static_cast<std::size_t>(index);
    ++report.visits;
    const double C = sets.scale(i);
    if (C == 0.0) {
      gap[i] = 0.0;
      continue;
    }
    WorkingSet& set = sets.set(i);
    const Layout layout = problem.scorer().layout(i);
    if (settings.cached_share < 1.0 && !set.atoms.empty() && gap[i] > 0.0) {
      sets.scores_by_weights(i, layout, w.data(), score);
      const SimplexPoint point{set.alpha, &set.rest, score, set.gold_cost};
      const double cached = C * (point.best() - point.mean());
      if (cached > settings.cached_share * gap[i]) {
        const double tolerance = settings.inner * point.spread();
        if (sets.improve(i, layout, score, tolerance, settings.steps, w.data())) {
          ++report.updates;
          settings.cone.settle(w.data());
        }
        continue;
      }
    }
    const LossResult found = problem.loss(i, layout, w.data(), 1.0, sets.margin(), 0.0, r, ws);
    ++report.oracle_calls;
    report.loss += problem.sample_weight(i) * found.loss;
    sets.scores(i, found.scores, score);
    SimplexPoint point{set.alpha, &set.rest, score, set.gold_cost};
    gap[i] = std::max(0.0, C * (found.loss - point.mean()));
    report.gap += gap[i];
    if (found.other && found.loss > point.best()) {
      const std::size_t before = set.atoms.size();
      sets.add(i, layout, r, found.cost, scratch.data());
      // Another atom may have gone for it, or two may have become one.
      if (set.atoms.size() == before + 1) {
        score.push_back(found.loss);
      } else {
        sets.scores(i, found.scores, score);
      }
    }
    const SimplexPoint now{set.alpha, &set.rest, score, set.gold_cost};
    const double tolerance = settings.inner * now.spread();
    if (sets.improve(i, layout, score, tolerance, settings.steps, w.data())) {
      ++report.updates;
      settings.cone.settle(w.data());
    }
    sets.forget(i, settings.patience);
  }
  return report;
}

}  // namespace structlearn
