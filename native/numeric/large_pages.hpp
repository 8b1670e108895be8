// Memory for large arrays in pages as large as the system gives: fewer page faults while it is
// filled, and reads at random do not wait for the page's address too.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace structlearn {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21, kCacheLine = 64;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= kPage ? kPage : kCacheLine};
  }
  T* allocate(std::size_t n) {
    void* memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // Whole pages: of the last one most might never be used.
    if (const std::size_t whole = n * sizeof(T) / kPage * kPage) {
      madvise(memory, whole, MADV_HUGEPAGE);
    }
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n)); }
  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

// The same with nothing in it yet: numbers that are all written before they are read.
template <class T>
struct LargeRelease {
  std::size_t n = 0;
  void operator()(T* memory) const { LargePages<T>().deallocate(memory, n); }
};
template <class T>
using LargeBuffer = std::unique_ptr<T[], LargeRelease<T>>;
template <class T>
LargeBuffer<T> large_buffer(std::size_t n) {
  return LargeBuffer<T>(LargePages<T>().allocate(n), LargeRelease<T>{n});
}

}  // namespace structlearn
