// The memory layout of a search over a product: a row for each state of the automaton, and in it a
// number for each window that can end there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/chains/product.hpp"
#include "structures/chains/sequence_view.hpp"

namespace structlearn {

class ProductRows {
 public:
  ProductRows(const SequenceView& v, const Product& p)
      : v_(v), p_(p), plain_(v.order <= 1), states_(p.states()) {
    // States are numbered breadth first: the last ones may be too deep for this sequence.
    while (states_ > 1 && !within(states_ - 1)) --states_;
    stride_ = plain_ ? p.row(states_ - 1) + p.width(states_ - 1) : states_ * v.windows;
  }

  std::size_t states() const { return states_; }
  // The total size of all rows.
  std::size_t stride() const { return stride_; }
  bool possible(std::size_t j, std::size_t s) const { return p_.possible(j, v_.L, s); }
  bool accepted(std::size_t s) const { return p_.automaton().accepting[s] && possible(v_.L, s); }

  std::size_t first(std::size_t s) const { return plain_ ? p_.row(s) : s * v_.windows; }
  std::size_t width(std::size_t s) const { return plain_ ? p_.width(s) : v_.windows; }
  bool wide(std::size_t s) const { return !plain_ || p_.wide(s); }
  // The labels of a row that is not wide.
  const std::uint32_t* labels(std::size_t s) const { return p_.row_labels(s); }
  // The place of a window whose last label is k, if the row has it.
  std::size_t at(std::size_t s, std::size_t window) const {
    return plain_ ? static_cast<std::size_t>(p_.slot(s, window)) : s * v_.windows + window;
  }
  std::size_t state(std::size_t slot) const {
    return plain_ ? p_.slot_state(slot) : slot / v_.windows;
  }
  std::size_t window(std::size_t slot) const {
    return plain_ ? p_.slot_label(slot) : slot % v_.windows;
  }
  // The used size of a row at position i.
  std::size_t used(std::size_t i, std::size_t s) const {
    return plain_ ? p_.width(s) : v_.windows_at(i);
  }

  // body(slot, x) for the numbers of a row, where x[window] is a number for each window.
  template <class Body>
  void for_row(std::size_t i, std::size_t s, Body&& body) const {
    const std::size_t begin = first(s), n = used(i, s);
    if (wide(s)) {
      for (std::size_t w = 0; w < n; ++w) body(begin + w, w);
    } else {
      for (std::size_t w = 0; w < n; ++w) body(begin + w, labels(s)[w]);
    }
  }

  // body(state, window) for the predecessors of a label k at position i that leads to s; `rest` are
  // the window's labels that stay.
  template <class Body>
  void for_before(std::size_t i, std::size_t s, std::size_t window, Body&& body) const {
    const std::size_t k = window % v_.K, rest = window / v_.K;
    for (const std::uint32_t from : p_.before(i, s, k)) {
      if (from >= states_ || !possible(i, from)) continue;
      if (v_.grows(i)) {
        body(from, rest);
        continue;
      }
      for (std::size_t k1 = 0; k1 < v_.K; ++k1) {
        const std::size_t w = k1 * v_.stay + rest;
        if (!plain_ || p_.slot(from, w) >= 0) body(from, w);
      }
    }
  }

 private:
  bool within(std::size_t s) const {
    for (std::size_t j = 0; j <= v_.L; ++j) {
      if (p_.possible(j, v_.L, s)) return true;
    }
    return false;
  }

  const SequenceView& v_;
  const Product& p_;
  bool plain_;
  std::size_t states_, stride_ = 0;
};

}  // namespace structlearn
