// The table of feature names. Whatever is not of the plain types of TokenReading is left to Python,
// which knows all kinds of tokens and says what is wrong with others. Nothing here needs NumPy:
// arrays go as buffers.
#include "bindings/text/names.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>

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

// The columns of names, new ones for new names, or -1 where nothing is to be learned.
nb::bytes columns(NameTable& table, nb::list names, bool learn) {
  TokenReading reading(table.strings, learn, "");
  for (nb::handle name : names) {
    if (!PyUnicode_Check(name.ptr())) throw nb::type_error("a name is a string");
    reading.add(name.ptr(), nullptr);
  }
  reading.settle();
  return to_bytes(reading.ids);
}

// Examples with all their tokens: (site_ptr, number of features of each token, columns, values or
// None where all are 1); None, and the table as it was, if some token is not of a plain type.
nb::object read(NameTable& table, nb::list examples, bool learn, const std::string& separator) {
  const std::size_t known = table.strings.size();
  TokenReading reading(table.strings, learn, separator);
  std::vector<std::int64_t> site_ptr{0}, lengths;
  if (!reading.examples(examples.ptr(), site_ptr, lengths)) {
    table.strings.keep_first(known);
    return nb::none();
  }
  const auto& values = reading.values;
  const bool ones = std::all_of(values.begin(), values.end(), [](double x) { return x == 1.0; });
  return nb::make_tuple(to_bytes(site_ptr), to_bytes(lengths), to_bytes(reading.ids),
                        ones ? nb::none() : nb::object(to_bytes(values)));
}

}  // namespace

void bind_names(nb::module_& m) {
  nb::class_<NameTable>(m, "NameTable")
      .def(nb::init<>())
      .def("__len__", [](const NameTable& table) { return table.strings.size(); })
      .def("names", &names_of)
      .def("columns", &columns, nb::arg("names"), nb::arg("learn"))
      .def("read", &read, nb::arg("examples"), nb::arg("learn"), nb::arg("separator"));
}

}  // namespace structlearn::python
