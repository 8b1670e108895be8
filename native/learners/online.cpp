#include "learners/online.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "learners/adaptive_steps.hpp"

namespace structlearn {
namespace {

// w *= factor. The vectors are touched when the scale has become small, which happens once in a
// great many steps: what v meant for the average moves to `behind`, so that no large numbers are
// left to cancel each other, and v takes the scale in.
template <class Real>
void shrink(OnlineState<Real>& state, double factor) {
  state.scale *= factor;
  if (state.scale > 1e-3) return;
  for (std::size_t j = 0; j < state.behind.size(); ++j) {
    state.behind[j] += static_cast<Real>(state.ahead * state.v[j]);
  }
  for (Real& x : state.v) x = static_cast<Real>(state.scale * x);
  state.ahead = 0.0;
  state.scale = 1.0;
}

double added_cost(AddedCost added, double cost) {
  switch (added) {
    case AddedCost::kOne:
      return 1.0;
    case AddedCost::kRoot:
      return std::sqrt(cost);
    case AddedCost::kWhole:
      return cost;
    default:
      return 0.0;
  }
}

}  // namespace

template <class Real>
EpochReport online_epoch(const Problem& problem, std::span<const std::int64_t> order,
                         const OnlineSettings& settings, OnlineState<Real>& state,
                         Interrupt& interrupt) {
  constexpr bool wide = std::is_same_v<Real, double>;
  if (!wide && settings.cone) throw std::invalid_argument("a cone takes weights of 64 bits");
  EpochReport report;
  Workspace ws;
  PartVector r;
  const double N = static_cast<double>(problem.examples());
  const bool average = settings.average && !state.behind.empty();
  std::optional<AdaptiveSteps<Real>> adaptive;
  WeightEntries entries;
  const bool added = settings.step == Step::kAdaGrad && std::isfinite(settings.C);
  if (settings.step >= Step::kAdaGrad && settings.cone && !settings.cone->bounds()) {
    throw std::invalid_argument("steps of their own length a weight need a bound a weight");
  }
  if (settings.step > Step::kDecaying) adaptive.emplace(problem, settings, state);
  for (const std::int64_t index : order) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    const std::size_t i = static_cast<std::size_t>(index);
    const double weight = problem.sample_weight(i);
    const Layout layout = problem.scorer().layout(i);
    if (adaptive) adaptive->prepare(i, layout);
    const LossResult found = settings.beam.width > 0
                                 ? problem.beam_loss(i, layout, state.v.data(), state.scale,
                                                     settings.margin, settings.beam, r, ws)
                                 : problem.loss(i, layout, state.v.data(), state.scale,
                                                settings.margin, settings.temperature, r, ws);
    double loss = found.loss;
    if (settings.added != AddedCost::kNothing) {
      const double cost = found.changed ? problem.cost_along(i, layout, r, ws) : 0.0;
      report.cost += weight * cost;
      loss = found.changed ? loss + added_cost(settings.added, cost) : 0.0;
    }
    state.steps += 1.0;
    ++report.seen;
    report.loss += weight * loss;
    double step = weight;
    if (settings.step == Step::kDecaying) {
      const double share = 1.0 / state.steps;
      shrink(state, 1.0 - share);
      step = weight * settings.C * N * share;
      state.cost += share * (N * settings.C * weight * found.cost - state.cost);
    }
    if (found.changed && weight != 0.0 && adaptive) {
      report.updates += adaptive->take(i, layout, r, loss, weight);
    } else if (found.changed && weight != 0.0) {
      ++report.updates;
      report.invalid += !found.valid;
      const double d = -step / state.scale;
      if constexpr (wide) {
        problem.scorer().scatter(i, layout, r, d, state.v.data(), -d * state.ahead,
                                 average ? state.behind.data() : nullptr);
      } else {
        entries.clear();
        problem.scorer().gather(i, layout, r, entries, settings.least);
        for (const auto& [q, x] : entries) {
          state.v[q] += static_cast<Real>(d * x);
          if (average) state.behind[q] -= static_cast<Real>(d * state.ahead * x);
        }
      }
    }
    if constexpr (wide) {
      if (settings.cone != nullptr && found.changed) {
        // A cone is one at any scale. AdaGrad has added a weight that it shrinks to the average.
        settings.cone->project(state.v.data(), [&](std::size_t j, double d) {
          if (average) state.behind[j] += added ? d : -d * state.ahead;
        });
      }
    }
    if (settings.step == Step::kConstant) shrink(state, 1.0 - 1.0 / (2.0 * settings.C * N));
    if (average && added) {
      state.total += 1.0;  // its weights are added up where they change
    } else if (average) {
      // Steps of the decaying schedule count in proportion to their number (Lacoste-Julien,
      // Schmidt & Bach 2012); otherwise all count alike.
      const double count = settings.step == Step::kDecaying ? state.steps : 1.0;
      state.ahead += count * state.scale;
      state.total += count;
    }
  }
  if (adaptive) adaptive->finish();
  return report;
}

template EpochReport online_epoch(const Problem&, std::span<const std::int64_t>,
                                  const OnlineSettings&, OnlineState<double>&, Interrupt&);
template EpochReport online_epoch(const Problem&, std::span<const std::int64_t>,
                                  const OnlineSettings&, OnlineState<float>&, Interrupt&);

}  // namespace structlearn
