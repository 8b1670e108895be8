// Names of features as column numbers, and tokens as Python has them read into such numbers.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "text/strings.hpp"

namespace structlearn::python {

// UTF-8, with halves of surrogate pairs as three bytes like any other character: strings that
// differ have different bytes.
inline void append_utf8(PyObject* s, std::string& out) {
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

inline bool is_list(PyObject* o) {
  return PyList_CheckExact(o) || PyTuple_CheckExact(o);
}

// Tokens of plain types: strings, lists of strings and of (name, number), dictionaries of strings,
// numbers, lists of strings and such dictionaries.
//
// Strings lie all over memory, and so do their places in the table: they are looked up some
// hundred at a time, so that one does not wait for the other.
class TokenReading {
 public:
  // `learn`: new names get new columns.
  TokenReading(text::StringTable& names, bool learns, std::string_view between)
      : table_(names), learn_(learns), separator_(between) {}

  std::vector<std::int32_t> ids;  // -1: not known
  std::vector<double> values;     // empty while all are 1

  std::size_t size() const { return ids.size() + pending_; }

  // A feature: a name, or a name with the string that follows the separator.
  void add(PyObject* name, PyObject* value) {
    if (path_.empty()) {
      __builtin_prefetch(value ? value : name);
      __builtin_prefetch(reinterpret_cast<const char*>(value ? value : name) + 64);
      item_[pending_++] = {name, value};
    } else {
      begin_[pending_] = joined_.size();
      joined_.append(path_);
      append_utf8(name, joined_);
      if (value) append_value(value);
      text_[pending_] = {nullptr, joined_.size() - begin_[pending_]};
      item_[pending_++] = {nullptr, nullptr};
    }
    if (pending_ == kTogether) settle();
  }

  // False if the token is of another kind.
  bool token(PyObject* o) {
    if (PyUnicode_CheckExact(o)) {
      add(o, nullptr);
      return true;
    }
    return is_list(o) ? strings(nullptr, o) : PyDict_CheckExact(o) && dictionary(o, 0);
  }

  // All examples with their tokens; `site_ptr` begins with 0. False if a token is of another kind,
  // or a value is not finite.
  bool examples(PyObject* list, std::vector<std::int64_t>& site_ptr,
                std::vector<std::int64_t>& lengths) {
    const Py_ssize_t n_examples = PySequence_Fast_GET_SIZE(list);
    for (Py_ssize_t i = 0; i < n_examples; ++i) {
      PyObject* example = PySequence_Fast_ITEMS(list)[i];
      if (!is_list(example)) return false;
      PyObject* const* tokens = PySequence_Fast_ITEMS(example);
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(example);
      for (Py_ssize_t t = 0; t < n; ++t) {
        const std::size_t before = size();
        if (!token(tokens[t])) return false;
        lengths.push_back(static_cast<std::int64_t>(size() - before));
      }
      site_ptr.push_back(site_ptr.back() + n);
    }
    settle();
    if (!values.empty()) values.resize(ids.size(), 1.0);
    for (const double x : values) {
      if (!std::isfinite(x)) return false;  // Python says where it is
    }
    return true;
  }

  // Looks up what waits.
  void settle() {
    for (std::size_t i = 0; i < pending_; ++i) {
      const auto [name, value] = item_[i];
      if (name == nullptr) continue;  // joined already
      if (value == nullptr && PyUnicode_IS_ASCII(name)) {
        text_[i] = {static_cast<const char*>(PyUnicode_DATA(name)),
                    static_cast<std::size_t>(PyUnicode_GET_LENGTH(name))};
      } else {
        begin_[i] = joined_.size();
        append_utf8(name, joined_);
        if (value) append_value(value);
        text_[i] = {nullptr, joined_.size() - begin_[i]};
      }
    }
    for (std::size_t i = 0; i < pending_; ++i) {
      if (text_[i].data() == nullptr) text_[i] = {joined_.data() + begin_[i], text_[i].size()};
      hash_[i] = text::hash_string(text_[i]);
      table_.prefetch(hash_[i]);
    }
    for (std::size_t i = 0; i < pending_; ++i) {
      const std::uint32_t id =
          learn_ ? table_.add(text_[i], hash_[i]) : table_.find(text_[i], hash_[i]);
      if (learn_ && id >= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
        throw std::length_error("more than two thousand million names of features");
      }
      ids.push_back(static_cast<std::int32_t>(id));  // absent: -1
    }
    joined_.clear();
    pending_ = 0;
  }

 private:
  static constexpr std::size_t kTogether = 128;
  static constexpr int kDeepest = 32;  // dictionaries in dictionaries; deeper ones are Python's
  struct Item {
    PyObject *name, *value;
  };

  void append_value(PyObject* value) {
    joined_.append(separator_);
    append_utf8(value, joined_);
  }

  void number(PyObject* name, double x) {
    if (x != 1.0 || !values.empty()) {
      values.resize(size(), 1.0);
      values.push_back(x);
    }
    add(name, nullptr);
  }

  // False if it is no number of a plain type.
  bool numeric(PyObject* name, PyObject* value) {
    if (PyBool_Check(value)) {
      number(name, value == Py_True ? 1.0 : 0.0);
    } else if (PyFloat_Check(value)) {
      number(name, PyFloat_AS_DOUBLE(value));
    } else if (PyLong_CheckExact(value)) {
      const double x = PyLong_AsDouble(value);
      if (x == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
      number(name, x);
    } else {
      return false;
    }
    return true;
  }

  bool dictionary(PyObject* o, int depth) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(o, &at, &name, &value)) {
      if (!PyUnicode_CheckExact(name)) return false;
      if (PyUnicode_CheckExact(value)) {
        add(name, value);
      } else if (PyDict_CheckExact(value)) {
        if (depth == kDeepest) return false;
        const std::size_t above = path_.size();
        append_utf8(name, path_);
        path_.push_back(':');
        if (!dictionary(value, depth + 1)) return false;
        path_.resize(above);
      } else if (!numeric(name, value) && (!is_list(value) || !strings(name, value))) {
        return false;
      }
    }
    return true;
  }

  // The strings of a list, after the name of the list if it has one; without one (name, number)
  // too.
  bool strings(PyObject* name, PyObject* list) {
    PyObject* const* items = PySequence_Fast_ITEMS(list);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (PyUnicode_CheckExact(items[i])) {
        name ? add(name, items[i]) : add(items[i], nullptr);
      } else if (name != nullptr || !pair(items[i])) {
        return false;
      }
    }
    return true;
  }

  bool pair(PyObject* o) {
    if (!PyTuple_CheckExact(o) || PyTuple_GET_SIZE(o) != 2) return false;
    PyObject* name = PyTuple_GET_ITEM(o, 0);
    return PyUnicode_CheckExact(name) && numeric(name, PyTuple_GET_ITEM(o, 1));
  }

  text::StringTable& table_;
  bool learn_;
  std::string_view separator_;
  std::string joined_, path_;  // path: the names of the dictionaries around, each with a colon
  std::size_t pending_ = 0;
  Item item_[kTogether];
  std::size_t begin_[kTogether];
  std::string_view text_[kTogether];
  std::uint64_t hash_[kTogether];
};

// A table of names that Python and models share.
struct NameTable {
  text::StringTable strings;
};

}  // namespace structlearn::python
