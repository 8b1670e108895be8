// Deterministic finite automata over labels: constraints on label sequences and segmentations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace structlearn {

// A sequence is accepted if the walk along its labels ends in an accepting state. On segmentations
// each segment is one symbol, read at its start.
struct Automaton {
  std::size_t states = 1, symbols = 0;
  std::size_t positions = 0;  // 0: the same at every position
  std::size_t start = 0;
  std::vector<std::int32_t> next;  // [max(positions, 1)][states][symbols]; -1: none
  std::vector<std::uint8_t> accepting;

  // Throws std::invalid_argument if the fields are inconsistent.
  void check() const;

  // The successors of each state by label, at a position.
  const std::int32_t* rows(std::size_t position) const {
    return next.data() + (positions == 0 ? 0 : position * states * symbols);
  }
};

// One label per position, negative inside a segment.
bool accepts(const Automaton&, std::span<const std::int32_t> y);

// The complement: accepts exactly the sequences that the other rejects.
Automaton complement(const Automaton&);

// The limits of a product.
struct ProductLimits {
  std::size_t states = 0;  // the most states
  std::size_t length = 0;  // of the sequences it is for
  bool segments = false;   // positions may be skipped
};

// The intersection: accepts the sequences that both accept, without states that no accepted
// sequence visits; the start is always kept. States are numbered breadth first. Valid for sequences
// up to the length of the limits, and for all if `complete`. Empty if it would be too large.
struct Intersection {
  Automaton automaton;
  bool complete = true;
};
std::optional<Intersection> intersect(const Automaton& a, const Automaton& b,
                                      const ProductLimits& limits);

// The fewest labels of a set that a rejected sequence must have, the set being the labels that lead
// away from the start state; 0 if there may be none, kNeverRejects if nothing is rejected.
inline constexpr std::uint32_t kNeverRejects = UINT32_MAX;
struct Departures {
  std::vector<std::uint8_t> label;  // [max(positions, 1)][symbols]
  std::uint32_t fewest = 0;
};
Departures departures(const Automaton&);

}  // namespace structlearn
