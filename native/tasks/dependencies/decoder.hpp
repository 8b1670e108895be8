// The best tree of a sentence's parts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "structures/structure.hpp"
#include "tasks/dependencies/local_search.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/projective_search.hpp"

namespace structlearn::parsing {

// The best tree with one root by arcs alone, those that are no candidates being forbidden.
class TreeSearch {
 public:
  explicit TreeSearch(bool projective) : projective_(projective) {}
  void begin(int n);
  double& at(int h, int m) {
    return score_[static_cast<std::size_t>(h) * width_ + static_cast<std::size_t>(m)];
  }
  // heads[1..n]; -inf if there is no tree, and they mean nothing.
  double best(std::vector<std::int32_t>& heads);

 private:
  bool projective_;
  std::size_t width_ = 0;
  std::vector<double> score_;
  Workspace workspace_;
};

// First order: TreeSearch. Second order: ProjectiveSearch, always exact, where no arcs may cross;
// else dual decomposition (Koo, Rush, Collins, Jaakkola & Sontag 2010) of trees by arcs and of head
// automata, each of which chooses a head for a word together with its modifiers; steps by Polyak's
// rule. `exact` where value and bound meet: the best tree of those that the candidates leave.
class Decoder {
 public:
  explicit Decoder(bool projective, int max_iterations)
      : tree_(projective), projective_(projective), max_iterations_(max_iterations) {}
  Solved decode(const Parts& parts, const PartScores& scores, std::vector<std::int32_t>& heads);

 private:
  double automaton(const Parts&, const PartScores&, int h);

  TreeSearch tree_;
  LocalSearch search_;
  ProjectiveSearch chart_;
  bool projective_;
  int max_iterations_;
  std::vector<double> dual_up_, dual_down_;
  std::vector<std::uint8_t> z_up_, z_down_, y_, dirty_;
  std::vector<double> value_;  // of each automaton
  std::vector<double> f_;
  std::vector<std::uint32_t> from_, trace_;
  std::vector<std::int32_t> candidate_, tried_;
  std::vector<std::uint64_t> seen_;  // hashes of the trees that a search began at
};

}  // namespace structlearn::parsing
