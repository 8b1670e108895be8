#include "learners/restricted_qp.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "learners/restricted_program.hpp"

namespace structlearn {
namespace {

// Passes before anything else is thought of, and how many Newton steps are likely to be needed.
constexpr std::size_t kPasses = 16;
constexpr double kNewtonSteps = 10.0;

// One pass of exact block steps; returns the sum of the block gaps as met. Without `move` nothing
// changes, and the sum is the restricted problem's gap.
double ascend(WorkingSets& sets, double* w, bool move, double enough, const ConePoint& cone,
              Interrupt& interrupt) {
  std::vector<double> score;
  double total = 0.0;
  for (std::size_t i = 0; i < sets.size() && !interrupt.requested(); ++i) {
    WorkingSet& set = sets.set(i);
    const double C = sets.scale(i);
    if (C == 0.0 || set.atoms.empty()) continue;
    const Layout layout = sets.problem().scorer().layout(i);
    sets.scores_by_weights(i, layout, w, score);
    const SimplexPoint point{set.alpha, &set.rest, score, set.gold_cost};
    const double gap = C * (point.best() - point.mean());
    total += gap;
    if (move && gap > enough) {
      sets.improve(i, layout, score, 1e-3 * point.spread(), 10 * set.atoms.size() + 10, w);
      cone.settle(w);
    }
  }
  return total;
}

// The weights that are not at a bound: atoms in use of examples with at least two vertices in use.
struct Face {
  struct Member {
    std::size_t example, begin, end;
    bool gold;  // the last of [begin, end) is the gold output
  };
  std::vector<Member> members;
  std::vector<std::size_t> atom;

  explicit Face(const WorkingSets& sets) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const WorkingSet& set = sets.set(i);
      if (sets.scale(i) == 0.0) continue;
      const std::size_t begin = atom.size();
      for (std::size_t a = 0; a < set.atoms.size(); ++a) {
        if (set.alpha[a] > 0.0) atom.push_back(a);
      }
      const bool gold = set.rest > 0.0;
      if (gold) atom.push_back(set.atoms.size());
      if (atom.size() - begin < 2) {
        atom.resize(begin);
      } else {
        members.push_back({i, begin, atom.size(), gold});
      }
    }
  }

  // Directions keep each example's sum of weights.
  void project(std::vector<double>& v) const {
    for (const Member& m : members) {
      double mean = 0.0;
      for (std::size_t k = m.begin; k < m.end; ++k) mean += v[k];
      mean /= static_cast<double>(m.end - m.begin);
      for (std::size_t k = m.begin; k < m.end; ++k) v[k] -= mean;
    }
  }

  // out = C_i (cost * with_cost + <A^T r, u>), projected.
  void products(const WorkingSets& sets, const double* u, bool with_cost,
                std::vector<double>& out) const {
    std::vector<double> all;
    for (const Member& m : members) {
      const WorkingSet& set = sets.set(m.example);
      sets.products(m.example, sets.problem().scorer().layout(m.example), u, all);
      for (std::size_t k = m.begin; k < m.end; ++k) {
        const bool gold = m.gold && k + 1 == m.end;
        double x = gold ? 0.0 : all[atom[k]];
        if (with_cost) x += gold ? set.gold_cost : set.atoms[atom[k]].cost;
        out[k] = sets.scale(m.example) * x;
      }
    }
    project(out);
  }

  // u = sum C_i v_a A^T r_a.
  void scatter(const WorkingSets& sets, const std::vector<double>& v,
               std::vector<double>& u) const {
    std::fill(u.begin(), u.end(), 0.0);
    std::vector<double> x;
    for (const Member& m : members) {
      x.assign(sets.set(m.example).atoms.size(), 0.0);
      for (std::size_t k = m.begin; k < m.end - (m.gold ? 1 : 0); ++k) x[atom[k]] = v[k];
      sets.scatter(m.example, sets.problem().scorer().layout(m.example), x, sets.scale(m.example),
                   u.data());
    }
  }

  double& weight(WorkingSets& sets, const Member& m, std::size_t k) const {
    WorkingSet& set = sets.set(m.example);
    return m.gold && k + 1 == m.end ? set.rest : set.alpha[atom[k]];
  }
};

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// The nearest point with entries >= 0 and the same sum (at least one of them positive).
void project_on_simplex(std::span<double> v, double sum) {
  std::vector<double> sorted(v.begin(), v.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double reached = 0.0, shift = 0.0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    reached += sorted[k];
    const double next = (reached - sum) / static_cast<double>(k + 1);
    if (sorted[k] <= next) break;
    shift = next;
  }
  for (double& x : v) x = std::max(0.0, x - shift);
}

// Conjugate gradients on the face; the point they end at, brought back onto the simplices; an exact
// line search on the way there. Many weights may reach zero in one step (More & Toraldo 1991).
// Returns the number of iterations.
std::size_t face_step(WorkingSets& sets, double* w, std::size_t most, Interrupt& interrupt) {
  const Face face(sets);
  const std::size_t n = face.atom.size(), d = sets.problem().weights();
  if (n == 0) return 0;
  std::size_t iterations = 0;
  std::vector<double> slope(n), residual, direction, x(n, 0.0), product(n), u(d);
  face.products(sets, w, true, slope);
  residual = direction = slope;
  double square = inner(residual, residual);
  const double enough = 1e-24 * square;
  double flat = 0.0;
  bool inside = true;
  for (std::size_t k = 0; k < most && square > enough && !interrupt.requested(); ++k) {
    face.scatter(sets, direction, u);
    ++iterations;
    const double curvature = inner(u, u);
    // Outputs that say the same leave directions without curvature: along them rounding is all
    // there is, and the pairwise steps know what to do.
    if (k == 0) flat = 1e-10 * curvature / square;
    if (!(curvature > flat * inner(direction, direction)) || curvature == 0.0) break;
    const double step = square / curvature;
    for (std::size_t j = 0; j < n; ++j) x[j] += step * direction[j];
    for (const Face::Member& m : face.members) {
      for (std::size_t j = m.begin; j < m.end && inside; ++j) {
        inside = face.weight(sets, m, j) + x[j] >= 0.0;
      }
    }
    if (!inside && k >= 8) break;  // the face will change: no need for its last digits
    face.products(sets, u.data(), false, product);
    for (std::size_t j = 0; j < n; ++j) residual[j] -= step * product[j];
    const double next = inner(residual, residual);
    for (std::size_t j = 0; j < n; ++j) {
      direction[j] = residual[j] + next / square * direction[j];
    }
    square = next;
  }
  // From here on x is the way to go.
  for (const Face::Member& m : face.members) {
    const std::span<double> part(x.data() + m.begin, m.end - m.begin);
    double sum = 0.0;
    for (std::size_t j = m.begin; j < m.end; ++j) {
      const double weight = face.weight(sets, m, j);
      sum += weight;
      x[j] += weight;
    }
    if (!inside) project_on_simplex(part, sum);
    for (std::size_t j = m.begin; j < m.end; ++j) x[j] -= face.weight(sets, m, j);
  }
  const double rise = inner(slope, x);
  if (!(rise > 0.0)) return iterations;
  face.scatter(sets, x, u);
  const double curvature = inner(u, u);
  const double length = rise < curvature ? rise / curvature : 1.0;
  for (const Face::Member& m : face.members) {
    double before = 0.0, after = 0.0;
    for (std::size_t j = m.begin; j < m.end; ++j) {
      double& weight = face.weight(sets, m, j);
      before += weight;
      weight = std::max(0.0, weight + length * x[j]);
      after += weight;
    }
    // The sum is what makes it a dual point: not even rounding may add up.
    for (std::size_t j = m.begin; j < m.end; ++j) face.weight(sets, m, j) *= before / after;
  }
  for (std::size_t j = 0; j < d; ++j) w[j] -= length * u[j];
  return iterations;
}

}  // namespace

RestrictedReport solve_restricted(WorkingSets& sets, double* w, const Precision& wanted,
                                  std::size_t most_passes, const ConePoint& cone,
                                  Interrupt& interrupt) {
  RestrictedReport report;
  const double share = 0.1 / static_cast<double>(std::max<std::size_t>(1, sets.size()));
  const auto measure = [&] {
    sets.weights(w);  // rounding of the steps is not carried on
    cone.shift(w);
    cone.settle(w);
    report.gap = ascend(sets, w, false, 0.0, cone, interrupt);
    return report.solved = report.gap <= wanted.at(sets.dual(w));
  };
  std::optional<RestrictedProgram> program;
  double before = HUGE_VAL, work = 0.0, worth = HUGE_VAL;
  while (report.passes < most_passes && work < worth && !interrupt.requested()) {
    ++report.passes;
    const double enough = wanted.at(sets.dual(w));
    const double met = ascend(sets, w, true, share * enough, cone, interrupt);
    if (met <= enough && measure()) break;
    // What coordinate ascent is slow at is a linear system on the face. An iteration there costs as
    // much as a pass.
    work += 1.0;
    if (report.passes % 16 == 0 || (report.passes % 4 == 0 && met > 0.5 * before)) {
      work += static_cast<double>(face_step(sets, w, report.passes < 64 ? 16 : 64, interrupt));
      cone.settle(w);
    }
    if (report.passes % 4 == 0) before = met;
    // Badly scaled features make both slow. Newton steps do not mind, but each costs as much as
    // many passes: they come once passes have cost about as much as they will.
    if (report.passes == kPasses) {
      program.emplace(sets, cone);
      if (program->small_enough()) worth = kNewtonSteps * program->passes_a_step();
    }
  }
  if (!report.solved && !interrupt.requested() && !measure()) {
    if (!program) program.emplace(sets, cone);
    if (program->small_enough()) {
      const double gap = report.gap;
      const BlockSolution found = program->solve(wanted, interrupt);
      report.newton_steps = found.steps;
      if (found.gap < gap) {
        program->take(found, sets, w, cone);
        report.gap = found.gap;
        report.solved = found.reached;
      }
    }
  }
  report.complete = !interrupt.requested();
  return report;
}

}  // namespace structlearn
