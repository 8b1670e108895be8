// Chains and segmentations whose outputs must be accepted by automata: their product is again a
// chain.
//
// The parts are those of the chain or the segmentation. Best outputs and k-best lists need few of
// the automata: the search starts without any, and those that reject one of its answers join the
// product, until all answers are accepted. An answer that is best in a larger set and accepted is
// the best.
//
// Sums use the whole product if it has at most max_states states. Otherwise they are certified:
// with the automata S in the product,
//
//   Z >= Z_S (1 - sum over c not in S of P_S(c rejects)),
//
// each term a sum over the product of S with the complement of c; the worst ones join S until the
// bound is below the tolerance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "structures/chains/product_cache.hpp"
#include "structures/chains/sequence_view.hpp"
#include "structures/chains/stretch.hpp"
#include "structures/structure.hpp"

namespace structlearn {

struct ProductSettings {
  std::size_t max_states = 16384;
  double tolerance = 1e-9;  // of certified sums, relative
};

// The symbols of the outcomes, if these are not the labels that automata read:
// [position][outcome].
struct SymbolMap : Shape {
  std::vector<std::int32_t> symbol;
};

class ConstrainedSequence final : public Structure {
 public:
  // For segmentations if `max_length` is not 0, else for chains. Throws std::invalid_argument if an
  // automaton is invalid.
  ConstrainedSequence(std::vector<Automaton> automata, std::size_t max_length,
                      ProductSettings settings);

  // Whether this is the other structure under automata.
  bool stands_for(const Structure& free) const;

  // The proof of an answer: the number of states of the product, the number of automata in it, and
  // for sums the share of the mass that the others reject, at most.
  struct Certificate {
    double value = kMinusInfinity;
    std::size_t states = 1, automata = 0;
    double bound = 0.0;
  };
  Certificate search(const Layout&, const Scores&, Output& y, Workspace&) const;
  Certificate sum(const Layout&, const Scores&, double eps, const Marginals&, Workspace&) const;

  void check(const Layout&) const override;
  bool reads(const Layout& layout, std::size_t block, std::size_t site) const override {
    return free_->reads(layout, block, site);
  }
  bool scores_are_valid(const Layout& layout, std::size_t block, const double* x) const override {
    return free_->scores_are_valid(layout, block, x);
  }
  double argmax(const Layout& layout, const Scores& scores, Output& y,
                Workspace& ws) const override {
    return search(layout, scores, y, ws).value;
  }
  double infer(const Layout& layout, const Scores& scores, double eps, const Marginals& out,
               Workspace& ws) const override {
    return sum(layout, scores, eps, out, ws).value;
  }
  std::optional<double> exact_entropy(const Layout&, const Scores&, double eps,
                                      Workspace&) const override;
  // Whether all automata accept an output.
  bool allows(const Layout&, std::span<const std::int32_t> y) const override;
  void encode(const Layout& layout, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override {
    free_->encode(layout, y, parts);
  }
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;
  // The probability under the same distribution that a chain's labels pass each stretch.
  std::vector<double> stretches(const Layout&, const Scores&, double eps, std::span<const Stretch>,
                                const Neighbours&, Workspace&) const;

 private:
  class Example;

  std::size_t length(const Layout& layout) const {
    return layout.block[0].sites / std::max<std::size_t>(max_length_, 1);
  }
  // body(view) for the scores of an example.
  template <class Body>
  auto with_view(const Layout&, const Scores&, Workspace&, Body&& body) const;
  // The same, with the automata that are members of the product.
  Certificate search(const Example&, const Layout&, const Scores&, Output& y,
                     std::vector<std::uint32_t>& members, Workspace&) const;
  Certificate sum(const Example&, const Layout&, const Scores&, double eps, const Marginals&,
                  std::vector<std::uint32_t>& members, Workspace&) const;
  double rejected(const Example&, const Layout&, const Scores&, double eps, const Marginals&,
                  const std::vector<std::uint32_t>& members, double value,
                  std::vector<double>& among_all, std::vector<std::uint32_t>& worst,
                  Workspace&) const;
  [[noreturn]] void incapable(const Example&, const std::vector<std::uint32_t>& members,
                              double bound) const;
  double sum_over(const Product&, const Layout&, const Scores&, double eps, const Marginals&,
                  Workspace&) const;

  std::shared_ptr<const Structure> free_;
  std::size_t max_length_;  // the longest segment; 0: a chain
  std::vector<Automaton> automata_;
  std::vector<Departures> departures_;  // of each of them
  ProductSettings settings_;
  ProductCache cache_;
};

// The automata of an example, encoded as a row of numbers: their number, and for each one the
// states, symbols, positions, start, accepting states, and transitions. Throws
// std::invalid_argument if it is not such a row.
std::vector<Automaton> read_automata(std::span<const std::int64_t> row);

}  // namespace structlearn
