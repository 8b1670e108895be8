#include "structlearn/restricted_qp.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace structlearn {
namespace {

// One pass of exact block steps; returns the sum of the block gaps as met. Without `move` nothing
// changes, and the sum is the restricted problem's gap.
double ascend(WorkingSets& sets, double* w, bool move, double enough, Interrupt& interrupt) {
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
    for (const Member& m : members) {
      const WorkingSet& set = sets.set(m.example);
      const Layout layout = sets.problem().scorer().layout(m.example);
      for (std::size_t k = m.begin; k < m.end; ++k) {
        const bool gold = m.gold && k + 1 == m.end;
        double x = with_cost ? (gold ? set.gold_cost : set.atoms[atom[k]].cost) : 0.0;
        if (!gold) {
          x += sets.problem().scorer().dot(m.example, layout, set.atoms[atom[k]].difference, u);
        }
        out[k] = sets.scale(m.example) * x;
      }
    }
    project(out);
  }

  // u = sum C_i v_a A^T r_a.
  void scatter(const WorkingSets& sets, const std::vector<double>& v,
               std::vector<double>& u) const {
    std::fill(u.begin(), u.end(), 0.0);
    for (const Member& m : members) {
      const WorkingSet& set = sets.set(m.example);
      const Layout layout = sets.problem().scorer().layout(m.example);
      for (std::size_t k = m.begin; k < m.end - (m.gold ? 1 : 0); ++k) {
        sets.problem().scorer().scatter(m.example, layout, set.atoms[atom[k]].difference,
                                        sets.scale(m.example) * v[k], u.data());
      }
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

// Conjugate gradients on the face, then as far along as no weight turns negative. True where the
// whole way was free.
bool face_step(WorkingSets& sets, double* w, std::size_t most, Interrupt& interrupt) {
  const Face face(sets);
  const std::size_t n = face.atom.size(), d = sets.problem().weights();
  if (n == 0) return true;
  std::vector<double> residual(n), direction, x(n, 0.0), product(n), u(d), way(d, 0.0);
  face.products(sets, w, true, residual);
  direction = residual;
  double square = inner(residual, residual);
  const double enough = 1e-28 * square;
  for (std::size_t k = 0; k < most && square > enough && !interrupt.requested(); ++k) {
    face.scatter(sets, direction, u);
    const double curvature = inner(u, u);
    if (!(curvature > 1e-300)) break;
    const double step = square / curvature;
    for (std::size_t j = 0; j < n; ++j) x[j] += step * direction[j];
    for (std::size_t j = 0; j < d; ++j) way[j] += step * u[j];
    bool inside = true;
    for (const Face::Member& m : face.members) {
      for (std::size_t j = m.begin; j < m.end; ++j) {
        inside = inside && face.weight(sets, m, j) + x[j] > 0.0;
      }
    }
    if (!inside) break;
    face.products(sets, u.data(), false, product);
    for (std::size_t j = 0; j < n; ++j) residual[j] -= step * product[j];
    const double next = inner(residual, residual);
    for (std::size_t j = 0; j < n; ++j) {
      direction[j] = residual[j] + next / square * direction[j];
    }
    square = next;
  }
  double length = 1.0;
  for (const Face::Member& m : face.members) {
    for (std::size_t j = m.begin; j < m.end; ++j) {
      const double weight = face.weight(sets, m, j);
      if (x[j] < 0.0 && weight < -x[j] * length) length = weight / -x[j];
    }
  }
  for (const Face::Member& m : face.members) {
    for (std::size_t j = m.begin; j < m.end; ++j) {
      double& weight = face.weight(sets, m, j);
      const bool blocked = length < 1.0 && x[j] < 0.0 && weight <= -x[j] * length;
      weight = blocked ? 0.0 : std::max(0.0, weight + length * x[j]);
    }
  }
  for (std::size_t j = 0; j < d; ++j) w[j] -= length * way[j];
  return length >= 1.0;
}

}  // namespace

RestrictedReport solve_restricted(WorkingSets& sets, double* w, double tolerance,
                                  std::size_t most_passes, Interrupt& interrupt) {
  RestrictedReport report;
  const double enough =
      0.1 * tolerance / static_cast<double>(std::max<std::size_t>(1, sets.size()));
  double before = HUGE_VAL;
  while (report.passes < most_passes && !interrupt.requested()) {
    ++report.passes;
    const double met = ascend(sets, w, true, enough, interrupt);
    if (met <= tolerance) {
      sets.weights(w);  // rounding of the steps is not carried on
      report.gap = ascend(sets, w, false, 0.0, interrupt);
      if (report.gap <= tolerance) break;
    } else if (met > 0.3 * before) {
      // Coordinate ascent slows down: the rest is a linear system on the face.
      for (int k = 0; k < 3 && !face_step(sets, w, 40, interrupt); ++k) continue;
    }
    before = met;
  }
  report.complete = !interrupt.requested();
  return report;
}

}  // namespace structlearn
