// Names of features to column numbers: lists of strings and dictionaries, as users have them, read
// in one pass. Whatever is not of the plain types below is left to Python, which knows all kinds of
// tokens and says what is wrong with others. Nothing here needs NumPy: arrays go as buffers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "text/strings.hpp"

namespace structlearn::python {
namespace {

// UTF-8, with halves of surrogate pairs as three bytes like any other character: strings that
// differ have different bytes.
void append_utf8(PyObject* s, std::string& out) {
  const auto n = static_cast<std::size_t>(PyUnicode_GET_LENGTH(s));
  if (PyUnicode_IS_ASCII(s)) {
    out.append(static_cast<const char*>(PyUnicode_DATA(s)), n);
    return;
  }
  const int kind = PyUnicode_KIND(s);
  const void* data = PyUnicode_DATA(s);
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](std::uint32_t c, int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t c = PyUnicode_READ(kind, data, static_cast<Py_ssize_t>(i));
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6);
      tail(c, 0);
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12);
      tail(c, 6);
      tail(c, 0);
    } else {
      put(0xF0 | c >> 18);
      tail(c, 12);
      tail(c, 6);
      tail(c, 0);
    }
  }
}

class NameTable {
 public:
  std::size_t size() const { return names_.size(); }

  nb::list names() const {
    nb::list out;
    for (std::uint32_t id = 0; id < names_.size(); ++id) {
      const std::string_view s = names_[id];
      PyObject* decoded =
          PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogatepass");
      if (decoded == nullptr) throw nb::python_error();
      out.append(nb::steal(decoded));
    }
    return out;
  }

  // The columns of names, new ones for new names, or -1 where nothing is to be learned.
  nb::bytes columns(nb::list names, bool learn) {
    Reading reading(*this, learn, "");
    for (nb::handle name : names) {
      if (!PyUnicode_Check(name.ptr())) throw nb::type_error("a name is a string");
      reading.add(name.ptr(), nullptr);
    }
    reading.settle();
    return to_bytes(reading.ids);
  }

  // Examples with all their tokens: (site_ptr, number of features of each token, columns, values or
  // None where all are 1); None, and the table as it was, if some token is not of a plain type.
  nb::object read(nb::list examples, bool learn, const std::string& separator) {
    const std::size_t known = names_.size();
    Reading reading(*this, learn, separator);
    std::vector<std::int64_t> site_ptr{0}, lengths;
    for (nb::handle example : examples) {
      if (!is_list(example.ptr())) return undone(known);
      PyObject* const* tokens = PySequence_Fast_ITEMS(example.ptr());
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(example.ptr());
      for (Py_ssize_t t = 0; t < n; ++t) {
        const std::size_t before = reading.size();
        if (!reading.token(tokens[t])) return undone(known);
        lengths.push_back(static_cast<std::int64_t>(reading.size() - before));
      }
      site_ptr.push_back(site_ptr.back() + n);
    }
    reading.settle();
    nb::object values = nb::none();
    if (!reading.values.empty()) {
      reading.values.resize(reading.ids.size(), 1.0);
      bool ones = true;
      for (const double x : reading.values) {
        if (!std::isfinite(x)) return undone(known);  // Python says where it is
        ones = ones && x == 1.0;
      }
      if (!ones) values = to_bytes(reading.values);
    }
    return nb::make_tuple(to_bytes(site_ptr), to_bytes(lengths), to_bytes(reading.ids), values);
  }

 private:
  static bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

  nb::object undone(std::size_t known) {
    names_.keep_first(known);
    return nb::none();
  }

  // Strings lie all over memory, and so do their places in the table: they are looked up some
  // hundred at a time, so that one does not wait for the other.
  struct Reading {
    Reading(NameTable& names, bool learns, std::string between)
        : table(names.names_), learn(learns), separator(std::move(between)) {}

    std::size_t size() const { return ids.size() + pending; }

    // A feature: a name, or a name with the string that follows the separator.
    void add(PyObject* name, PyObject* value) {
      __builtin_prefetch(value ? value : name);
      __builtin_prefetch(reinterpret_cast<const char*>(value ? value : name) + 64);
      item[pending++] = {name, value};
      if (pending == kTogether) settle();
    }
    void number(PyObject* name, double x) {
      if (x != 1.0 || !values.empty()) {
        values.resize(size(), 1.0);
        values.push_back(x);
      }
      add(name, nullptr);
    }

    bool token(PyObject* o) {
      if (PyUnicode_CheckExact(o)) {
        add(o, nullptr);
        return true;
      }
      if (is_list(o)) return strings(nullptr, o);
      if (!PyDict_CheckExact(o)) return false;
      PyObject *name, *value;
      Py_ssize_t at = 0;
      while (PyDict_Next(o, &at, &name, &value)) {
        if (!PyUnicode_CheckExact(name)) return false;
        if (PyUnicode_CheckExact(value)) {
          add(name, value);
        } else if (PyBool_Check(value)) {
          number(name, value == Py_True ? 1.0 : 0.0);
        } else if (PyFloat_CheckExact(value)) {
          number(name, PyFloat_AS_DOUBLE(value));
        } else if (PyLong_CheckExact(value)) {
          const double x = PyLong_AsDouble(value);
          if (x == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
          }
          number(name, x);
        } else if (!is_list(value) || !strings(name, value)) {
          return false;
        }
      }
      return true;
    }

    bool strings(PyObject* name, PyObject* list) {
      PyObject* const* items = PySequence_Fast_ITEMS(list);
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
      for (Py_ssize_t i = 0; i < n; ++i) {
        if (!PyUnicode_CheckExact(items[i])) return false;
        name ? add(name, items[i]) : add(items[i], nullptr);
      }
      return true;
    }

    void settle() {
      joined.clear();
      for (std::size_t i = 0; i < pending; ++i) {
        PyObject* name = item[i].name;
        if (item[i].value == nullptr && PyUnicode_IS_ASCII(name)) {
          text[i] = {static_cast<const char*>(PyUnicode_DATA(name)),
                     static_cast<std::size_t>(PyUnicode_GET_LENGTH(name))};
        } else {
          begin[i] = joined.size();
          append_utf8(name, joined);
          if (item[i].value) {
            joined.append(separator);
            append_utf8(item[i].value, joined);
          }
          text[i] = {nullptr, joined.size() - begin[i]};
        }
      }
      for (std::size_t i = 0; i < pending; ++i) {
        if (text[i].data() == nullptr) text[i] = {joined.data() + begin[i], text[i].size()};
        hash[i] = text::hash_string(text[i]);
        table.prefetch(hash[i]);
      }
      for (std::size_t i = 0; i < pending; ++i) {
        const std::uint32_t id = learn ? table.add(text[i], hash[i]) : table.find(text[i], hash[i]);
        if (learn && id >= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
          throw std::length_error("more than two thousand million names of features");
        }
        ids.push_back(static_cast<std::int32_t>(id));  // absent: -1
      }
      pending = 0;
    }

    static constexpr std::size_t kTogether = 128;
    struct Item {
      PyObject *name, *value;
    };
    text::StringTable& table;
    bool learn;
    std::string separator, joined;
    std::size_t pending = 0;
    Item item[kTogether];
    std::size_t begin[kTogether];
    std::string_view text[kTogether];
    std::uint64_t hash[kTogether];
    std::vector<std::int32_t> ids;
    std::vector<double> values;  // empty while all are 1
  };

  text::StringTable names_;
};

}  // namespace

void bind_names(nb::module_& m) {
  nb::class_<NameTable>(m, "NameTable")
      .def(nb::init<>())
      .def("__len__", &NameTable::size)
      .def("names", &NameTable::names)
      .def("columns", &NameTable::columns, nb::arg("names"), nb::arg("learn"))
      .def("read", &NameTable::read, nb::arg("examples"), nb::arg("learn"), nb::arg("separator"));
}

}  // namespace structlearn::python
