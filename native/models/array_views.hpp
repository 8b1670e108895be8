// Arrays by name, as models are made of them: in files, in memory, or worked out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace structlearn {

// Bytes as items; throws std::invalid_argument, which names them, unless they are a whole number of
// these that lie at multiples of their size.
template <class T>
std::span<const T> items_of(std::span<const std::uint8_t> bytes, std::string_view what) {
  if (bytes.empty()) return {};
  if (bytes.size() % sizeof(T) != 0 ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
    throw std::invalid_argument(std::string(what) + " is not a whole number of items in place");
  }
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Borrowed.
class ArrayViews {
 public:
  void put(std::string name, std::span<const std::uint8_t> bytes) {
    arrays_[std::move(name)] = bytes;
  }
  template <class T>
  void put_items(std::string name, std::span<const T> values) {
    put(std::move(name),
        {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)});
  }
  // The items of an array; none where there is no such array.
  template <class T>
  std::span<const T> items(std::string_view name) const {
    const auto at = arrays_.find(name);
    return at == arrays_.end() ? std::span<const T>() : items_of<T>(at->second, name);
  }
  auto begin() const { return arrays_.begin(); }
  auto end() const { return arrays_.end(); }

 private:
  std::map<std::string, std::span<const std::uint8_t>, std::less<>> arrays_;
};

}  // namespace structlearn
