// The best projective tree by arcs, siblings and grandparents together.
//
// A chart of half-constituents that know the head of their head (Koo & Collins 2010, model 1). An
// arc g -> h of the candidates stands for "h below g", so that the chart has a row an arc and not
// one a pair of words: with K heads a word and D modifiers a head O(n K (D^2 + n D)) time after
// pruning, O(n^4) without, and O(n^2 K) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tasks/dependencies/parts.hpp"

namespace structlearn::parsing {

class ProjectiveSearch {
 public:
  // The score of the best tree, whose heads[1..n] it sets; where the candidates have no projective
  // tree with one root, -inf, and the heads stay.
  double best(const Parts& parts, const PartScores& scores, std::vector<std::int32_t>& heads);

 private:
  // Half of a constituent, from its head to `end`; or, with a rank, the arc to that modifier and
  // what lies between.
  struct Item {
    std::uint32_t arc;
    bool after;
    bool incomplete;
    std::size_t at;  // the end, or the rank on its side
  };

  void begin();
  void fill_right(int h);
  void fill_left(int end);
  // The scores between a modifier and those before it, and of the arc to it.
  void link(int h, int after, std::size_t j);
  void attach(int h, int after, std::size_t j);
  double between(std::uint32_t low, std::uint32_t high, std::size_t* split = nullptr) const;
  double inner(int h, int after, std::uint32_t arc) const;
  // The best way to have had modifiers before the j-th: 0 none, i + 1 the i-th.
  double before(int h, int after, std::uint32_t up, std::size_t j, std::size_t* from) const;
  double ended(int h, int after, std::uint32_t up, std::size_t j) const;
  bool may_have(std::uint32_t up_arc, std::size_t m) const;
  void trace(std::uint32_t root_arc, std::vector<std::int32_t>& heads) const;

  std::size_t square(int h, int after) const;
  std::size_t row(int h, int after, std::uint32_t up) const;
  const double* right(std::uint32_t arc) const { return right_.data() + arc * width_; }
  const double* left(std::uint32_t arc) const { return left_.data() + arc * width_; }

  const Parts* parts_ = nullptr;
  PartScores scores_;
  std::size_t width_ = 0;
  std::vector<double> right_, left_;  // of each arc, by the end
  std::vector<double> left_by_end_;   // the same, of each end, by arc
  std::vector<double> linked_;        // as the siblings' squares
  std::vector<double> attached_;      // as the grandparents' rows
};

}  // namespace structlearn::parsing
