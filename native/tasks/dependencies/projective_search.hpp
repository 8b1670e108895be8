// Projective trees by arcs, siblings and grandparents together: the best one, the k best, sums over
// all of them, and draws. All from one chart (projective_chart.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "structures/structure.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/projective_chart.hpp"

namespace structlearn::parsing {

// The scores of parts: `width` labels of each arc, siblings, grandparents. Borrowed.
struct LabelledParts {
  const Parts& parts;
  std::size_t width;
  const double *label, *sibling, *grand;
};

// The best projective tree.
class ProjectiveSearch {
 public:
  // The score of the best tree, whose heads[1..n] it sets; where the candidates have no projective
  // tree with one root, -inf, and the heads stay.
  double best(const Parts& parts, const PartScores& scores, std::vector<std::int32_t>& heads);
  // The k best trees with their labels: heads of words 1..n, then labels.
  std::vector<std::pair<double, Output>> kbest(const LabelledParts&, std::size_t k);

 private:
  ProjectiveChart<Maximum> chart_;
};

// All projective trees, each with the probability P(tree) ~ exp(score / eps).
class ProjectiveSums {
 public:
  // eps log sum exp(score / eps); -inf where there is no tree.
  double fill(const LabelledParts&, double eps);
  // The probability of each part, after fill; returns the entropy in nats.
  double marginals(double* label, double* sibling, double* grand);
  // A tree, after fill: heads of words 1..n, then labels.
  Output draw(Random& random) const;

 private:
  const Parts* parts_ = nullptr;
  std::size_t width_ = 0;
  std::vector<double> scaled_;  // arcs, siblings, grandparents: scores / eps
  std::vector<double> share_;   // of each label of an arc
  std::vector<double> mass_;
  ProjectiveChart<LogSum> chart_;
};

}  // namespace structlearn::parsing
