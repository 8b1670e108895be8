#include "problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/elementary.hpp"
#include "structures/examples.hpp"

namespace structlearn {
namespace {

// The arrays of a workspace for problems.
enum class ProblemScratch { kTheta, kDifference, kBest };

// The largest margin / eps of the zero-one cost: exp(12) times the rounding error of log Z, 1e-15,
// or 1e-12 where scores are thousands of eps, leaves seven digits and more.
constexpr double kSharpestZeroOne = 12.0;

// The possible relative error of sums of scores.
constexpr double kRounding = 1e-9;

[[noreturn]] void nothing_legal(std::size_t i) {
  throw Infeasible("example " + std::to_string(i) +
                   ": no legal output is left: every output scores -inf");
}

}  // namespace

Scores scores_of(const Layout& layout, const double* theta) {
  Scores scores;
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) scores.block[b] = theta + layout.block[b].offset;
  }
  return scores;
}

double Oracle::argmax(std::size_t, const Layout&, const double*, Output&, Workspace&) const {
  throw std::invalid_argument("the structure is not one of the core");
}

double StructureOracle::argmax(std::size_t, const Layout& layout, const double* theta, Output& y,
                               Workspace& ws) const {
  return structure_->argmax(layout, scores_of(layout, theta), y, ws);
}

double StructureOracle::infer(std::size_t, const Layout& layout, const double* theta, double eps,
                              PartVector& p, Workspace& ws) const {
  const Scores scores = scores_of(layout, theta);
  if (eps > 0.0) {
    p.clear(true);
    p.value.resize(layout.parts);
    Marginals out;
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      if (layout.block[b].present) out.block[b] = p.value.data() + layout.block[b].offset;
    }
    return structure_->infer(layout, scores, eps, out, ws);
  }
  p.clear(false);
  Output& best = ws.integer[ProblemScratch::kBest];
  const Solved solved = structure_->solve(layout, scores, best, ws);
  if (solved.value == kMinusInfinity) return solved.value;
  if (!solved.exact) ++inexact_;
  structure_->encode(layout, best, p.index);
  p.value.assign(p.index.size(), 1.0);
  return solved.value;
}

double StructureOracle::missed(std::size_t, const Layout& layout, const double* theta,
                               Workspace& ws) const {
  const Solved solved =
      structure_->solve(layout, scores_of(layout, theta), ws.integer[ProblemScratch::kBest], ws);
  return solved.exact ? 0.0 : solved.bound - solved.value;
}

double StructureOracle::runner_up(std::size_t, const Layout& layout, const double* theta,
                                  std::span<const std::uint32_t> excluded, PartVector& p,
                                  Workspace& ws) const {
  // Different outputs may have the same parts (trees of a grammar without spans): of two with those
  // of the excluded output, at most one is that output.
  bool excluded_seen = false;
  for (const auto& [value, y] : structure_->kbest(layout, scores_of(layout, theta), 2, ws)) {
    p.clear(false);
    structure_->encode(layout, y, p.index);
    if (!excluded_seen &&
        std::equal(p.index.begin(), p.index.end(), excluded.begin(), excluded.end())) {
      excluded_seen = true;
      continue;
    }
    p.value.assign(p.index.size(), 1.0);
    return value;
  }
  p.clear(false);
  return kMinusInfinity;
}

Violation StructureOracle::violation(std::size_t i, const Layout& layout, const double* theta,
                                     std::span<const std::uint32_t> gold, const BeamSettings& beam,
                                     Workspace& ws) const {
  const auto* search = dynamic_cast<const BeamSearch*>(structure_.get());
  if (search == nullptr)
    throw Incapable("this structure has no beam search. What works: exact inference");
  Violation found = search->violation(layout, scores_of(layout, theta), gold, beam, ws);
  if (found.amount == kMinusInfinity) nothing_legal(i);
  return found;
}

Problem::Problem(std::shared_ptr<const Scorer> scorer, std::shared_ptr<const Oracle> oracle,
                 Gold gold, Cost cost, std::span<const double> sample_weight)
    : scorer_(std::move(scorer)),
      oracle_(std::move(oracle)),
      gold_(gold),
      cost_(cost),
      sample_weight_(sample_weight) {}

void Problem::add_cost(std::size_t i, const Layout& layout, double margin, double* theta) const {
  if (cost_.delta != nullptr) {
    const Block& at = layout.block[0];
    const std::size_t first = static_cast<std::size_t>(cost_.site_ptr[i]);
    for (std::size_t s = 0; s < at.sites; ++s) {
      const std::int32_t label = cost_.label[first + s];
      if (label < 0) continue;
      const double x = margin * (cost_.site_weight ? cost_.site_weight[first + s] : 1.0);
      const double* delta = cost_.delta + static_cast<std::size_t>(label) * at.outcomes;
      double* row = theta + at.offset + s * at.outcomes;
      for (std::size_t k = 0; k < at.outcomes; ++k) row[k] += x * delta[k];
    }
  }
  if (!cost_.ptr.empty()) {
    for (std::int64_t j = cost_.ptr[i]; j < cost_.ptr[i + 1]; ++j) {
      theta[cost_.part[j]] += margin * cost_.value[j];
    }
  }
}

double Problem::cost_along(std::size_t i, const Layout& layout, const PartVector& v,
                           Workspace& ws) const {
  double* cost = ws.real(ProblemScratch::kTheta, layout.parts);
  std::fill(cost, cost + layout.parts, 0.0);
  add_cost(i, layout, 1.0, cost);
  double sum = 0.0;
  for (std::size_t n = 0; n < v.value.size(); ++n) {
    sum += v.value[n] * cost[v.dense ? n : v.index[n]];
  }
  return sum;
}

// The zero-one cost has one coordinate outside the parts, "not the gold output": at eps = 0 it is a
// race between the gold output and the best other one, above it a reweighting of two masses. The
// mass of the others is the total minus that of the gold output, so it has an error of some 1e-15
// of the total, which exp(margin / eps) multiplies.
double Problem::zero_one(std::size_t i, const Layout& layout, const double* theta, double margin,
                         double eps, PartVector& p, Workspace& ws) const {
  const std::int64_t begin = gold_.ptr[i], end = gold_.ptr[i + 1];
  const double gold_score = gold_dot(i, theta);
  if (eps == 0.0) {
    const double other = oracle_->runner_up(i, layout, theta, gold_parts(i), p, ws) + margin;
    if (other > gold_score) return other;
    p.clear(false);
    for (std::int64_t n = begin; n < end; ++n) p.add(gold_.part[n], gold_value(n));
    return gold_score;
  }
  if (margin > kSharpestZeroOne * eps) {
    throw std::invalid_argument(
        "the zero-one cost needs temperature >= margin / 12: below, the outputs other than the "
        "gold one weigh exp(margin / temperature) times what rounding leaves of them; use "
        "temperature 0, or another cost");
  }
  const double value = oracle_->infer(i, layout, theta, eps, p, ws);
  if (value == kMinusInfinity) return value;
  // q: the gold output's share of the mass; every other output gains a factor exp(margin / eps).
  const double q = std::min(1.0, elementary::exp((gold_score - value) / eps));
  const double rest = -elementary::expm1((gold_score - value) / eps);
  const double gain =
      elementary::exp(-margin / eps);  // relative to the others, the gold output loses
  const double total = q * gain + std::max(rest, 0.0);
  if (!(total > 0.0) || rest <= 0.0) {  // nothing but the gold output has any mass
    std::fill(p.value.begin(), p.value.end(), 0.0);
    add_gold(i, 1.0, p.value.data());
    return gold_score;
  }
  const double shrink = 1.0 / total;
  for (double& x : p.value) x *= shrink;
  add_gold(i, (q * gain - q) * shrink, p.value.data());
  if (gold_.value == nullptr) {  // counts, which rounding must not make negative
    for (double& x : p.value) x = std::max(x, 0.0);
  }
  return value + margin + eps * elementary::log(total);
}

double Problem::augmented(std::size_t i, const Layout& layout, double* theta, double margin,
                          double eps, PartVector& p, Workspace& ws) const {
  double value;
  if (margin != 0.0 && cost_.zero_one) {
    value = zero_one(i, layout, theta, margin, eps, p, ws);
  } else {
    if (margin != 0.0) add_cost(i, layout, margin, theta);
    value = oracle_->infer(i, layout, theta, eps, p, ws);
  }
  if (value == kMinusInfinity) nothing_legal(i);
  return value;
}

// The same infer with everything that the known labels exclude at -inf.
double Problem::clamped(std::size_t i, const Layout& layout, double* theta, double eps,
                        PartVector& p, Workspace& ws) const {
  const Block& at = layout.block[0];
  const std::uint8_t* allowed = gold_.allowed + gold_.allowed_ptr[i];
  for (std::size_t j = 0; j < at.size(); ++j) {
    if (!allowed[j]) theta[at.offset + j] = kMinusInfinity;
  }
  const double value = oracle_->infer(i, layout, theta, eps, p, ws);
  if (value == kMinusInfinity) nothing_legal(i);
  return value;
}

void Problem::complete(std::size_t i, const Layout& layout, Weights w, double eps, PartVector& p,
                       Workspace& ws) const {
  if (!partial(i)) {
    p.clear(false);
    for (std::int64_t n = gold_.ptr[i]; n < gold_.ptr[i + 1]; ++n) {
      p.add(gold_.part[n], gold_value(n));
    }
    return;
  }
  double* theta = ws.real(ProblemScratch::kTheta, layout.parts);
  scorer_->score(i, layout, w, 1.0, theta);
  clamped(i, layout, theta, eps, p, ws);
}

double Problem::infer(std::size_t i, const Layout& layout, Weights w, double margin, double eps,
                      PartVector& p, Workspace& ws) const {
  double* theta = ws.real(ProblemScratch::kTheta, layout.parts);
  scorer_->score(i, layout, w, 1.0, theta);
  return augmented(i, layout, theta, margin, eps, p, ws);
}

LossResult Problem::loss(std::size_t i, const Layout& layout, Weights w, double scale,
                         double margin, double eps, PartVector& gradient, Workspace& ws) const {
  LossResult result;
  double* theta = ws.real(ProblemScratch::kTheta, 2 * layout.parts);
  double* plain = theta + layout.parts;  // the scores without the cost
  scorer_->score(i, layout, w, scale, theta);
  const bool is_partial = partial(i);
  if (margin == 0.0 && !is_partial) {
    plain = theta;  // nothing will be added to them
  } else {
    std::copy(theta, theta + layout.parts, plain);
  }
  const std::int64_t begin = gold_.ptr[i], end = gold_.ptr[i + 1];  // nothing where partial
  double clamp = 0.0;
  PartVector known;
  if (is_partial) {
    clamp = clamped(i, layout, theta, eps, known, ws);
    std::copy(plain, plain + layout.parts, theta);
  } else {
    for (std::int64_t n = begin; n < end; ++n) clamp += gold_value(n) * plain[gold_.part[n]];
  }
  const double value = augmented(i, layout, theta, margin, eps, gradient, ws);
  const double constant = cost_constant(i, margin);
  result.loss = value + constant - clamp;
  result.scores = plain;
  if (eps == 0.0 && !is_partial && result.loss < -kRounding * (1.0 + std::abs(clamp))) {
    // Inference was not exact, or may not choose the gold output, which scores more than its
    // result: an update away from the gold output would be wrong.
    const double own = gold_cost(i, layout, margin);
    if (own > result.loss) {
      result.loss = result.cost = own;
      gradient.clear(false);
      return result;
    }
  }

  if (eps > 0.0) {
    if (margin != 0.0 && cost_.zero_one) {
      result.cost = -margin * elementary::expm1(-result.loss / eps);  // exp(-loss / eps): p of gold
    } else if (margin != 0.0) {
      result.cost = constant;
      for (std::size_t j = 0; j < layout.parts; ++j) {
        // A part that is excluded is at -inf in both.
        if (gradient.value[j] != 0.0) result.cost += gradient.value[j] * (theta[j] - plain[j]);
      }
    }
    if (is_partial) {
      for (std::size_t j = 0; j < layout.parts; ++j) gradient.value[j] -= known.value[j];
    } else {
      for (std::int64_t n = begin; n < end; ++n) gradient.value[gold_.part[n]] -= gold_value(n);
    }
    result.changed = true;
    return result;
  }
  if (is_partial) {
    subtract(gradient, known.index, known.value.data(), layout.parts, ws);
  } else {
    subtract(gradient, gold_parts(i), gold_.value ? gold_.value + begin : nullptr, layout.parts,
             ws);
  }
  double plain_difference = 0.0;
  for (std::size_t n = 0; n < gradient.index.size(); ++n) {
    plain_difference += gradient.value[n] * plain[gradient.index[n]];
  }
  result.changed = !gradient.index.empty();
  // Without a gradient the zero-one loss is either 0 or the margin.
  const bool twin = margin != 0.0 && cost_.zero_one && result.loss > 0.5 * margin;
  result.other = result.changed || twin;
  result.cost = result.loss - plain_difference;
  return result;
}

void Problem::subtract(PartVector& found, std::span<const std::uint32_t> other,
                       const double* values, std::size_t parts, Workspace& ws) {
  // `net` is zero outside this function.
  double* net = ws.real(ProblemScratch::kDifference, parts);
  for (std::size_t n = 0; n < found.index.size(); ++n) net[found.index[n]] += found.value[n];
  for (std::size_t n = 0; n < other.size(); ++n) {
    net[other[n]] -= values ? values[n] : 1.0;
    found.index.push_back(other[n]);
  }
  found.value.clear();
  std::size_t kept = 0;
  for (const std::uint32_t j : found.index) {
    if (net[j] == 0.0) continue;
    found.index[kept++] = j;
    found.value.push_back(net[j]);
    net[j] = 0.0;
  }
  found.index.resize(kept);
}

LossResult Problem::beam_loss(std::size_t i, const Layout& layout, Weights w, double scale,
                              double margin, const BeamSettings& beam, PartVector& gradient,
                              Workspace& ws) const {
  if (partial(i)) {
    throw std::invalid_argument("example " + std::to_string(i) +
                                ": a beam has to know every label of the gold output");
  }
  if (margin != 0.0 && cost_.zero_one) {
    throw std::invalid_argument("the zero-one cost does not come in steps: no beam search with it");
  }
  double* theta = ws.real(ProblemScratch::kTheta, layout.parts);
  scorer_->score(i, layout, w, scale, theta);
  if (margin != 0.0) add_cost(i, layout, margin, theta);
  Violation found = oracle_->violation(i, layout, theta, gold_parts(i), beam, ws);
  LossResult result;
  result.loss = std::max(found.amount, 0.0);
  result.valid = found.amount >= 0.0;
  gradient.clear(false);
  gradient.index = std::move(found.found);
  gradient.value.assign(gradient.index.size(), 1.0);
  subtract(gradient, found.gold, nullptr, layout.parts, ws);
  result.changed = !gradient.index.empty();
  return result;
}

double Problem::gold_dot(std::size_t i, const double* v) const {
  double sum = 0.0;
  for (std::int64_t n = gold_.ptr[i]; n < gold_.ptr[i + 1]; ++n) {
    const double count = gold_value(n);
    if (count != 0.0) sum += count * v[gold_.part[n]];  // not 0 times -inf
  }
  return sum;
}

void Problem::add_gold(std::size_t i, double a, double* v) const {
  for (std::int64_t n = gold_.ptr[i]; n < gold_.ptr[i + 1]; ++n) {
    v[gold_.part[n]] += a * gold_value(n);
  }
}

double Problem::gold_cost(std::size_t i, const Layout& layout, double margin) const {
  if (margin == 0.0 || cost_.zero_one) return 0.0;
  std::vector<double> c(layout.parts, 0.0);
  add_cost(i, layout, margin, c.data());
  double sum = cost_.constant ? margin * cost_.constant[i] : 0.0;
  for (const std::uint32_t j : gold_parts(i)) sum += c[j];
  return sum;
}

double Problem::total(const double* w, double margin, double eps, double* gradient,
                      std::size_t threads, Interrupt& interrupt, bool* complete,
                      double* cost) const {
  // Enough partitions that their gradients take some 32 MB together, at least 8; a number that
  // depends on the problem alone.
  const std::size_t fitting = (std::size_t{1} << 22) / std::max<std::size_t>(weights(), 1);
  const std::size_t partitions = std::max<std::size_t>(
      1, std::min({std::size_t{32}, examples(), std::max<std::size_t>(fitting, 8)}));
  if (!oracle_->threads_allowed()) threads = 1;
  std::vector<double> value(partitions, 0.0), costs(partitions, 0.0);
  std::vector<std::vector<double>> part;
  if (gradient) {
    const std::lock_guard<std::mutex> lock(buffers_->mutex);
    part.swap(buffers_->partitions);  // a concurrent call makes its own
  }
  part.resize(gradient ? partitions : 0);
  std::vector<Workspace> workspace(std::max<std::size_t>(threads, 1));
  parallel_for(partitions, threads, [&](std::size_t p, std::size_t thread) {
    Workspace& ws = workspace[thread];
    PartVector r;
    if (gradient && part[p].size() != weights()) part[p].assign(weights(), 0.0);
    const std::size_t begin = p * examples() / partitions, end = (p + 1) * examples() / partitions;
    for (std::size_t i = begin; i < end && !interrupt.requested(); ++i) {
      const double weight = sample_weight(i);
      if (weight == 0.0) continue;
      const Layout layout = scorer_->layout(i);
      const LossResult found = loss(i, layout, w, 1.0, margin, eps, r, ws);
      value[p] += weight * found.loss;
      costs[p] += weight * found.cost;
      if (gradient) scorer_->scatter_sum(i, layout, r, weight, part[p].data());
    }
  });
  double sum = 0.0, sum_of_costs = 0.0;
  for (std::size_t p = 0; p < partitions; ++p) {
    sum += value[p];
    sum_of_costs += costs[p];
  }
  if (gradient) {
    // Tile by tile: the sum stays in the nearest cache, and the partitions are zeroed for the next
    // call while they are in the cache.
    constexpr std::size_t kTile = 1024, kTask = 16 * kTile;
    parallel_for((weights() + kTask - 1) / kTask, threads, [&](std::size_t task, std::size_t) {
      for (std::size_t begin = task * kTask; begin < std::min(weights(), (task + 1) * kTask);
           begin += kTile) {
        const std::size_t size = std::min(kTile, weights() - begin);
        double* out = gradient + begin;
        std::fill(out, out + size, 0.0);
        for (auto& from : part) {
          double* x = from.data() + begin;
          for (std::size_t j = 0; j < size; ++j) out[j] += x[j];
          std::fill(x, x + size, 0.0);
        }
      }
    });
    scorer_->finish_sum(gradient);
    const std::lock_guard<std::mutex> lock(buffers_->mutex);
    buffers_->partitions.swap(part);
  }
  *complete = !interrupt.requested();
  if (cost) *cost = sum_of_costs;
  return sum;
}

double Problem::shortfall(const double* w, double margin, std::size_t threads,
                          Interrupt& interrupt) const {
  if (margin != 0.0 && cost_.zero_one) return 0.0;  // second bests are exact, or refused
  if (!oracle_->threads_allowed()) threads = 1;
  std::vector<double> missed(examples(), 0.0);
  for_examples(examples(), threads, 1, interrupt, [&](std::size_t i, Workspace& ws) {
    if (sample_weight(i) == 0.0) return;
    const Layout layout = scorer_->layout(i);
    double* theta = ws.real(ProblemScratch::kTheta, layout.parts);
    scorer_->score(i, layout, w, 1.0, theta);
    if (margin != 0.0) add_cost(i, layout, margin, theta);
    missed[i] = oracle_->missed(i, layout, theta, ws);
  });
  double sum = 0.0;
  for (std::size_t i = 0; i < examples(); ++i) {
    if (missed[i] > 0.0) sum += sample_weight(i) * missed[i];
  }
  return sum;
}

}  // namespace structlearn
