// Searches for a best labelling of a grid or a graph, and the choice among them, except linear and
// integer programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "numeric/parallel.hpp"
#include "structures/graphs/elimination_plans.hpp"
#include "structures/graphs/pairwise.hpp"

namespace structlearn {

enum class PairMethod {
  kAuto,
  kElimination,
  kCut,
  kExpansion,
  kSwap,
  kMaxProduct,
  kReweighted,
  kRoofDual,
};

// "auto", "elimination", "cut", "expansion", "swap", "max-product", "trws", "qpbo"; else nothing.
std::optional<PairMethod> pair_method(std::string_view name);

// Why a method refuses a model.
enum class PairRefusal {
  kNone,
  kNoLabel,         // every label of node `place` is forbidden
  kTooWide,         // elimination: the tables would be too large
  kNotTwoLabels,    // a cut, roof duality
  kNotSubmodular,   // a cut: edge `place`
  kCliques,         // the method does not support groups of nodes
  kNegativeClique,  // group `place` loses by agreeing
};

struct PairFound {
  std::vector<std::int32_t> y;
  double value = kMinusInfinity;
  double bound = std::numeric_limits<double>::infinity();  // no labelling scores more
  const char* method = "";
  PairRefusal refusal = PairRefusal::kNone;
  std::int64_t place = -1;
  bool complete = true;  // false: interrupted

  bool exact() const { return bound <= value; }
};

// A labelling with its certificate. If the value is -inf, the method found no legal one, which
// proves nothing unless exact. `with_bound`: whether to compute a bound that costs extra.
PairFound search_labels(const Pairwise&, PairMethod, bool with_bound, EliminationPlans&,
                        Interrupt*);

}  // namespace structlearn
