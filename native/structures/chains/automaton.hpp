// Deterministic finite automata over labels: constraints on label sequences and segmentations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace structlearn {

// A sequence is accepted if the walk along its labels ends in an accepting state. On segmentations
// each segment is one symbol, read where it starts.
struct Automaton {
  std::size_t states = 1, symbols = 0;
  std::size_t positions = 0;  // 0: the same at every position
  std::size_t start = 0;
  std::vector<std::int32_t> next;  // [max(positions, 1)][states][symbols]; -1: no way on
  std::vector<std::uint8_t> accepting;

  // Throws std::invalid_argument unless everything fits together.
  void check() const;

  // Where the labels lead from each state, at a position.
  const std::int32_t* rows(std::size_t position) const {
    return next.data() + (positions == 0 ? 0 : position * states * symbols);
  }
};

// One label a position, negative where a segment goes on.
bool accepts(const Automaton&, std::span<const std::int32_t> y);

// What accepts exactly the sequences that the other does not.
Automaton complement(const Automaton&);

// How large a product may become.
struct ProductLimits {
  std::size_t states = 0;  // more than so many: no product
  std::size_t length = 0;  // of the sequences it is for
  bool segments = false;   // positions may be skipped
};

// What accepts the sequences that both accept, without states that no accepted sequence visits; the
// start is always kept. States are numbered breadth first. It is good for sequences up to the
// length of the limits, and for all if `complete`. Nothing if it would be too large.
struct Intersection {
  Automaton automaton;
  bool complete = true;
};
std::optional<Intersection> intersect(const Automaton& a, const Automaton& b,
                                      const ProductLimits& limits);

// The fewest labels of a set that a rejected sequence must have, where the set are those that lead
// away from the start state; 0 if there may be none, kNeverRejects if nothing is rejected.
inline constexpr std::uint32_t kNeverRejects = UINT32_MAX;
struct Departures {
  std::vector<std::uint8_t> label;  // [max(positions, 1)][symbols]
  std::uint32_t fewest = 0;
};
Departures departures(const Automaton&);

}  // namespace structlearn
