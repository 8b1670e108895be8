// An automaton laid out for dynamic programs over its product with a sequence.
//
// A state of the product is a state of the automaton with a window of the sequence, whose newest
// label led to it. As automata are deterministic, few pairs of a state and a label can occur: the
// row of a state holds all K labels if many lead to it ("wide"), else only the labels that do.
// Windows of several labels (chains above the first order) only have wide rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/chains/automaton.hpp"

namespace structlearn {

class Product {
 public:
  // `segments`: positions may be skipped.
  Product(Automaton automaton, bool segments);

  const Automaton& automaton() const { return automaton_; }
  std::size_t states() const { return automaton_.states; }
  std::size_t labels() const { return automaton_.symbols; }

  // Whether state s may be that of an accepted sequence after j of its L positions. May be true for
  // an impossible state, but is never false for a possible one.
  bool possible(std::size_t j, std::size_t L, std::size_t s) const {
    if (automaton_.positions > 0) return reach_[j * states() + s] != 0;
    return depth_[s] <= j && height_[s] <= L - j;
  }

  // Labels with the same transition between two states.
  struct LabelSet {
    std::uint32_t first, last;  // of listed labels
    std::int32_t mask;          // -1: too few for a mask
  };
  struct Step {
    std::uint32_t to, set;
  };
  std::span<const Step> steps(std::size_t position, std::size_t s) const {
    const std::size_t i = table(position) * states() + s;
    return {steps_.data() + step_ptr_[i], steps_.data() + step_ptr_[i + 1]};
  }
  const LabelSet& set(std::uint32_t number) const { return sets_[number]; }
  std::span<const std::uint32_t> labels_of(const LabelSet& set) const {
    return {listed_.data() + set.first, listed_.data() + set.last};
  }
  // A number for each label: 0 for the set, -inf for the others; and 1 and 0.
  const double* added(const LabelSet& set) const {
    return added_.data() + static_cast<std::size_t>(set.mask) * labels();
  }
  const double* factor(const LabelSet& set) const {
    return factor_.data() + static_cast<std::size_t>(set.mask) * labels();
  }

  // The states from which label k leads to s.
  std::span<const std::uint32_t> before(std::size_t position, std::size_t s, std::size_t k) const {
    const std::size_t i = (table(position) * states() + s) * labels() + k;
    return {before_.data() + before_ptr_[i], before_.data() + before_ptr_[i + 1]};
  }

  // Rows for windows of one label.
  bool wide(std::size_t s) const { return wide_[s] != 0; }
  std::size_t row(std::size_t s) const { return row_[s]; }
  std::size_t width(std::size_t s) const { return row_[s + 1] - row_[s]; }
  std::size_t slots() const { return row_.back(); }
  std::uint32_t slot_state(std::size_t slot) const { return slot_state_[slot]; }
  std::uint32_t slot_label(std::size_t slot) const { return slot_label_[slot]; }
  const std::uint32_t* row_labels(std::size_t s) const { return slot_label_.data() + row_[s]; }
  // -1 if label k does not lead to s.
  std::int32_t slot(std::size_t s, std::size_t k) const { return slot_[s * labels() + k]; }

 private:
  std::size_t table(std::size_t position) const { return automaton_.positions == 0 ? 0 : position; }
  void find_reach(bool segments);
  void lay_out_rows();
  void group_steps();
  void list_before();

  Automaton automaton_;
  std::vector<std::uint32_t> depth_, height_;  // fewest labels from the start, and to acceptance
  std::vector<std::uint8_t> reach_;            // if the automaton varies: [positions + 1][states]
  std::vector<std::uint32_t> step_ptr_;
  std::vector<Step> steps_;
  std::vector<LabelSet> sets_;
  std::vector<std::uint32_t> listed_;
  std::vector<double> added_, factor_;
  std::vector<std::uint32_t> before_ptr_, before_;
  std::vector<std::uint8_t> wide_;
  std::vector<std::uint32_t> row_, slot_state_, slot_label_;
  std::vector<std::int32_t> slot_;
};

}  // namespace structlearn
