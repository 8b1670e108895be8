#include "bindings/problem/graph_inference.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

namespace structlearn::python {
namespace {

Likelihood read_likelihood(const std::string& name) {
  if (name == "exact") return Likelihood::kExact;
  if (name == "pseudo") return Likelihood::kPseudo;
  if (name == "loopy") return Likelihood::kLoopy;
  throw std::invalid_argument("there is no likelihood " + name);
}

std::span<const std::int64_t> read(nb::object given) {
  if (given.is_none()) return {};
  const auto array = nb::cast<Input<std::int64_t, nb::ndim<1>>>(given, false);
  return {array.data(), array.size()};
}

GraphInference pairwise_inference(nb::object behind, bool grid, const std::string& method,
                                  double damping, double tolerance, const std::string& likelihood,
                                  nb::object label_ptr, nb::object labels) {
  PairwiseSettings settings;
  settings.kind = {grid, tolerance};
  settings.method = pair_method(method);
  settings.damping = damping;
  settings.likelihood = read_likelihood(likelihood);
  settings.label_ptr = read(label_ptr);
  settings.labels = read(labels);
  return {behind, settings, label_ptr, labels};
}

}  // namespace

void bind_graph_inference(nb::module_& m) {
  nb::class_<GraphInference>(m, "GraphInference");
  m.def("pairwise_inference", &pairwise_inference, nb::arg("behind"), nb::arg("grid"),
        nb::arg("method"), nb::arg("damping"), nb::arg("tolerance"), nb::arg("likelihood"),
        nb::arg("label_ptr").none(), nb::arg("labels").none());
  m.def(
      "matching_inference", [](nb::object behind) { return GraphInference{behind, {}, {}, {}}; },
      nb::arg("behind"));
}

}  // namespace structlearn::python
