// Memory of a large array that is read for the last time goes back while it is read.
#pragma once

#include <cstddef>

#include "numeric/large_pages.hpp"

namespace structlearn {

// Gives the memory before `end` back, in whole pages, where the system takes it: what was there is
// lost, and the array stays.
template <class T>
void give_back(LargeArray<T>& array, std::size_t end) {
#ifdef __linux__
  constexpr std::size_t kPage = LargePages<T>::kPage;
  if (array.size() * sizeof(T) < kPage) return;
  if (const std::size_t whole = end * sizeof(T) / kPage * kPage) {
    madvise(array.data(), whole, MADV_DONTNEED);
  }
#endif
}

}  // namespace structlearn
