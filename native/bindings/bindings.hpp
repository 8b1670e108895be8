// Shared by the files of the Python module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace structlearn::python {

namespace nb = nanobind;

// Read-only, C-ordered, of the right type already: Python has converted it, nothing is copied.
template <class T, class... Shape>
using Input = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
template <class T, class... Shape>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu, Shape...>;

// An array, of a framework that nanobind knows, that owns the vector's memory.
template <class Framework, class T>
nb::ndarray<Framework, T, nb::ndim<1>> to_array(std::vector<T> values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* data = held->data();
  const std::size_t n = held->size();
  nb::capsule owner(held.release(),
                    [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<Framework, T, nb::ndim<1>>(data, {n}, owner);
}

template <class T>
auto to_numpy(std::vector<T> values) {
  return to_array<nb::numpy>(std::move(values));
}

// A memoryview, for which NumPy need not be imported.
template <class T>
auto to_view(std::vector<T> values) {
  return to_array<nb::memview>(std::move(values));
}

void bind_structures(nb::module_& m);
void bind_problem(nb::module_& m);
void bind_completion(nb::module_& m);
void bind_graph_inference(nb::module_& m);
void bind_counts(nb::module_& m);
void bind_online(nb::module_& m);
void bind_quasi_newton(nb::module_& m);
void bind_working_sets(nb::module_& m);
void bind_dual_ascent(nb::module_& m);
void bind_sag(nb::module_& m);
void bind_text(nb::module_& m);
void bind_features(nb::module_& m);
void bind_names(nb::module_& m);
void bind_word_emissions(nb::module_& m);
void bind_tagger_training(nb::module_& m);
void bind_container(nb::module_& m);
void bind_crfsuite(nb::module_& m);
void bind_inputs(nb::module_& m);
void bind_string_chain(nb::module_& m);
void bind_label_constraints(nb::module_& m);
void bind_tagger_model(nb::module_& m);
void bind_sentence_calls(nb::module_& m);
void bind_candidates(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_words(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_parser(nb::module_& m);
void bind_parser_training(nb::module_& m);
void bind_pairwise(nb::module_& m);

}  // namespace structlearn::python
