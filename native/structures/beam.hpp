// Beam search: outputs built step by step, keeping the best few prefixes; and the step, on the way
// to a known output, at which a learner should update its weights.
//
// With an inexact search the output found may score less than the gold one; an update on such a
// pair fixes nothing. Prefixes at which the gold one has left the beam, or is outscored by most,
// are safe for updates: M. Collins & B. Roark (2004), L. Huang, S. Fayong & Y. Guo (2012).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

enum class UpdateAt {
  kEarly,         // the step at which the gold prefix leaves the beam; the end, if it never does
  kMaxViolation,  // the step at which it is outscored by most
  kEnd,           // always the end
};

struct BeamSettings {
  std::size_t width = 0;  // 0: no beam, exact inference
  UpdateAt update_at = UpdateAt::kEarly;
};

struct BeamOutput {
  double value = kMinusInfinity;  // -inf if no output is legal
  bool pruned = false;            // prefixes were dropped: there may be a better output
};

// Two prefixes of equal length; no parts if the search ends at the gold output.
struct Violation {
  double amount = 0.0;  // how much the one found outscores the gold one
  std::vector<std::uint32_t> found, gold;
};

// The beam-search methods of a structure. If every prefix in the beam reaches a dead end (because
// of masks), the search is repeated with twice the width.
class BeamSearch {
 public:
  virtual ~BeamSearch() = default;
  virtual BeamOutput beam(const Layout&, const Scores&, std::size_t width, Output& y,
                          Workspace&) const = 0;
  // The amount is -inf if no output is legal.
  virtual Violation violation(const Layout&, const Scores&, std::span<const std::uint32_t> gold,
                              const BeamSettings&, Workspace&) const = 0;
};

}  // namespace structlearn
