// What the bindings of texts share: buffers instead of arrays, and checks of arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bindings.hpp"
#include "text/corpus.hpp"
#include "text/features.hpp"

namespace structlearn::python {

// A view of anything with a contiguous buffer, whatever it says its items are; holds the buffer.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_C_CONTIGUOUS) != 0) {
      throw nb::python_error();
    }
    held_ = true;
  }
  Bytes(Bytes&& other) noexcept : buffer_(other.buffer_), held_(other.held_) {
    other.held_ = false;
  }
  Bytes& operator=(Bytes&&) = delete;
  ~Bytes() {
    if (!held_) return;
    nb::gil_scoped_acquire gil;
    PyBuffer_Release(&buffer_);
  }
  std::string_view text() const {
    return {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }
  template <class T>
  std::span<const T> as(const char* what) const {
    if (!held_ || buffer_.len == 0) return {};
    if (buffer_.len % static_cast<Py_ssize_t>(sizeof(T)) != 0 ||
        reinterpret_cast<std::uintptr_t>(buffer_.buf) % alignof(T) != 0) {
      throw std::invalid_argument(std::string(what) + " is not a whole number of items in place");
    }
    return {static_cast<const T*>(buffer_.buf), static_cast<std::size_t>(buffer_.len) / sizeof(T)};
  }

 private:
  Py_buffer buffer_{};
  bool held_ = false;
};

// The items of a buffer.
template <class T>
std::vector<T> copied(nb::handle buffer, const char* what) {
  const Bytes bytes(buffer);
  const auto items = bytes.as<T>(what);
  return {items.begin(), items.end()};
}

template <class T>
nb::bytes to_bytes(const std::vector<T>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline bool is_list(PyObject* o) {
  return PyList_CheckExact(o) || PyTuple_CheckExact(o);
}

// A match of bytes may have torn a character.
inline nb::str text_of(std::string_view s) {
  PyObject* text = PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(text);
}

inline text::Format format_of(const std::string& name) {
  if (name == "columns") return text::Format::kColumns;
  if (name == "conllu") return text::Format::kConllu;
  throw std::invalid_argument("format must be 'columns' or 'conllu', got '" + name + "'");
}

inline void check_sentence(const text::Corpus& corpus, std::size_t i) {
  if (i >= corpus.sentences()) throw nb::index_error("no such sentence");
}
inline void check_segment(const text::Corpus& corpus, std::size_t sentence, std::size_t begin,
                          std::size_t end) {
  check_sentence(corpus, sentence);
  const std::size_t n = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
  if (begin >= end || end > n) throw nb::index_error("no such segment");
}
inline void check_column(const text::Corpus& corpus, std::size_t c) {
  if (c >= corpus.columns().size()) throw nb::index_error("no such column");
}

inline void check_columns(const text::FeatureSet& features, const text::Corpus& corpus) {
  if (corpus.tokens() > 0 && corpus.columns().size() < features.columns_needed()) {
    throw text::BadLine(corpus.line_number(0),
                        "the features read column " + std::to_string(features.columns_needed()) +
                            ", the file has " + std::to_string(corpus.columns().size()));
  }
}

}  // namespace structlearn::python
