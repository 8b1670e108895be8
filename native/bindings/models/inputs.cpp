// Every query of every native model, for all inputs at once and on threads. Nothing here needs
// NumPy: numbers come and go as lists and buffers.
#include "bindings/models/inputs.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>

#include "bindings/buffers.hpp"
#include "models/masked.hpp"
#include "models/queries.hpp"

namespace structlearn::python {

void check_legal(const Reader& reader, double value, std::size_t input) {
  if (value == kMinusInfinity && !reader.makeshift()) {
    throw Infeasible("input " + std::to_string(input) +
                     ": no legal output is left: the constraints cannot be kept here");
  }
}

void check_temperature(double temperature) {
  if (!(temperature > 0.0)) throw std::invalid_argument("temperature must be above 0");
}

namespace {

void check_outputs(const PyInputs& self, const std::vector<Output>& outputs) {
  if (outputs.size() != self.inputs->size()) {
    throw std::invalid_argument("an output for each input is needed");
  }
}

// The outputs one after another, where each ends, their scores, and whether each is proven to be a
// best one: int32, int64, double, uint8.
nb::tuple solve_all(const PyInputs& self, std::size_t threads) {
  const std::size_t n = self.inputs->size();
  std::vector<Output> y(n);
  std::vector<double> value(n);
  std::vector<std::uint8_t> exact(n);
  for_inputs(self, Purpose::kBest, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    const Solved solved = best(reader, s, y[i]);
    check_legal(reader, solved.value, i);
    value[i] = solved.value;
    exact[i] = solved.exact;
  });
  std::vector<std::int32_t> flat;
  std::vector<std::int64_t> end;
  for (const Output& one : y) {
    flat.insert(flat.end(), one.begin(), one.end());
    end.push_back(static_cast<std::int64_t>(flat.size()));
  }
  return nb::make_tuple(to_bytes(flat), to_bytes(end), to_bytes(value), to_bytes(exact));
}

std::vector<Ranked> kbest_of_all(const PyInputs& self, std::size_t n, std::size_t threads) {
  std::vector<Ranked> ranked(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    ranked[i] = kbest(reader, s, n);
    check_legal(reader, ranked[i].empty() ? kMinusInfinity : 0.0, i);
  });
  return ranked;
}

// The parts of at least this probability, where those that are written alike are one: it has the
// first of their labels. By site, then by name.
void merge_parts(const Reader& reader, std::size_t outcomes, std::span<const std::int32_t> name_of,
                 const std::vector<double>& p, double least, std::vector<Part>& parts,
                 std::vector<double>& probability) {
  const auto names =
      static_cast<std::size_t>(*std::max_element(name_of.begin(), name_of.end())) + 1;
  std::vector<std::int32_t> first(names, 0);
  for (std::size_t label = name_of.size(); label-- > 0;) {
    first[static_cast<std::size_t>(name_of[label])] = static_cast<std::int32_t>(label);
  }
  std::vector<double> sum(names);
  std::vector<std::uint8_t> present(names);
  for (std::size_t site = 0; site < p.size() / outcomes; ++site) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(present.begin(), present.end(), 0);
    Part part;
    for (std::size_t k = 0; k < outcomes; ++k) {
      part = reader.part(site, k);
      const auto name = static_cast<std::size_t>(name_of[static_cast<std::size_t>(part.label)]);
      sum[name] += p[site * outcomes + k];
      present[name] = 1;
    }
    for (std::size_t name = 0; name < names; ++name) {
      if (!present[name] || sum[name] < least) continue;
      part.label = first[name];
      parts.push_back(part);
      probability.push_back(std::min(1.0, sum[name]));
    }
  }
}

// For each input the parts of at least this probability: begin, end and label of each (int32), and
// the probabilities (double).
nb::list marginals_of_all(const PyInputs& self, double temperature, double least,
                          std::size_t threads, bool merged) {
  check_temperature(temperature);
  struct Likely {
    std::vector<Part> parts;
    std::vector<double> p;
  };
  std::vector<Likely> likely(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    std::vector<double> p;
    const double value = marginals(reader, s, temperature, p);
    check_legal(reader, value, i);
    if (value == kMinusInfinity) return;
    const std::size_t names = reader.names(s);
    const std::span<const std::int32_t> name_of = reader.name_of();
    if (merged && !name_of.empty()) {
      merge_parts(reader, names, name_of, p, least, likely[i].parts, likely[i].p);
      return;
    }
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (p[j] < least || !s.structure->reads(s.layout, s.first, j / names)) continue;
      likely[i].parts.push_back(reader.part(j / names, j % names));
      likely[i].p.push_back(std::min(1.0, p[j]));
    }
  });
  nb::list out;
  for (const Likely& one : likely) {
    out.append(nb::make_tuple(to_bytes(one.parts), to_bytes(one.p)));
  }
  return out;
}

std::vector<std::vector<Output>> samples(const PyInputs& self, std::size_t n, double temperature,
                                         std::uint64_t seed, std::size_t threads) {
  check_temperature(temperature);
  std::vector<std::vector<Output>> drawn(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    drawn[i] = sample(reader, s, temperature, n, seed + i);
    check_legal(reader, drawn[i].size() < n ? kMinusInfinity : 0.0, i);
  });
  return drawn;
}

std::vector<double> entropies(const PyInputs& self, double temperature, std::size_t threads) {
  check_temperature(temperature);
  std::vector<double> nats(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    const Entropy found = entropy(reader, s, temperature);
    check_legal(reader, found.log_sum, i);
    nats[i] = found.value;
  });
  return nats;
}

// -inf where no output is legal.
std::vector<double> log_partitions(const PyInputs& self, double temperature, std::size_t threads) {
  check_temperature(temperature);
  std::vector<double> sums(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    sums[i] = log_partition(reader, s, temperature);
  });
  return sums;
}

// The scores of an output of each input, as sums see them; -inf where it is not among the outputs.
std::vector<double> scores_of_all(const PyInputs& self, const std::vector<Output>& outputs,
                                  std::size_t threads) {
  check_outputs(self, outputs);
  std::vector<double> value(outputs.size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    value[i] = score(reader, s, outputs[i]);
  });
  return value;
}

// The probability of each part of an output of each input.
std::vector<std::vector<double>> certainties_of_all(const PyInputs& self,
                                                    const std::vector<Output>& outputs,
                                                    double temperature, std::size_t threads) {
  check_outputs(self, outputs);
  check_temperature(temperature);
  std::vector<std::vector<double>> probability(outputs.size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    std::vector<double> p;
    check_legal(reader, marginals(reader, s, temperature, p), i);
    probability[i] = certainties(reader, s, outputs[i], p);
  });
  return probability;
}

std::vector<Ranked> rivals_of_all(const PyInputs& self, std::size_t threads) {
  std::vector<Ranked> others(self.inputs->size());
  for_inputs(self, Purpose::kBest, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    others[i] = rivals(reader, s);
  });
  return others;
}

// The scores of an input by block: its number, sites, outcomes, and the numbers.
nb::list scores_of(const PyInputs& self, std::size_t input) {
  if (input >= self.inputs->size()) throw nb::index_error("no such input");
  const std::unique_ptr<Reader> reader = self.inputs->reader();
  const Scored& s = reader->scores(input, Purpose::kBest);
  nb::list blocks;
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = s.layout.block[b];
    if (!block.present) continue;
    const double* x = s.scores.block[b];
    blocks.append(nb::make_tuple(b, block.sites, block.outcomes,
                                 to_bytes(std::vector<double>(x, x + block.size()))));
  }
  return blocks;
}

// The same inputs without some parts: begin, end, label (-1: any) of each, by input.
PyInputs without(nb::object self,
                 const std::vector<std::vector<std::array<std::int32_t, 3>>>& forbidden) {
  Forbidden parts;
  for (const auto& row : forbidden) {
    parts.emplace_back();
    for (const auto& [begin, end, label] : row) parts.back().push_back({begin, end, label});
  }
  const auto& inputs = *nb::cast<const PyInputs&>(self).inputs;
  return {self, std::make_unique<MaskedInputs>(inputs, std::move(parts))};
}

}  // namespace

void bind_inputs(nb::module_& m) {
  // What there is no algorithm for is CapabilityError in Python.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Incapable& error) {
      const nb::object kind =
          nb::module_::import_("structlearn.exceptions").attr("CapabilityError");
      PyErr_SetString(kind.ptr(), error.what());
    }
  });
  nb::class_<PyInputs> inputs(m, "Inputs");
  inputs.def("__len__", [](const PyInputs& self) { return self.inputs->size(); })
      .def("solve", &solve_all, nb::arg("threads") = 1)
      .def("kbest", &kbest_of_all, nb::arg("n"), nb::arg("threads") = 1)
      .def("marginals", &marginals_of_all, nb::arg("temperature"), nb::arg("least") = 0.0,
           nb::arg("threads") = 1, nb::arg("merged") = true)
      .def("sample", &samples, nb::arg("n"), nb::arg("temperature"), nb::arg("seed"),
           nb::arg("threads") = 1)
      .def("entropy", &entropies, nb::arg("temperature"), nb::arg("threads") = 1)
      .def("log_partition", &log_partitions, nb::arg("temperature"), nb::arg("threads") = 1)
      .def("score", &scores_of_all, nb::arg("outputs"), nb::arg("threads") = 1)
      .def("certainties", &certainties_of_all, nb::arg("outputs"), nb::arg("temperature"),
           nb::arg("threads") = 1)
      .def("rivals", &rivals_of_all, nb::arg("threads") = 1)
      .def("scores", &scores_of, nb::arg("input"))
      .def("without", &without, nb::arg("forbidden"));
  bind_named_answers(inputs);
}

}  // namespace structlearn::python
