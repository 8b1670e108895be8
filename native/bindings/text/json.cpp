#include "bindings/json.hpp"

#include <cstdint>
#include <stdexcept>

namespace structlearn::python {

using text::Json;

std::string utf8_of(nb::handle text) {
  Py_ssize_t size = 0;
  if (const char* plain = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {plain, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

Json json_of(nb::handle object) {
  PyObject* const o = object.ptr();
  if (o == Py_None) return {};
  if (PyBool_Check(o)) return Json(o == Py_True);
  if (PyUnicode_Check(o)) return Json(utf8_of(object));
  if (PyFloat_Check(o)) return Json(PyFloat_AS_DOUBLE(o));
  if (PyLong_Check(o)) {
    int too_large = 0;
    const long long x = PyLong_AsLongLongAndOverflow(o, &too_large);
    if (too_large != 0) throw std::invalid_argument("a whole number that is too large");
    return Json(static_cast<std::int64_t>(x));
  }
  if (PyList_Check(o) || PyTuple_Check(o)) {
    Json::List items;
    for (nb::handle item : object) items.push_back(json_of(item));
    return Json(std::move(items));
  }
  if (PyDict_Check(o)) {
    Json::Object entries;
    for (const auto& [name, value] : nb::borrow<nb::dict>(object)) {
      if (!PyUnicode_Check(name.ptr())) throw std::invalid_argument("a name that is no string");
      entries.emplace_back(utf8_of(name), json_of(value));
    }
    return Json(std::move(entries));
  }
  throw std::invalid_argument("a value of type " + std::string(Py_TYPE(o)->tp_name) +
                              ", which files do not hold");
}

}  // namespace structlearn::python
