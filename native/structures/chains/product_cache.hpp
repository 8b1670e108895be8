// Products of a structure's automata, cached: the scores decide which ones a search needs, and most
// inputs need the same few.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "structures/chains/product.hpp"

namespace structlearn {

// The automata of a product, in ascending order, and the one of the others that it must violate.
struct Members {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> kept;
  std::uint32_t broken = kNone;
  auto operator<=>(const Members&) const = default;
};

class ProductCache {
 public:
  // The automata are borrowed.
  ProductCache(const std::vector<Automaton>& automata, bool segments, std::size_t max_states)
      : automata_(automata), segments_(segments), max_states_(max_states) {}

  // For sequences of L symbols over K labels; null if it has more than max_states states.
  std::shared_ptr<const Product> product(const Members&, std::size_t L, std::size_t K) const;
  // The same, not laid out.
  std::shared_ptr<const Intersection> automaton(const Members&, std::size_t L, std::size_t K) const;

 private:
  template <class T>
  struct Known {
    std::shared_ptr<const T> value;
    std::size_t labels = 0;  // without automata there may be any number
    std::size_t length = 0;  // valid up to this length
    std::size_t too_large = static_cast<std::size_t>(-1);  // too large from this length on
  };
  template <class T>
  using Store = std::map<Members, Known<T>>;

  template <class T, class Make>
  std::shared_ptr<const T> find(Store<T>& store, const Members&, std::size_t L, std::size_t K,
                                Make&&) const;

  const std::vector<Automaton>& automata_;
  bool segments_;
  std::size_t max_states_;
  mutable std::shared_mutex mutex_;
  mutable std::size_t size_ = 0;  // entries of all tables
  mutable Store<Intersection> automata_known_;
  mutable Store<Product> products_known_;
};

// The automaton that accepts everything.
Automaton accepting_all(std::size_t K);

}  // namespace structlearn
