#include "structures/chains/constrained_example.hpp"

#include <cmath>
#include <cstdio>

namespace structlearn {
namespace {

// The most numbers in one table of a search: 64 MB.
constexpr std::size_t kMostNumbers = std::size_t{1} << 23;

}  // namespace

bool ConstrainedSequence::Example::add_rejecting(std::span<const std::int32_t> y,
                                                 std::vector<std::uint32_t>& members) const {
  Output symbols;
  if (map_ != nullptr) {
    symbols.assign(y.begin(), y.end());
    for (std::size_t t = 0; t < y.size(); ++t) {
      if (y[t] < 0) continue;
      symbols[t] = static_cast<std::int32_t>(symbol(t, static_cast<std::size_t>(y[t])));
    }
    y = symbols;
  }
  const std::size_t before = members.size();
  for (std::uint32_t c = 0; c < size(); ++c) {
    if (std::binary_search(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(before),
                           c)) {
      continue;
    }
    if (!structlearn::accepts((*this)[c], y)) members.push_back(c);
  }
  const bool added = members.size() > before;
  if (added) std::sort(members.begin(), members.end());
  return added;
}

// An automaton that reads the outcomes of positions instead of labels.
Automaton ConstrainedSequence::Example::mapped(const Automaton& a) const {
  Automaton out;
  out.states = a.states;
  out.symbols = K_;
  out.positions = L_;
  out.start = a.start;
  out.accepting = a.accepting;
  out.next.resize(L_ * a.states * K_);
  std::size_t at = 0;
  for (std::size_t t = 0; t < L_; ++t) {
    for (std::size_t s = 0; s < a.states; ++s) {
      const std::int32_t* row = a.rows(t) + s * a.symbols;
      for (std::size_t k = 0; k < K_; ++k) out.next[at++] = row[symbol(t, k)];
    }
  }
  return out;
}

std::shared_ptr<const Product> ConstrainedSequence::Example::product(const Members& members) const {
  const auto own = static_cast<std::uint32_t>(owner_.automata_.size());
  const std::size_t symbols =
      size() == 0 ? K_ : (*this)[0].symbols;  // with a map there may be more labels than outcomes
  Members cached;
  std::vector<Automaton> others;
  for (const std::uint32_t c : members.kept) {
    if (c < own) {
      cached.kept.push_back(c);
    } else {
      others.push_back(given_[c - own]);
    }
  }
  if (members.broken != Members::kNone && members.broken >= own) {
    others.push_back(complement(given_[members.broken - own]));
  } else {
    cached.broken = members.broken;
  }
  std::shared_ptr<const Product> found;
  if (others.empty() && map_ == nullptr) {
    found = owner_.cache_.product(cached, L_, symbols);
  } else if (const auto begun = owner_.cache_.automaton(cached, L_, symbols)) {
    const bool segments = owner_.max_length_ > 0;
    Automaton joined = begun->automaton;
    for (const Automaton& other : others) {
      auto next = intersect(joined, other, {owner_.settings_.max_states, L_, segments});
      if (!next) return nullptr;
      joined = std::move(next->automaton);
    }
    found = std::make_shared<const Product>(map_ == nullptr ? std::move(joined) : mapped(joined),
                                            segments);
  }
  if (!found) return found;
  std::size_t numbers = L_ * (order_ > 1 ? found->states() : found->slots());
  for (std::size_t j = 1; order_ > 1 && j <= order_ && numbers <= kMostNumbers; ++j) numbers *= K_;
  return numbers <= kMostNumbers ? found : nullptr;
}

std::string ConstrainedSequence::Example::described(
    const std::vector<std::uint32_t>& members) const {
  double states = 1.0;
  for (const std::uint32_t c : members) states *= static_cast<double>((*this)[c].states);
  char text[64];
  std::snprintf(text, sizeof text, states < 1e15 ? "%.0f" : "%.1e", states);
  return std::to_string(members.size()) + " automata, up to " + text + " states, on " +
         std::to_string(L_) + " positions with " + std::to_string(K_) + " labels; there may be " +
         std::to_string(owner_.settings_.max_states) + " states (max_states), and " +
         std::to_string(kMostNumbers) + " triples of a position, a state and a label";
}

}  // namespace structlearn
