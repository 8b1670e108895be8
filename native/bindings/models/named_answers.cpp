// Answers of models that label tokens, by the names of the labels.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "bindings/models/inputs.hpp"
#include "models/queries.hpp"

namespace structlearn::python {
namespace {

nb::object checked(PyObject* o) {
  if (o == nullptr) throw nb::python_error();
  return nb::steal(o);
}

// The best labels of the tokens of each input, given the name of each label.
nb::list best_labels(const PyInputs& self, nb::list names, std::size_t threads) {
  std::vector<Output> y(self.inputs->size());
  for_inputs(self, Purpose::kBest, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    check_legal(reader, best(reader, s, y[i]).value, i);
    reader.to_labels(y[i]);
  });
  nb::list out;
  for (const Output& row : y) {
    nb::object labels = checked(PyList_New(static_cast<Py_ssize_t>(row.size())));
    for (std::size_t t = 0; t < row.size(); ++t) {
      PyObject* name = PyList_GetItem(names.ptr(), static_cast<Py_ssize_t>(row[t]));
      if (name == nullptr) throw nb::python_error();
      Py_INCREF(name);
      PyList_SET_ITEM(labels.ptr(), static_cast<Py_ssize_t>(t), name);
    }
    out.append(labels);
  }
  return out;
}

// The probability of each label at each token of each input: a dictionary for each token, in the
// order of the names. Labels of one name count together; 0 where it is less than `least`.
nb::list label_probabilities(const PyInputs& self, nb::list names, double temperature, double least,
                             std::size_t threads) {
  check_temperature(temperature);
  const std::size_t n = nb::len(names);
  std::vector<std::vector<double>> of_name(self.inputs->size());
  for_inputs(self, Purpose::kSums, threads, [&](std::size_t i, Reader& reader, const Scored& s) {
    std::vector<double> p;
    check_legal(reader, marginals(reader, s, temperature, p), i);
    const std::span<const std::int32_t> name_of = reader.name_of();
    const std::size_t outcomes = reader.names(s);
    of_name[i].assign(p.size() / outcomes * n, 0.0);
    for (std::size_t j = 0; j < p.size(); ++j) {
      const std::size_t token = j / outcomes;
      auto name = static_cast<std::size_t>(reader.part(token, j % outcomes).label);
      if (!name_of.empty()) name = static_cast<std::size_t>(name_of[name]);
      if (name >= n) throw std::invalid_argument("a label without a name");
      of_name[i][token * n + name] += p[j];
    }
  });
  nb::dict none;  // copied for each token: faster than made anew
  for (nb::handle name : names) none[name] = 0.0;
  nb::list out;
  for (const std::vector<double>& all : of_name) {
    nb::list tokens;
    for (std::size_t at = 0; at < all.size(); at += n) {
      const nb::object token = checked(PyDict_Copy(none.ptr()));
      for (std::size_t k = 0; k < n; ++k) {
        const double p = std::min(1.0, all[at + k]);
        if (p < least || p == 0.0) continue;
        const nb::object value = checked(PyFloat_FromDouble(p));
        if (PyDict_SetItem(token.ptr(), names[k].ptr(), value.ptr()) != 0) throw nb::python_error();
      }
      tokens.append(token);
    }
    out.append(tokens);
  }
  return out;
}

}  // namespace

void bind_named_answers(nb::class_<PyInputs>& inputs) {
  inputs.def("best_labels", &best_labels, nb::arg("names"), nb::arg("threads") = 1)
      .def("label_probabilities", &label_probabilities, nb::arg("names"), nb::arg("temperature"),
           nb::arg("least") = 0.0, nb::arg("threads") = 1);
}

}  // namespace structlearn::python
