// Dependency trees over the arcs that a pruner has left, as a structure.
//
// Blocks: 0 arc (a site an arc, an outcome a label), and, of the second order, 1 sibling and 2
// grandparent (a site each, one outcome), all as Parts numbers them: the shape of a layout is the
// Parts of its sentence. Trees have one root. An output is a row of heads, that of word 1 first,
// then the labels.
//
// The best tree: decoder.hpp. Sums, draws and k best: of arcs alone by the matrix-tree theorem and
// by Chu-Liu/Edmonds, or for projective trees by Eisner's chart; of pairs of arcs over projective
// trees alone (projective_search.hpp).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "structures/structure.hpp"
#include "tasks/dependencies/parts.hpp"

namespace structlearn::parsing {

class DependencyTrees final : public Structure {
 public:
  static constexpr std::size_t kArc = 0, kSibling = 1, kGrand = 2;

  // `iterations` of dual decomposition.
  DependencyTrees(bool projective, int iterations);
  ~DependencyTrees() override;

  // With `width` labels of each arc. The parts are borrowed.
  static Layout layout(const Parts&, std::size_t width);
  // Whether a row of heads and labels is one of the trees over these parts.
  bool contains(const Layout&, std::span<const std::int32_t> y) const;

  void check(const Layout&) const override;
  double argmax(const Layout&, const Scores&, Output& y, Workspace&) const override;
  Solved solve(const Layout&, const Scores&, Output& y, Workspace&) const override;
  double infer(const Layout&, const Scores&, double eps, const Marginals&,
               Workspace&) const override;
  std::optional<double> exact_entropy(const Layout&, const Scores&, double eps,
                                      Workspace&) const override;
  void encode(const Layout&, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override;
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;

 private:
  struct Scratch;  // what a thread needs
  // Scratch that is nobody's until it is given back.
  class Borrowed;
  // Throws Incapable: pairs of arcs have sums over projective trees alone.
  void check_sums(const Parts&) const;

  bool projective_;
  int iterations_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace structlearn::parsing
