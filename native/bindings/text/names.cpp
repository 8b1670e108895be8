// The table of feature names. Nothing here needs NumPy: arrays go as buffers.
#include "bindings/text/names.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/buffers.hpp"
#include "bindings/text/token_reading.hpp"
#include "models/stored_chain.hpp"

namespace structlearn::python {
namespace {

nb::object name_at(const NameTable& table, std::size_t column) {
  if (column >= table.strings.size()) throw nb::index_error("no such name");
  const std::string_view s = table.strings[static_cast<std::uint32_t>(column)];
  PyObject* decoded =
      PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogatepass");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal(decoded);
}

nb::list names_of(const NameTable& table) {
  nb::list out;
  for (std::size_t column = 0; column < table.strings.size(); ++column) {
    out.append(name_at(table, column));
  }
  return out;
}

// All names one after another, and where each ends.
nb::tuple joined(const NameTable& table) {
  std::string text;
  std::vector<std::uint64_t> ends;
  for (std::uint32_t column = 0; column < table.strings.size(); ++column) {
    text.append(table.strings[column]);
    ends.push_back(text.size());
  }
  return nb::make_tuple(nb::bytes(text.data(), text.size()), to_bytes(ends));
}

NameTable read_joined(nb::handle text, nb::handle ends) {
  const Bytes letters(text), numbers(ends);
  const std::string_view whole = letters.text();
  const nb::object decoded = nb::steal(
      PyUnicode_DecodeUTF8(whole.data(), static_cast<Py_ssize_t>(whole.size()), "surrogatepass"));
  if (!decoded.is_valid()) throw nb::python_error();
  return {joined_names(whole, numbers.as<std::uint64_t>("the ends of names"))};
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
      .def("__getitem__", &name_at, nb::arg("column"))
      .def("joined", &joined)
      .def_static("from_joined", &read_joined, nb::arg("text"), nb::arg("ends"))
      .def("names", &names_of)
      .def("add", &add, nb::arg("names"))
      .def("read", &read, nb::arg("examples"), nb::arg("learn"), nb::arg("separator"),
           nb::arg("single_sites"));
}

}  // namespace structlearn::python
