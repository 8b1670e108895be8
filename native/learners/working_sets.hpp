// A dual point of the structural SVM in part space, and what every dual solver does with it.
//
//   max_alpha  -1/2 |w|^2 + sum_i C_i l_i,   w = -sum_i C_i A_i^T r_i,
//   r_i = sum_a alpha_ia (mu(y_a) - mu_i),   l_i = sum_a alpha_ia cost_a,   C_i = C weight_i.
//
// An example has a working set of outputs found for it ("atoms": differences of parts to the gold
// output, with their cost), weights alpha over them, and the products of the atoms with each
// other. The gold output is always there, without being stored. The score of an atom is
// cost + <w, A^T r>: what the best one scores is the loss of the example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "learners/simplex_qp.hpp"
#include "problem/problem.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

struct Atom {
  PartVector difference;  // sparse
  double cost = 0.0;
  std::uint32_t idle = 0;  // visits since it last had weight
};

struct WorkingSet {
  std::vector<Atom> atoms;
  std::vector<double> alpha;  // one an atom
  double rest = 1.0;          // of the gold output
  double gold_cost = 0.0;
  Gram gram;

  double mean_cost() const;  // l_i
};

// What a pass over all examples with the weights held still finds; one value an example.
struct Survey {
  std::vector<double> loss;         // the loss, weight not multiplied in
  std::vector<double> slack;        // the largest score in the working set
  std::vector<double> gap;          // C_i (loss - mean score): they add up to the duality gap
  std::vector<std::int64_t> added;  // the new atom's place in the working set, or -1
  bool complete = true;
};

class WorkingSets {
 public:
  // `most`: atoms an example may have; 0 for no limit.
  WorkingSets(const Problem& problem, double C, double margin, std::size_t most);

  const Problem& problem() const { return *problem_; }
  std::size_t size() const { return sets_.size(); }
  double scale(std::size_t i) const { return C_ * problem_->sample_weight(i); }
  double margin() const { return margin_; }
  WorkingSet& set(std::size_t i) { return sets_[i]; }
  const WorkingSet& set(std::size_t i) const { return sets_[i]; }

  // cost + <r, theta> of each atom, from the scores of all parts, or from the weights alone.
  void scores(std::size_t i, const double* theta, std::vector<double>& out) const;
  void scores_by_weights(std::size_t i, const Layout&, const double* w,
                         std::vector<double>& out) const;

  // <w, A^T r> of each atom.
  void products(std::size_t i, const Layout&, const double* w, std::vector<double>& out) const;

  // target += a * A^T sum_a x_a r_a: added up in part space first, so that features are read once.
  void scatter(std::size_t i, const Layout&, std::span<const double> x, double a,
               double* target) const;

  // Takes back what was saved: the next atom of an example with its products, if any.
  void restore(std::size_t i, Atom atom, double alpha, std::span<const double> products);

  // Puts an output into the working set, unless it is there; returns its place. `scratch` has one
  // zero a weight, and is left so; null: products are not wanted.
  std::size_t add(std::size_t i, const Layout&, PartVector& difference, double cost,
                  double* scratch);

  // The dual's best weights over the working set of one example, the others held still, by at most
  // `most` pairwise steps; w follows. `score` holds the atoms' scores, before and after.
  std::size_t improve(std::size_t i, const Layout&, std::vector<double>& score, double tolerance,
                      std::size_t most, double* w);

  // Forgets atoms that had no weight in the last `patience` visits.
  void forget(std::size_t i, std::uint32_t patience);

  // -1/2 |w|^2 + sum_i C_i l_i.
  double dual(const double* w) const;

  // The same for the weights of the dual point itself, added up anew: a bound whatever rounding has
  // done to the weights that steps were added to.
  double bound(const ConePoint& cone) const;

  // The multiple of w that is best for the outputs known, and its objective by those.
  std::pair<double, double> best_multiple(const double* w) const;

  // w = -sum_i C_i A_i^T r_i from the start, examples in order.
  void weights(double* w) const;

  // Gives all weight back to the gold outputs; returns what the joint constraint of the mean
  // outputs was: its cost, and sum_i C_i A^T r_i. Atoms with little weight have been idle once
  // more.
  double release(double* gradient);

  // A pass with the weights held still; outputs that score more than the working set by over
  // `violation` are added to it. The same for any number of threads.
  Survey survey(const double* w, double violation, bool products, std::size_t threads,
                Interrupt& interrupt);

  // The sums over examples of C_i times the cost of the working set's best atom and, in `gradient`,
  // of C_i A^T r of it: the joint constraint that needs no inference.
  double cached(const double* w, double* gradient) const;

 private:
  void merge_lightest(std::size_t i, const Layout&, double* scratch);
  void product_row(std::size_t i, const Layout&, const PartVector& r, double* scratch,
                   std::vector<double>& row) const;
  void keep(WorkingSet& set, std::span<const unsigned char> kept);

  const Problem* problem_;
  double C_, margin_;
  std::size_t most_;
  std::vector<WorkingSet> sets_;
};

}  // namespace structlearn
