// A large array of numbers that is read at random: in pages as large as the system has, because
// with small ones most reads would wait for the page's address too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace structlearn::parsing {

template <class T>
class LargeArray {
 public:
  LargeArray() = default;
  explicit LargeArray(std::size_t n) : size_(n) {
    if (n == 0) return;
    const std::size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
    data_.reset(static_cast<T*>(::operator new(bytes, std::align_val_t{kPage})));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    ::madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
    std::fill_n(data_.get(), n, T{});
  }
  std::size_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  struct Free {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t{kPage}); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace structlearn::parsing
