#include "structures/chains/product_cache.hpp"

#include <utility>

namespace structlearn {
namespace {

// About 128 MB of tables; beyond that all are dropped, except the markers of those too large.
constexpr std::size_t kMostEntries = std::size_t{1} << 25;
constexpr std::size_t kMostSets = std::size_t{1} << 16, kEntriesOfSet = 64;
constexpr std::size_t kAnyLength = static_cast<std::size_t>(-1);

}  // namespace

Automaton accepting_all(std::size_t K) {
  Automaton all;
  all.symbols = K;
  all.next.assign(K, 0);
  all.accepting.assign(1, 1);
  return all;
}

// `make` returns the value and the longest sequence it is valid for, or null.
template <class T, class Make>
std::shared_ptr<const T> ProductCache::find(Store<T>& store, const Members& members, std::size_t L,
                                            std::size_t K, Make&& make) const {
  {
    const std::shared_lock lock(mutex_);
    const auto at = store.find(members);
    if (at != store.end()) {
      const Known<T>& known = at->second;
      if (L >= known.too_large) return nullptr;
      if (known.value && known.labels == K && L <= known.length) return known.value;
    }
  }
  const auto [value, length, entries] = make();
  const std::unique_lock lock(mutex_);
  if (size_ + entries > kMostEntries) {
    const auto forget = [](auto& known) {
      if (known.size() > kMostSets) known.clear();
      for (auto& one : known) one.second.value.reset();
    };
    forget(automata_known_);
    forget(products_known_);
    size_ = 0;
  }
  size_ += entries + kEntriesOfSet;
  Known<T>& known = store[members];
  if (value) {
    known.value = value;
    known.labels = K;
    known.length = length;
  } else {
    known.too_large = L;
  }
  return value;
}

std::shared_ptr<const Intersection> ProductCache::automaton(const Members& members, std::size_t L,
                                                            std::size_t K) const {
  using Found = std::shared_ptr<const Intersection>;
  const auto make = [&]() -> std::tuple<Found, std::size_t, std::size_t> {
    const ProductLimits limits{max_states_, L, segments_};
    Intersection found{accepting_all(K), true};
    const auto join = [&](const Intersection& before, const Automaton& with) {
      std::optional<Intersection> joined = intersect(before.automaton, with, limits);
      if (!joined) return false;
      joined->complete &= before.complete;
      found = *std::move(joined);
      return true;
    };
    if (members.broken != Members::kNone) {
      const Found before = automaton({members.kept}, L, K);
      if (!before || !join(*before, complement(automata_[members.broken]))) return {};
    } else if (!members.kept.empty()) {
      const Members others{{members.kept.begin(), members.kept.end() - 1}};
      const Found before = automaton(others, L, K);
      if (!before || !join(*before, automata_[members.kept.back()])) return {};
    }
    const std::size_t entries = found.automaton.next.size();
    const std::size_t length = found.complete ? kAnyLength : L;
    return {std::make_shared<const Intersection>(std::move(found)), length, entries};
  };
  return find(automata_known_, members, L, K, make);
}

std::shared_ptr<const Product> ProductCache::product(const Members& members, std::size_t L,
                                                     std::size_t K) const {
  using Found = std::shared_ptr<const Product>;
  const auto make = [&]() -> std::tuple<Found, std::size_t, std::size_t> {
    const auto joined = automaton(members, L, K);
    if (!joined) return {};
    auto value = std::make_shared<const Product>(joined->automaton, segments_);
    return {value, joined->complete ? kAnyLength : L, 5 * joined->automaton.next.size()};
  };
  return find(products_known_, members, L, K, make);
}

}  // namespace structlearn
