#include "learners/dual_ascent.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "learners/dual_visit.hpp"
#include "numeric/team.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kLooks = 8;
// The most visits whose steps are chosen at the same weights. Up to 8 of some thousand the passes
// hardly notice; at 16 and 32 it took more of them (a fifth of CoNLL-2000, two seeds).
constexpr std::size_t kBatch = 8;
// Small problems take smaller batches: with few examples each step changes much for the others.
constexpr std::size_t kExamplesOfSlot = 32;

// The visits of a round, chosen at the same weights.
class Round {
 public:
  Round(const Problem& problem, const AscentSettings& settings, AscentState& state,
        std::size_t threads)
      : state_(state),
        most_(std::clamp<std::size_t>(problem.examples() / kExamplesOfSlot, 1, kBatch)),
        team_(problem.oracle().threads_allowed() ? std::min(threads, most_) : 1),
        workspace_(team_.size()) {
    for (std::size_t slot = 0; slot < most_; ++slot) visit_.emplace_back(problem, settings, state);
  }

  // Visits the first examples of the order. How many is returned (0: interrupted), and depends on
  // the problem alone, never on the threads.
  std::size_t operator()(std::span<const std::int64_t> order, AscentReport& report,
                         Interrupt& interrupt) {
    const std::size_t size = size_of(order);
    choose(order.first(size), interrupt);
    if (interrupt.requested()) return 0;
    take(size);
    team_.run(size, [&](std::size_t slot, std::size_t) {
      if (visit_[slot].counts()) visit_[slot].settle(taken_[slot]);
    });
    for (std::size_t slot = 0; slot < size; ++slot) {
      Visit& visit = visit_[slot];
      if (!visit.counts()) continue;
      report.refused += !taken_[slot];
      if (visit.first()) visit.try_again(workspace_[0], report);
      visit.add_to(report);
    }
    return size;
  }

  // mean += share (w - mean)
  void average(double share) {
    constexpr std::size_t kPiece = std::size_t{1} << 15;
    const std::size_t n = state_.w.size();
    team_.run((n + kPiece - 1) / kPiece, [&](std::size_t piece, std::size_t) {
      const std::size_t end = std::min(n, (piece + 1) * kPiece);
      for (std::size_t j = piece * kPiece; j < end; ++j) {
        state_.mean[j] += share * (state_.w[j] - state_.mean[j]);
      }
    });
  }

 private:
  // Up to `most` of the first examples, none of them twice.
  std::size_t size_of(std::span<const std::int64_t> order) const {
    std::size_t size = 1;
    const auto known = [&](std::int64_t i) {
      return std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size), i) !=
             order.begin() + static_cast<std::ptrdiff_t>(size);
    };
    while (size < std::min(most_, order.size()) && !known(order[size])) ++size;
    return size;
  }

  void choose(std::span<const std::int64_t> examples, Interrupt& interrupt) {
    // The longest first: the threads end at nearly the same time.
    std::vector<std::size_t> turn(examples.size());
    std::iota(turn.begin(), turn.end(), std::size_t{0});
    const auto parts = [&](std::size_t slot) {
      const std::size_t i = static_cast<std::size_t>(examples[slot]);
      return state_.part_ptr[i + 1] - state_.part_ptr[i];
    };
    std::sort(turn.begin(), turn.end(),
              [&](std::size_t a, std::size_t b) { return parts(a) > parts(b); });
    team_.run(turn.size(), [&](std::size_t task, std::size_t thread) {
      if (interrupt.requested()) return;
      const std::size_t slot = turn[task];
      visit_[slot].choose(static_cast<std::size_t>(examples[slot]), workspace_[thread]);
    });
  }

  // Moves w by the steps of all visits, one after another, each thread some shares of it; then
  // takes back those that have lowered the dual, and all if the others without them would.
  void take(std::size_t size) {
    taken_.assign(size, 1);
    each_share([&](std::size_t first, std::size_t last) {
      for (std::size_t slot = 0; slot < size; ++slot) {
        if (visit_[slot].counts()) visit_[slot].move(first, last);
      }
    });
    double rise = 0.0;
    for (std::size_t slot = 0; slot < size; ++slot) {
      if (!visit_[slot].counts()) continue;
      rise += visit_[slot].rise();
      taken_[slot] = visit_[slot].rise() >= 0.0;
    }
    const auto take_back = [&](auto&& which) {
      each_share([&](std::size_t first, std::size_t last) {
        for (std::size_t slot = 0; slot < size; ++slot) {
          if (visit_[slot].counts() && which(slot)) visit_[slot].move_back(first, last);
        }
      });
    };
    if (std::find(taken_.begin(), taken_.end(), 0) == taken_.end()) return;
    take_back([&](std::size_t slot) { return !taken_[slot]; });
    for (std::size_t slot = 0; slot < size; ++slot) {
      if (!taken_[slot]) rise += visit_[slot].rise_back();
    }
    if (rise >= 0.0) return;
    take_back([&](std::size_t slot) { return taken_[slot] != 0; });
    std::fill(taken_.begin(), taken_.end(), std::uint8_t{0});
  }

  template <class Body>
  void each_share(Body&& body) {
    const std::size_t tasks = team_.size();
    team_.run(tasks, [&](std::size_t task, std::size_t) {
      body(task * kShares / tasks, (task + 1) * kShares / tasks);
    });
  }

  AscentState& state_;
  std::size_t most_;
  Team team_;
  std::vector<Workspace> workspace_;
  std::vector<Visit> visit_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace

AscentReport dual_ascent_pass(const Problem& problem, std::span<const std::int64_t> order,
                              const AscentSettings& settings, AscentState& state,
                              std::size_t threads, Interrupt& interrupt) {
  AscentReport report;
  const std::size_t n = order.size();
  Round round(problem, settings, state, threads);
  // Weights that many examples share still sway from visit to visit; a few looks average it out.
  const std::size_t stride = std::max<std::size_t>(n / (2 * kLooks), 1);
  std::size_t looks = 0;
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    const std::size_t size = round(order.subspan(begin), report, interrupt);
    if (size == 0) {
      report.complete = false;
      break;
    }
    end = begin + size;
    std::size_t more = 0;
    for (std::size_t k = begin; k < end; ++k) more += (n - 1 - k) % stride == 0 && 2 * k >= n - 1;
    if (more == 0) continue;
    looks += more;
    round.average(static_cast<double>(more) / static_cast<double>(looks));
  }
  if (!report.complete) std::copy(state.w.begin(), state.w.end(), state.mean.begin());
  return report;
}

}  // namespace structlearn
