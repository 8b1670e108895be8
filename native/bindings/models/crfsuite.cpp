// CRFsuite's model files, for Python.
#include <nanobind/stl/string.h>

#include "bindings/buffers.hpp"
#include "models/crfsuite_writer.hpp"

namespace structlearn::python {
namespace {

std::vector<std::string_view> texts_of(nb::list names) {
  std::vector<std::string_view> texts;
  for (nb::handle name : names) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    texts.emplace_back(text, static_cast<std::size_t>(size));
  }
  return texts;
}

// Buffers: uint32 row pointers and columns, doubles for the weights.
nb::bytes crfsuite_bytes(nb::list labels, nb::list attributes, nb::handle row_ptr,
                         nb::handle column, nb::handle weight, nb::handle transition) {
  const Bytes rows(row_ptr), columns(column), weights(weight), pairs(transition);
  const std::string file =
      crfsuite_file({texts_of(labels), texts_of(attributes), rows.as<std::uint32_t>("row_ptr"),
                     columns.as<std::uint32_t>("column"), weights.as<double>("weight"),
                     pairs.as<double>("transition")});
  return nb::bytes(file.data(), file.size());
}

}  // namespace

void bind_crfsuite(nb::module_& m) {
  m.def("crfsuite_bytes", &crfsuite_bytes, nb::arg("labels"), nb::arg("attributes"),
        nb::arg("row_ptr"), nb::arg("column"), nb::arg("weight"), nb::arg("transition"));
}

}  // namespace structlearn::python
