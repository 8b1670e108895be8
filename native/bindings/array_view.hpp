// A borrowed view of a NumPy array through the buffer protocol: several times cheaper than the
// general conversion, which matters where a whole call takes microseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "bindings/bindings.hpp"

namespace structlearn::python {

// Valid while the array is alive, which the caller's arguments see to.
template <class T>
class ArrayView {
 public:
  static constexpr std::size_t kMaxRank = 16;

  // Throws TypeError unless `value` is a C-ordered array of T: Python converts and tries again.
  ArrayView(nb::handle value, const char* what, bool writable = false) {
    Py_buffer buffer;
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (!PyObject_CheckBuffer(value.ptr()) ||
        PyObject_GetBuffer(value.ptr(), &buffer, flags) != 0) {
      PyErr_Clear();
      refuse(what);
    }
    const bool fits = is_format(buffer.format) && buffer.itemsize == sizeof(T) &&
                      buffer.ndim <= static_cast<int>(kMaxRank);
    if (fits) {
      data_ = static_cast<T*>(buffer.buf);
      rank_ = static_cast<std::size_t>(buffer.ndim);
      for (std::size_t i = 0; i < rank_; ++i) shape_[i] = static_cast<std::size_t>(buffer.shape[i]);
    }
    PyBuffer_Release(&buffer);
    if (!fits) refuse(what);
  }

  T* data() const { return data_; }
  std::size_t ndim() const { return rank_; }
  std::size_t shape(std::size_t i) const { return shape_[i]; }
  std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i < rank_; ++i) n *= shape_[i];
    return n;
  }

 private:
  static bool is_format(const char* format) {
    if (format == nullptr || format[0] == '\0' || format[1] != '\0') return false;
    if constexpr (std::is_same_v<T, double>) return format[0] == 'd';
    if constexpr (std::is_same_v<T, std::int64_t>) return format[0] == 'l' || format[0] == 'q';
    return false;
  }
  [[noreturn]] static void refuse(const char* what) {
    throw nb::type_error((std::string(what) + " must be a contiguous array").c_str());
  }

  T* data_ = nullptr;
  std::size_t rank_ = 0;
  std::array<std::size_t, kMaxRank> shape_{};
};

}  // namespace structlearn::python
