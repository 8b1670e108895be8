#include "structures/hypergraph.hpp"

#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/structures/scores.hpp"

namespace structlearn::python {
namespace {

using Indices = Input<std::uint32_t, nb::ndim<1>>;
std::vector<std::uint32_t> to_vector(const Indices& a) {
  return {a.data(), a.data() + a.size()};
}

const double* scores_for(const Hypergraph& h, const Input<double, nb::ndim<1>>& theta) {
  if (theta.size() != h.parts()) {
    throw std::invalid_argument("theta has " + std::to_string(theta.size()) +
                                " scores, the hypergraph has " + std::to_string(h.parts()) +
                                " parts");
  }
  check_values(theta.data(), theta.size(), "theta", -1);
  return theta.data();
}

}  // namespace

void bind_hypergraph(nb::module_& m) {
  nb::class_<Hypergraph>(m, "Hypergraph")
      .def(
          "__init__",
          [](Hypergraph* self, std::size_t nodes, std::size_t parts, Indices head, Indices tail_ptr,
             Indices tail, Indices part_ptr, Indices part) {
            new (self) Hypergraph(nodes, parts, to_vector(head), to_vector(tail_ptr),
                                  to_vector(tail), to_vector(part_ptr), to_vector(part));
          },
          nb::arg("nodes"), nb::arg("parts"), nb::arg("head"), nb::arg("tail_ptr"), nb::arg("tail"),
          nb::arg("part_ptr"), nb::arg("part"))
      .def(
          "best",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta) {
            Hypergraph::Edges edges;
            const double value = h.best(scores_for(h, theta), edges);
            return nb::make_tuple(value, to_numpy(edges), to_numpy(h.parts_of(edges)));
          },
          nb::arg("theta"))
      .def(
          "infer",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, double eps) {
            std::vector<double> p(h.parts());
            const double value = h.infer(scores_for(h, theta), eps, p.data());
            return nb::make_tuple(value, to_numpy(std::move(p)));
          },
          nb::arg("theta"), nb::arg("temperature"))
      .def(
          "chart",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, double eps) {
            Hypergraph::Chart found = h.chart(scores_for(h, theta), eps);
            return nb::make_tuple(to_numpy(std::move(found.node)), to_numpy(std::move(found.edge)),
                                  to_numpy(std::move(found.mass)));
          },
          nb::arg("theta"), nb::arg("temperature"))
      .def(
          "entropy",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, double eps) {
            return h.entropy(scores_for(h, theta), eps);
          },
          nb::arg("theta"), nb::arg("temperature"))
      .def(
          "kbest",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, std::size_t n) {
            nb::list result;
            for (const auto& [value, edges] : h.kbest(scores_for(h, theta), n)) {
              result.append(nb::make_tuple(value, to_numpy(edges), to_numpy(h.parts_of(edges))));
            }
            return result;
          },
          nb::arg("theta"), nb::arg("n"))
      .def(
          "sample",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, std::size_t n, double eps,
             std::uint64_t seed) {
            nb::list result;
            for (const auto& edges : h.sample(scores_for(h, theta), eps, n, seed)) {
              result.append(nb::make_tuple(to_numpy(edges), to_numpy(h.parts_of(edges))));
            }
            return result;
          },
          nb::arg("theta"), nb::arg("n"), nb::arg("temperature"), nb::arg("seed"));
}

}  // namespace structlearn::python
