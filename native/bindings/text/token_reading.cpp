#include "bindings/text/token_reading.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"

namespace structlearn::python {
namespace {

constexpr int kDeepest = 32;  // mappings in mappings; deeper ones go the general way

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

// What Python returned, or what it raised.
nb::object owned(PyObject* o) {
  if (o == nullptr) throw nb::python_error();
  return nb::steal(o);
}

bool is_instance(PyObject* o, const char* module, const char* kind) {
  const nb::object type = nb::module_::import_(module).attr(kind);
  const int found = PyObject_IsInstance(o, type.ptr());
  if (found < 0) throw nb::python_error();
  return found == 1;
}

bool is_mapping(PyObject* o) {
  return PyDict_Check(o) || is_instance(o, "collections.abc", "Mapping");
}

// NumPy's truth values are no numbers to Python.
bool is_real(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || is_instance(o, "numbers", "Real") ||
         std::string_view(Py_TYPE(o)->tp_name).substr(0, 10) == "numpy.bool";
}

const char* name_of_type(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  const char* dot = std::strrchr(name, '.');
  return dot ? dot + 1 : name;
}

// The items of a set in order: sets have none, models must. Everything else as it comes.
nb::object in_order(PyObject* o) {
  if (!PyAnySet_Check(o)) return owned(PyObject_GetIter(o));
  const nb::object list = owned(PySequence_List(o));
  if (PyList_Sort(list.ptr()) != 0) throw nb::python_error();
  return owned(PyObject_GetIter(list.ptr()));
}

template <class... Arguments>
[[noreturn]] void throw_type_error(const char* format, Arguments... arguments) {
  PyErr_Format(PyExc_TypeError, format, arguments...);
  throw nb::python_error();
}

void check_name(PyObject* o) {
  if (PyUnicode_Check(o)) return;
  throw_type_error(
      "a feature in a list is a string, not %s; give numbers in a dictionary or as an array",
      name_of_type(o));
}

// A mapping may be inside itself.
struct Deeper {
  Deeper() {
    if (Py_EnterRecursiveCall(" while reading the features of a token")) throw nb::python_error();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

template <class Each>
void for_items(const nb::object& iterator, Each&& each) {
  while (PyObject* next = PyIter_Next(iterator.ptr())) {
    const nb::object item = nb::steal(next);
    each(item.ptr());
  }
  if (PyErr_Occurred()) throw nb::python_error();
}

}  // namespace

TokenReading::TokenReading(const text::StringTable& names, std::string separator)
    : table_(names), learned_(nullptr), separator_(std::move(separator)) {}

TokenReading::TokenReading(text::StringTable& names, std::string separator, bool learns)
    : table_(names), learned_(learns ? &names : nullptr), separator_(std::move(separator)) {}

void TokenReading::examples(PyObject* list, bool single_sites, text::NamedRows& out) {
  const std::size_t known = table_.size();
  single_sites_ = single_sites;
  out_ = &out;
  const nb::object held = owned(PySequence_Fast(list, "X is a list of examples"));
  try {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(held.ptr()); ++i) {
      read_tokens(PySequence_Fast_GET_ITEM(held.ptr(), i), static_cast<std::size_t>(i), out);
    }
    settle();
  } catch (...) {
    pending_ = 0;
    if (learned_) learned_->keep_first(known);
    throw;
  }
  if (!out.value.empty()) out.value.resize(out.id.size(), 1.0);
}

void TokenReading::example(PyObject* tokens, std::size_t number, text::NamedRows& out) {
  out_ = &out;
  try {
    read_tokens(tokens, number, out);
    settle();
  } catch (...) {
    pending_ = 0;
    throw;
  }
  if (!out.value.empty()) out.value.resize(out.id.size(), 1.0);
}

void TokenReading::names(PyObject* strings, text::NamedRows& out) {
  out_ = &out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(strings); ++i) {
    PyObject* name = PyList_GET_ITEM(strings, i);
    if (!PyUnicode_Check(name)) throw nb::type_error("a name is a string");
    add(name, nullptr);
  }
  settle();
}

void TokenReading::read_tokens(PyObject* tokens, std::size_t number, text::NamedRows& out) {
  example_ = number;
  position_ = 0;
  nb::object held;
  if (!is_list(tokens)) {
    settle();  // what waits is borrowed, and Python may do anything now
    held = as_list(tokens, number);
    tokens = held.ptr();
  }
  // Whatever is asked of an object may change the list.
  for (Py_ssize_t t = 0; t < PySequence_Fast_GET_SIZE(tokens); ++t, ++position_) {
    PyObject* o = PySequence_Fast_GET_ITEM(tokens, t);
    const std::size_t before = size();
    if (!token(o)) {
      settle();
      out.id.resize(before);
      if (out.value.size() > before) out.value.resize(before);
      path_.clear();
      const nb::object alive = nb::borrow(o);
      try {
        general_token(o);
      } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) throw;
        refuse(nb::str(error.value()).ptr());
      }
    }
    out.end.push_back(size());
  }
  if (held.is_valid()) settle();  // its strings end with it
  out.first.push_back(out.end.size());
}

nb::object TokenReading::as_list(PyObject* tokens, std::size_t number) {
  if (PyUnicode_Check(tokens)) {
    const nb::object start = owned(PyUnicode_Substring(tokens, 0, 40));
    PyErr_Format(PyExc_ValueError,
                 "example %zu is a string, %R: an example is a list of tokens, as .split() makes "
                 "them, and X a list of examples, [sentence] if there is only one",
                 number, start.ptr());
    throw nb::python_error();
  }
  if (is_mapping(tokens)) {
    PyErr_Format(PyExc_ValueError,
                 "example %zu is one token, a %s: pass a list of sentences, each a list of tokens, "
                 "[sentence] if there is only one",
                 number, name_of_type(tokens));
    throw nb::python_error();
  }
  if (!is_instance(tokens, "collections.abc", "Sequence") &&
      !PyObject_HasAttrString(tokens, "__array__")) {
    PyErr_Format(PyExc_ValueError, "example %zu is of type %s, where a list of tokens is needed",
                 number, name_of_type(tokens));
    throw nb::python_error();
  }
  return owned(PySequence_List(tokens));
}

void TokenReading::refuse(PyObject* reason) {
  if (single_sites_) {
    PyErr_Format(PyExc_ValueError, "example %zu: %S", position_, reason);
  } else {
    PyErr_Format(PyExc_ValueError, "example %zu, position %zu: %S", example_, position_, reason);
  }
  throw nb::python_error();
}

// -- tokens of plain types -----------------------------------------------------------------------
//
// Each returns false where something is of another type; no code of Python's is run.

bool TokenReading::token(PyObject* o) {
  if (PyUnicode_CheckExact(o)) {
    add(o, nullptr);
    return true;
  }
  return is_list(o) ? strings(nullptr, o) : PyDict_CheckExact(o) && dictionary(o, 0);
}

bool TokenReading::dictionary(PyObject* o, int depth) {
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

// The strings of a list, after the name of the list if it has one; without one (name, number) too.
bool TokenReading::strings(PyObject* name, PyObject* list) {
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

bool TokenReading::pair(PyObject* o) {
  if (!PyTuple_CheckExact(o) || PyTuple_GET_SIZE(o) != 2) return false;
  PyObject* name = PyTuple_GET_ITEM(o, 0);
  return PyUnicode_CheckExact(name) && numeric(name, PyTuple_GET_ITEM(o, 1));
}

bool TokenReading::numeric(PyObject* name, PyObject* value) {
  double x = 0.0;
  if (PyBool_Check(value)) {
    x = value == Py_True ? 1.0 : 0.0;
  } else if (PyFloat_Check(value)) {
    x = PyFloat_AS_DOUBLE(value);
  } else if (PyLong_CheckExact(value)) {
    x = PyLong_AsDouble(value);
    if (x == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
  } else {
    return false;
  }
  if (!std::isfinite(x)) return false;
  number(x);
  add(name, nullptr);
  return true;
}

// -- tokens of any type --------------------------------------------------------------------------
//
// What is asked here runs Python's code: nothing that is only borrowed may wait meanwhile.

void TokenReading::general_token(PyObject* o) {
  if (PyUnicode_Check(o)) {
    add_text(o, nullptr);
  } else if (is_mapping(o)) {
    general_mapping(o);
  } else if (PySequence_Check(o) || PyObject_HasAttrString(o, "__iter__")) {
    for_items(in_order(o), [&](PyObject* item) {
      if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 2 && !PyAnySet_Check(o) &&
          is_real(PyTuple_GET_ITEM(item, 1))) {
        check_name(PyTuple_GET_ITEM(item, 0));
        general_number(PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1));
      } else {
        check_name(item);
        add_text(item, nullptr);
      }
    });
  } else {
    throw_type_error("a token is a string, a list of strings or a dictionary, not %s",
                     name_of_type(o));
  }
}

void TokenReading::general_mapping(PyObject* o) {
  const Deeper deeper;
  const nb::object items = owned(PyMapping_Items(o));
  for_items(owned(PyObject_GetIter(items.ptr())), [&](PyObject* item) {
    const nb::object entry = owned(PySequence_Tuple(item));
    if (PyTuple_GET_SIZE(entry.ptr()) != 2) throw_type_error("an item of a mapping is no pair");
    PyObject* key = PyTuple_GET_ITEM(entry.ptr(), 0);
    if (PyBytes_Check(key)) {
      throw_type_error("the name of a feature is a string, not bytes: %R", key);
    }
    const nb::object name = owned(PyObject_Str(key));
    general_entry(name.ptr(), PyTuple_GET_ITEM(entry.ptr(), 1));
  });
}

void TokenReading::general_entry(PyObject* name, PyObject* value) {
  if (PyUnicode_Check(value)) {
    add_text(name, value);
  } else if (is_real(value)) {
    general_number(name, value);
  } else if (is_mapping(value)) {
    const std::size_t above = path_.size();
    append_utf8(name, path_);
    path_.push_back(':');
    general_mapping(value);
    path_.resize(above);
  } else if (PyAnySet_Check(value) || PyList_Check(value) || PyTuple_Check(value)) {
    for_items(in_order(value), [&](PyObject* item) {
      check_name(item);
      add_text(name, item);
    });
  } else {
    const nb::object whole = whole_name(name);
    if (PyObject_HasAttrString(value, "__array__")) {
      throw_type_error(
          "feature %R has a value of type %s; give the numbers of a vector as a dictionary, "
          "{%R: dict(enumerate(vector.tolist()))}, or all features of a sentence as one array",
          whole.ptr(), name_of_type(value), whole.ptr());
    }
    throw_type_error(
        "feature %R has a value of type %s; it may be a string, a number, or a list or dictionary "
        "of these",
        whole.ptr(), name_of_type(value));
  }
}

void TokenReading::general_number(PyObject* name, PyObject* value) {
  double x = PyFloat_AsDouble(value);
  if (x == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
    PyErr_Clear();
    x = std::numeric_limits<double>::infinity();
  }
  if (!std::isfinite(x)) {
    const nb::object shown = owned(PyFloat_FromDouble(x));
    throw_type_error("feature %R is %S; features must be finite", whole_name(name).ptr(),
                     shown.ptr());
  }
  number(x);
  add_text(name, nullptr);
}

nb::object TokenReading::whole_name(PyObject* name) const {
  std::string text = path_;
  append_utf8(name, text);
  return owned(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

// -- names and their numbers ---------------------------------------------------------------------

// The value of the feature that is added next.
void TokenReading::number(double x) {
  std::vector<double>& values = out_->value;
  if (x == 1.0 && values.empty()) return;
  values.resize(size(), 1.0);
  values.push_back(x);
}

// A feature: a name, or a name with the string that follows the separator. Both are borrowed until
// they are settled.
void TokenReading::add(PyObject* name, PyObject* value) {
  if (!path_.empty()) return add_text(name, value);
  __builtin_prefetch(value ? value : name);
  __builtin_prefetch(reinterpret_cast<const char*>(value ? value : name) + 64);
  waiting_[pending_++] = {name, value};
  if (pending_ == kTogether) settle();
}

// The same, where nothing is borrowed.
void TokenReading::add_text(PyObject* name, PyObject* value) {
  begin_[pending_] = joined_.size();
  joined_.append(path_);
  append_utf8(name, joined_);
  if (value) append_value(value);
  text_[pending_] = {nullptr, joined_.size() - begin_[pending_]};
  waiting_[pending_++] = {nullptr, nullptr};
  if (pending_ == kTogether) settle();
}

void TokenReading::append_value(PyObject* value) {
  joined_.append(separator_);
  append_utf8(value, joined_);
}

// Looks up what waits.
void TokenReading::settle() {
  for (std::size_t i = 0; i < pending_; ++i) {
    const auto [name, value] = waiting_[i];
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
        learned_ ? learned_->add(text_[i], hash_[i]) : table_.find(text_[i], hash_[i]);
    if (learned_ && id >= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
      throw std::length_error("more than two thousand million names of features");
    }
    out_->id.push_back(static_cast<std::int32_t>(id));  // absent: -1
  }
  joined_.clear();
  pending_ = 0;
}

}  // namespace structlearn::python
