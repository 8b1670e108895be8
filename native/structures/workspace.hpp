// Scratch memory, one per thread, which grows and never shrinks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace structlearn {

// An output in the core is a row of integers; each structure defines their meaning.
using Output = std::vector<std::int32_t>;

// Arrays of T by name. The names are the values of an enum, and every enum has its own arrays: two
// users of a workspace cannot collide, however deeply one calls the other.
template <class T>
class NamedArrays {
 public:
  NamedArrays() = default;
  NamedArrays(NamedArrays&&) = default;  // scratch is nobody's to copy
  NamedArrays& operator=(NamedArrays&&) = default;

  // The array itself, which stays where it is; its content moves when it grows.
  template <class Name>
  std::vector<T>& operator[](Name name) {
    static_assert(std::is_enum_v<Name>, "arrays go by the values of an enum of their user");
    const std::size_t user = number_of<Name>;
    if (user >= users_.size()) users_.resize(user + 1);
    if (!users_[user]) users_[user] = std::make_unique<Arrays>();
    return users_[user]->at(static_cast<std::size_t>(name));
  }
  // At least n numbers; new ones are 0.
  template <class Name>
  T* operator()(Name name, std::size_t n) {
    std::vector<T>& array = (*this)[name];
    if (array.size() < n) array.resize(n);
    return array.data();
  }

 private:
  using Arrays = std::array<std::vector<T>, 16>;
  static std::size_t next_number() {
    static std::atomic<std::size_t> next{0};
    return next++;
  }
  template <class Name>
  static inline const std::size_t number_of = next_number();

  std::vector<std::unique_ptr<Arrays>> users_;
};

struct Workspace {
  // The last shared table converted to exponentials: in training it is the same for all examples of
  // a pass, and comparing is cheaper than computing.
  struct {
    std::vector<double> table, exponentials;
    double eps = 0.0, shift = 0.0;
  } shared;
  NamedArrays<double> real;
  NamedArrays<std::uint8_t> flag;
  NamedArrays<std::int32_t> integer;  // including outputs
  NamedArrays<std::uint32_t> index;
};

}  // namespace structlearn
