// Numbers and arrays out of the bytes that a fuzzer gives; when they run out, all are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  std::uint8_t byte() { return at_ < end_ ? *at_++ : std::uint8_t{0}; }
  bool flag() { return (byte() & 1) != 0; }
  std::size_t below(std::size_t n) { return byte() % n; }

  // At most 511 items, on the heap and no larger than said, so that a read beyond the end is seen.
  template <class T>
  std::vector<T> array() {
    std::vector<T> items(byte() + 256u * (byte() & 1u));
    const std::size_t most = static_cast<std::size_t>(end_ - at_) / sizeof(T);
    if (items.size() > most) items.resize(most);
    if (!items.empty()) std::memcpy(items.data(), at_, items.size() * sizeof(T));
    items.shrink_to_fit();
    at_ += items.size() * sizeof(T);
    return items;
  }

  std::string_view rest() {
    const std::string_view text(reinterpret_cast<const char*>(at_),
                                static_cast<std::size_t>(end_ - at_));
    at_ = end_;
    return text;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// What must hold of every input; the fuzzer keeps the input of a program that ends here.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace fuzz
