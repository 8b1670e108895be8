#include "learners/working_sets.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "numeric/grain.hpp"

namespace structlearn {

double WorkingSet::mean_cost() const {
  double sum = rest * gold_cost;
  for (std::size_t a = 0; a < atoms.size(); ++a) sum += alpha[a] * atoms[a].cost;
  return sum;
}

WorkingSets::WorkingSets(const Problem& problem, double C, double margin, std::size_t most)
    : problem_(&problem), C_(C), margin_(margin), most_(most), sets_(problem.examples()) {
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (problem.partial(i)) {
      throw std::invalid_argument("example " + std::to_string(i) +
                                  ": a label is unknown, and the loss of such examples is not "
                                  "convex: this solver needs every label. Use solver='sgd'");
    }
    sets_[i].gold_cost = problem.gold_cost(i, problem.scorer().layout(i), margin);
  }
}

void WorkingSets::scores(std::size_t i, const double* theta, std::vector<double>& out) const {
  const auto& atoms = sets_[i].atoms;
  out.resize(atoms.size());
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    const PartVector& r = atoms[a].difference;
    double sum = atoms[a].cost;
    for (std::size_t n = 0; n < r.index.size(); ++n) sum += r.value[n] * theta[r.index[n]];
    out[a] = sum;
  }
}

void WorkingSets::products(std::size_t i, const Layout& layout, const double* w,
                           std::vector<double>& out) const {
  const auto& atoms = sets_[i].atoms;
  out.resize(atoms.size());
  std::size_t parts = 0, sites = 0;
  for (const Atom& atom : atoms) parts += atom.difference.index.size();
  for (const Block& block : layout.block) sites += block.present ? block.sites : 0;
  // Part by part, or all parts of the example at once: those are added a vector at a time.
  const bool at_once = parts > 3 * sites;
  std::vector<double> theta;
  if (at_once) {
    theta.resize(layout.parts);
    problem_->scorer().score(i, layout, w, 1.0, theta.data());
  }
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    const PartVector& r = atoms[a].difference;
    if (at_once) {
      double sum = 0.0;
      for (std::size_t n = 0; n < r.index.size(); ++n) sum += r.value[n] * theta[r.index[n]];
      out[a] = sum;
    } else {
      out[a] = problem_->scorer().dot(i, layout, r, w);
    }
  }
}

void WorkingSets::scores_by_weights(std::size_t i, const Layout& layout, const double* w,
                                    std::vector<double>& out) const {
  products(i, layout, w, out);
  for (std::size_t a = 0; a < out.size(); ++a) out[a] += sets_[i].atoms[a].cost;
}

void WorkingSets::restore(std::size_t i, Atom atom, double alpha,
                          std::span<const double> products) {
  sets_[i].atoms.push_back(std::move(atom));
  sets_[i].alpha.push_back(alpha);
  if (!products.empty()) sets_[i].gram.grow(products);
}

void WorkingSets::product_row(std::size_t i, const Layout& layout, const PartVector& r,
                              double* scratch, std::vector<double>& row) const {
  const Scorer& scorer = problem_->scorer();
  scorer.scatter(i, layout, r, 1.0, scratch);
  products(i, layout, scratch, row);
  row.push_back(scorer.dot(i, layout, r, scratch));
  scorer.clear(i, layout, r, scratch);
}

void WorkingSets::keep(WorkingSet& set, std::span<const unsigned char> kept) {
  if (set.gram.size() == set.atoms.size()) set.gram.keep(kept);
  std::size_t out = 0;
  for (std::size_t a = 0; a < set.atoms.size(); ++a) {
    if (!kept[a]) continue;
    if (out != a) {
      set.atoms[out] = std::move(set.atoms[a]);
      set.alpha[out] = set.alpha[a];
    }
    ++out;
  }
  set.atoms.resize(out);
  set.alpha.resize(out);
}

// The two atoms of least weight become one, which stands where both stood: still a convex
// combination of outputs, so still a dual point.
void WorkingSets::merge_lightest(std::size_t i, const Layout& layout, double* scratch) {
  WorkingSet& set = sets_[i];
  std::size_t first = 0, second = 1;
  if (set.alpha[second] < set.alpha[first]) std::swap(first, second);
  for (std::size_t a = 2; a < set.atoms.size(); ++a) {
    if (set.alpha[a] < set.alpha[first]) {
      second = first;
      first = a;
    } else if (set.alpha[a] < set.alpha[second]) {
      second = a;
    }
  }
  const double x = set.alpha[first], y = set.alpha[second], sum = x + y;
  std::vector<double> net(layout.parts, 0.0);
  Atom merged;
  for (const auto& [atom, weight] : {std::pair{first, x / sum}, std::pair{second, y / sum}}) {
    const PartVector& r = set.atoms[atom].difference;
    for (std::size_t n = 0; n < r.index.size(); ++n) net[r.index[n]] += weight * r.value[n];
    merged.cost += weight * set.atoms[atom].cost;
  }
  for (std::size_t j = 0; j < net.size(); ++j) {
    if (net[j] != 0.0) merged.difference.add(j, net[j]);
  }
  std::vector<unsigned char> kept(set.atoms.size(), 1);
  kept[first] = kept[second] = 0;
  keep(set, kept);
  if (scratch) {
    std::vector<double> row;
    product_row(i, layout, merged.difference, scratch, row);
    set.gram.grow(row);
  }
  set.atoms.push_back(std::move(merged));
  set.alpha.push_back(sum);
}

std::size_t WorkingSets::add(std::size_t i, const Layout& layout, PartVector& difference,
                             double cost, double* scratch) {
  WorkingSet& set = sets_[i];
  for (std::size_t a = 0; a < set.atoms.size(); ++a) {
    const PartVector& r = set.atoms[a].difference;
    if (r.index == difference.index && r.value == difference.value) return a;
  }
  if (most_ && set.atoms.size() >= most_) {
    // The one that has been idle longest goes; where all are in use, two become one.
    std::size_t oldest = set.atoms.size();
    for (std::size_t a = 0; a < set.atoms.size(); ++a) {
      if (set.alpha[a] > 0.0) continue;
      if (oldest == set.atoms.size() || set.atoms[a].idle > set.atoms[oldest].idle) oldest = a;
    }
    if (oldest < set.atoms.size()) {
      std::vector<unsigned char> kept(set.atoms.size(), 1);
      kept[oldest] = 0;
      keep(set, kept);
    } else {
      merge_lightest(i, layout, scratch);
    }
  }
  if (scratch) {
    std::vector<double> row;
    product_row(i, layout, difference, scratch, row);
    set.gram.grow(row);
  }
  Atom atom;
  atom.difference = difference;
  atom.cost = cost;
  set.atoms.push_back(std::move(atom));
  set.alpha.push_back(0.0);
  return set.atoms.size() - 1;
}

std::size_t WorkingSets::improve(std::size_t i, const Layout& layout, std::vector<double>& score,
                                 double tolerance, std::size_t most, double* w) {
  WorkingSet& set = sets_[i];
  const std::size_t n = set.atoms.size();
  if (n == 0) return 0;
  const std::vector<double> before = set.alpha;
  SimplexPoint point{set.alpha, &set.rest, score, set.gold_cost};
  const std::size_t steps = pairwise_steps(set.gram, scale(i), point, tolerance, most);
  for (std::size_t a = 0; a < n; ++a) {
    if (set.alpha[a] > 0.0) {
      set.atoms[a].idle = 0;
    } else {
      ++set.atoms[a].idle;
    }
  }
  if (steps == 0) return 0;
  std::vector<double> change(n);
  for (std::size_t a = 0; a < n; ++a) change[a] = set.alpha[a] - before[a];
  scatter(i, layout, change, -scale(i), w);
  return steps;
}

void WorkingSets::scatter(std::size_t i, const Layout& layout, std::span<const double> x, double a,
                          double* target) const {
  thread_local std::vector<double> net;  // zero between calls
  if (net.size() < layout.parts) net.resize(layout.parts, 0.0);
  PartVector sum;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] == 0.0) continue;
    const PartVector& r = sets_[i].atoms[k].difference;
    for (std::size_t j = 0; j < r.index.size(); ++j) {
      net[r.index[j]] += x[k] * r.value[j];
      sum.index.push_back(r.index[j]);
    }
  }
  std::size_t kept = 0;
  for (const std::uint32_t j : sum.index) {
    if (net[j] == 0.0) continue;
    sum.index[kept++] = j;
    sum.value.push_back(net[j]);
    net[j] = 0.0;
  }
  sum.index.resize(kept);
  problem_->scorer().scatter(i, layout, sum, a, target);
}

void WorkingSets::forget(std::size_t i, std::uint32_t patience) {
  WorkingSet& set = sets_[i];
  bool any = false;
  for (const Atom& atom : set.atoms) any = any || atom.idle > patience;
  if (!any) return;
  std::vector<unsigned char> kept(set.atoms.size());
  for (std::size_t a = 0; a < kept.size(); ++a) kept[a] = set.atoms[a].idle <= patience;
  keep(set, kept);
}

double WorkingSets::dual(const double* w) const {
  double square = 0.0, cost = 0.0;
  for (std::size_t j = 0; j < problem_->weights(); ++j) square += w[j] * w[j];
  for (std::size_t i = 0; i < sets_.size(); ++i) cost += scale(i) * sets_[i].mean_cost();
  return cost - 0.5 * square;
}

double WorkingSets::bound(const ConePoint& cone) const {
  std::vector<double> w(problem_->weights());
  weights(w.data());
  cone.shift(w.data());
  return dual(w.data());
}

std::pair<double, double> WorkingSets::best_multiple(const double* w) const {
  double square = 0.0;
  for (std::size_t j = 0; j < problem_->weights(); ++j) square += w[j] * w[j];
  std::vector<double> product, all, cost;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (scale(i) == 0.0) continue;
    products(i, problem_->scorer().layout(i), w, product);
    all.insert(all.end(), product.begin(), product.end());
    for (const Atom& atom : sets_[i].atoms) cost.push_back(atom.cost);
    all.push_back(0.0);
    cost.push_back(sets_[i].gold_cost);
  }
  // The objective and its slope at a multiple.
  const auto at = [&](double t) {
    double value = 0.5 * t * t * square, slope = t * square;
    std::size_t k = 0;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (scale(i) == 0.0) continue;
      std::size_t best = k;
      for (const std::size_t end = k + sets_[i].atoms.size() + 1; k < end; ++k) {
        if (cost[k] + t * all[k] > cost[best] + t * all[best]) best = k;
      }
      value += scale(i) * (cost[best] + t * all[best]);
      slope += scale(i) * all[best];
    }
    return std::pair{value, slope};
  };
  double low = 0.0, high = 1.0;
  for (int k = 0; k < 60 && at(high).second < 0.0; ++k) {
    low = high;
    high *= 2.0;
  }
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (at(middle).second < 0.0 ? low : high) = middle;
  }
  return {high, at(high).first};
}

void WorkingSets::weights(double* w) const {
  std::fill(w, w + problem_->weights(), 0.0);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const Layout layout = problem_->scorer().layout(i);
    if (scale(i) != 0.0) scatter(i, layout, sets_[i].alpha, -scale(i), w);
  }
}

double WorkingSets::release(double* gradient) {
  constexpr double kLittle = 1e-6;  // of the heaviest: an interior point has no zeros
  weights(gradient);
  for (std::size_t j = 0; j < problem_->weights(); ++j) gradient[j] = -gradient[j];
  double cost = 0.0;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    WorkingSet& set = sets_[i];
    cost += scale(i) * set.mean_cost();
    double most = 0.0;
    for (const double a : set.alpha) most = std::max(most, a);
    for (std::size_t a = 0; a < set.atoms.size(); ++a) {
      set.atoms[a].idle = set.alpha[a] > kLittle * most ? 0 : set.atoms[a].idle + 1;
      set.alpha[a] = 0.0;
    }
    set.rest = 1.0;
  }
  return cost;
}

Survey WorkingSets::survey(const double* w, double violation, bool products, std::size_t threads,
                           Interrupt& interrupt) {
  if (!problem_->oracle().threads_allowed()) threads = 1;
  const std::size_t n = sets_.size(), grain = grain_of(n, threads, 16);
  const std::size_t tasks = (n + grain - 1) / grain;
  threads = std::max<std::size_t>(threads, 1);
  Survey found;
  found.loss.assign(n, 0.0);
  found.slack.assign(n, 0.0);
  found.gap.assign(n, 0.0);
  found.added.assign(n, -1);
  struct Local {
    Workspace ws;
    PartVector r;
    std::vector<double> score, scratch;
  };
  std::vector<Local> locals(threads);
  parallel_for(tasks, threads, [&](std::size_t task, std::size_t thread) {
    Local& local = locals[thread];
    if (products) local.scratch.resize(problem_->weights(), 0.0);
    for (std::size_t i = task * grain; i < std::min(n, (task + 1) * grain); ++i) {
      if (interrupt.requested()) return;
      if (scale(i) == 0.0) continue;
      WorkingSet& set = sets_[i];
      const Layout layout = problem_->scorer().layout(i);
      const LossResult at = problem_->loss(i, layout, w, 1.0, margin_, 0.0, local.r, local.ws);
      scores(i, at.scores, local.score);
      const SimplexPoint point{set.alpha, &set.rest, local.score, set.gold_cost};
      found.loss[i] = at.loss;
      found.slack[i] = point.best();
      found.gap[i] = scale(i) * (at.loss - point.mean());
      if (at.other && at.loss - found.slack[i] > violation) {
        const std::size_t before = set.atoms.size();
        const std::size_t place =
            add(i, layout, local.r, at.cost, products ? local.scratch.data() : nullptr);
        if (place == before || most_) found.added[i] = static_cast<std::int64_t>(place);
      }
    }
  });
  found.complete = !interrupt.requested();
  return found;
}

double WorkingSets::cached(const double* w, double* gradient) const {
  double total = 0.0;
  std::vector<double> score;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (scale(i) == 0.0) continue;
    const Layout layout = problem_->scorer().layout(i);
    scores_by_weights(i, layout, w, score);
    const auto best = std::max_element(score.begin(), score.end());
    if (best == score.end() || *best <= sets_[i].gold_cost) {
      total += scale(i) * sets_[i].gold_cost;
      continue;
    }
    const auto a = static_cast<std::size_t>(best - score.begin());
    total += scale(i) * sets_[i].atoms[a].cost;
    problem_->scorer().scatter(i, layout, sets_[i].atoms[a].difference, scale(i), gradient);
  }
  return total;
}

}  // namespace structlearn
