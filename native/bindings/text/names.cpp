// The table of feature names. Nothing here needs NumPy: arrays go as buffers.
#include "bindings/text/names.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/buffers.hpp"
#include "bindings/text/token_reading.hpp"

namespace structlearn::python {
namespace {

nb::list names_of(const NameTable& table) {
  nb::list out;
  for (std::uint32_t id = 0; id < table.strings.size(); ++id) {
    const std::string_view s = table.strings[id];
    PyObject* decoded =
        PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogatepass");
    if (decoded == nullptr) throw nb::python_error();
    out.append(nb::steal(decoded));
  }
  return out;
}

// Adds names, each at its place; those that are there already are left out.
void add(NameTable& table, nb::list names) {
  text::NamedRows rows;
  TokenReading(table.strings, "", true).names(names.ptr(), rows);
}

// Examples with all their tokens: (site_ptr, number of features of each token, columns, values or
// None where all are 1). Columns are -1 for names that are not known and not learned.
nb::tuple read(NameTable& table, nb::handle examples, bool learn, const std::string& separator,
               bool single_sites) {
  text::NamedRows rows;
  TokenReading(table.strings, separator, learn).examples(examples.ptr(), single_sites, rows);
  const std::vector<std::int64_t> site_ptr(rows.first.begin(), rows.first.end());
  std::vector<std::int64_t> lengths;
  for (std::size_t t = 0; t < rows.end.size(); ++t) {
    lengths.push_back(static_cast<std::int64_t>(rows.end[t] - rows.begin(t)));
  }
  const auto& values = rows.value;
  const bool ones = std::all_of(values.begin(), values.end(), [](double x) { return x == 1.0; });
  return nb::make_tuple(to_bytes(site_ptr), to_bytes(lengths), to_bytes(rows.id),
                        ones ? nb::none() : nb::object(to_bytes(values)));
}

}  // namespace

void bind_names(nb::module_& m) {
  nb::class_<NameTable>(m, "NameTable")
      .def(nb::init<>())
      .def("__len__", [](const NameTable& table) { return table.strings.size(); })
      .def("names", &names_of)
      .def("add", &add, nb::arg("names"))
      .def("read", &read, nb::arg("examples"), nb::arg("learn"), nb::arg("separator"),
           nb::arg("single_sites"));
}

}  // namespace structlearn::python
