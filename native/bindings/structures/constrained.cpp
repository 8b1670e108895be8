// Chains and segmentations under automata, for Python.
#include "bindings/bindings.hpp"
#include "bindings/structures/automata.hpp"
#include "bindings/structures/batch.hpp"
#include "bindings/structures/native_structure.hpp"
#include "bindings/structures/outputs.hpp"
#include "bindings/structures/scores.hpp"
#include "structures/chains/constrained_sequence.hpp"

namespace structlearn::python {
namespace {

constexpr const char* kTopology = "automata";

NativeStructure constrained(NativeStructure free, nb::list given, std::size_t max_length,
                            std::size_t max_states, double tolerance) {
  free.structure = std::make_shared<ConstrainedSequence>(read_automata_of(given), max_length,
                                                         ProductSettings{max_states, tolerance});
  free.topology = kTopology;
  return free;
}

const ConstrainedSequence& sequence_of(const NativeStructure& s) {
  return dynamic_cast<const ConstrainedSequence&>(*s.structure);
}

// The best output, its score, and the states of the product that proved it.
nb::tuple constrained_search(const NativeStructure& s, nb::dict scores) {
  const Parsed p = parse(s, scores);
  Output y;
  const auto found = sequence_of(s).search(p.layout, p.scores, y, local_workspace());
  if (found.value == kMinusInfinity) nothing_legal(-1);
  return nb::make_tuple(to_python(s, p.layout, y), found.value, found.states);
}

// The outputs of a batch one after another, pointers into them, scores, states.
auto search_batch(const NativeStructure& s, nb::dict scores, std::size_t n, std::size_t threads) {
  std::vector<Output> y(n);
  std::vector<double> value(n);
  std::vector<std::int64_t> states(n), flat, ptr(1, 0);
  for_batch(s, parse_batch(s, scores, n), threads,
            [&](std::size_t i, const Parsed& p, Workspace& ws) {
              const auto found = sequence_of(s).search(p.layout, p.scores, y[i], ws);
              value[i] = found.value;
              states[i] = static_cast<std::int64_t>(found.states);
            });
  for (std::size_t i = 0; i < n; ++i) {
    if (value[i] == kMinusInfinity) nothing_legal(static_cast<std::ptrdiff_t>(i));
    flat.insert(flat.end(), y[i].begin(), y[i].end());
    ptr.push_back(static_cast<std::int64_t>(flat.size()));
  }
  return nb::make_tuple(to_numpy(std::move(flat)), to_numpy(std::move(ptr)),
                        to_numpy(std::move(value)), to_numpy(std::move(states)));
}

// Of each example eps log sum exp(score / eps), at most which share of it is too much, states and
// automata of the product.
nb::list sum_batch(const NativeStructure& s, nb::dict scores, std::size_t n, double temperature,
                   std::size_t threads) {
  std::vector<ConstrainedSequence::Certificate> found(n);
  for_batch(s, parse_batch(s, scores, n), threads,
            [&](std::size_t i, const Parsed& p, Workspace& ws) {
              found[i] = sequence_of(s).sum(p.layout, p.scores, temperature, {}, ws);
            });
  nb::list sums;
  for (std::size_t i = 0; i < n; ++i) {
    check_sum(found[i].value, n == 1 ? -1 : static_cast<std::ptrdiff_t>(i));
    sums.append(nb::make_tuple(found[i].value, found[i].bound, found[i].states, found[i].automata));
  }
  return sums;
}

double entropy(const NativeStructure& s, nb::dict scores, double temperature) {
  const Parsed p = parse(s, scores);
  return *s.structure->exact_entropy(p.layout, p.scores, temperature, local_workspace());
}

}  // namespace

void bind_constrained(nb::module_& m) {
  m.def(
      "constrained_chain",
      [](std::size_t order, nb::list automata, std::size_t max_states, double tolerance) {
        return constrained(make_chain(order), automata, 0, max_states, tolerance);
      },
      nb::arg("order"), nb::arg("automata"), nb::arg("max_states"), nb::arg("tolerance"));
  m.def(
      "constrained_semimarkov",
      [](std::size_t max_length, nb::list automata, std::size_t max_states, double tolerance) {
        return constrained(make_semimarkov(max_length), automata, max_length, max_states,
                           tolerance);
      },
      nb::arg("max_length"), nb::arg("automata"), nb::arg("max_states"), nb::arg("tolerance"));
  m.def("constrained_search", &constrained_search, nb::arg("structure"), nb::arg("scores"));
  m.def("constrained_search_batch", &search_batch, nb::arg("structure"), nb::arg("scores"),
        nb::arg("n"), nb::arg("threads"));
  m.def("constrained_sum_batch", &sum_batch, nb::arg("structure"), nb::arg("scores"), nb::arg("n"),
        nb::arg("temperature"), nb::arg("threads"));
  m.def("constrained_entropy", &entropy, nb::arg("structure"), nb::arg("scores"),
        nb::arg("temperature"));
}

}  // namespace structlearn::python
