// Model files. Nothing here needs NumPy: arrays come and go as buffers.
#include "models/container.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "bindings/json.hpp"
#include "bindings/models/tensors.hpp"
#include "models/calibration.hpp"
#include "models/confidence.hpp"

namespace structlearn::python {
namespace {

nb::object decoded(std::string_view s) {
  PyObject* text =
      PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogatepass");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

std::span<const std::uint8_t> bytes_of(const Bytes& bytes) {
  const std::string_view text = bytes.text();
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The description, and of each array its name, type, first and last byte in the file, and shape.
nb::tuple container_parts(nb::handle file, const std::string& what) {
  const Bytes whole(file);
  const Container found = parse_container(whole.text(), what);
  std::vector<std::pair<std::size_t, nb::object>> arrays;
  for (const auto& [name, tensor] : found.tensors) {
    const auto begin = static_cast<std::size_t>(reinterpret_cast<const char*>(tensor.data.data()) -
                                                whole.text().data());
    nb::list shape;
    for (const std::size_t n : tensor.shape) shape.append(n);
    arrays.emplace_back(begin, nb::make_tuple(decoded(name), tensor.dtype, begin,
                                              begin + tensor.data.size(), nb::tuple(shape)));
  }
  nb::list entries;
  for (const auto& [begin, entry] : arrays) entries.append(entry);
  return nb::make_tuple(decoded(found.description), entries);
}

}  // namespace

Tensors tensors_of(nb::dict tensors, std::vector<Bytes>& kept) {
  Tensors found;
  for (const auto& [name, tensor] : tensors) {
    const nb::tuple fields = nb::cast<nb::tuple>(tensor);
    kept.emplace_back(fields[1]);
    std::vector<std::size_t> shape;
    if (!fields[2].is_none()) shape = nb::cast<std::vector<std::size_t>>(fields[2]);
    found.emplace(utf8_of(name),
                  Tensor{nb::cast<std::string>(fields[0]), shape, bytes_of(kept.back())});
  }
  return found;
}

ArrayViews arrays_of(nb::dict arrays, std::vector<Bytes>& kept) {
  ArrayViews found;
  for (const auto& [name, array] : arrays) {
    if (array.is_none()) continue;
    kept.emplace_back(array);
    found.put(utf8_of(name), bytes_of(kept.back()));
  }
  return found;
}

void bind_container(nb::module_& m) {
  m.def("parse_container", &container_parts, nb::arg("file"), nb::arg("what"));
  m.def(
      "loss_temperature",
      [](nb::handle learner, nb::handle given) {
        return loss_temperature(json_of(learner), json_of(given));
      },
      nb::arg("learner").none(), nb::arg("given").none());
  m.def(
      "read_calibration",
      [](nb::handle stored) {
        const CalibrationRecord read = read_calibration(json_of(stored));
        return nb::make_tuple(read.temperature, read.parts, read.error,
                              read.curve.empty() ? nb::object(nb::none())
                                                 : nb::object(nb::tuple(nb::cast(read.curve))));
      },
      nb::arg("stored"));
  m.def("highest_confidence", &highest_confidence, nb::arg("n_parts"));
  m.def(
      "confidence",
      [](const std::vector<double>& certainty, double p) { return Confidence(certainty)(p); },
      nb::arg("certainty"), nb::arg("p"));
}

}  // namespace structlearn::python
