// One example of a constrained chain or segmentation, and the products of its automata.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "structures/chains/constrained_sequence.hpp"
#include "structures/chains/marginal_sinks.hpp"

namespace structlearn {

// The automata of the structure, then those of the example.
class ConstrainedSequence::Example {
 public:
  Example(const ConstrainedSequence& owner, const Layout& layout)
      : owner_(owner),
        L_(owner.length(layout)),
        K_(layout.block[0].outcomes),
        given_(read_automata(layout.topology)),
        map_(dynamic_cast<const SymbolMap*>(layout.shape.get())) {
    for (std::size_t j = 1; owner.max_length_ == 0 && j <= Chain::kMaxOrder; ++j) {
      if (layout.block[Chain::transition(j)].present) order_ = j;
    }
  }

  std::size_t size() const { return owner_.automata_.size() + given_.size(); }
  const Automaton& operator[](std::size_t c) const {
    const std::size_t own = owner_.automata_.size();
    return c < own ? owner_.automata_[c] : given_[c - own];
  }
  Departures departures(std::size_t c) const {
    const std::size_t own = owner_.automata_.size();
    return c < own ? owner_.departures_[c] : structlearn::departures(given_[c - own]);
  }
  std::vector<std::uint32_t> every() const {
    std::vector<std::uint32_t> all(size());
    for (std::uint32_t c = 0; c < all.size(); ++c) all[c] = c;
    return all;
  }

  // The label of an outcome.
  std::size_t symbol(std::size_t position, std::size_t outcome) const {
    return map_ == nullptr ? outcome
                           : static_cast<std::size_t>(map_->symbol[position * K_ + outcome]);
  }

  // Adds the automata that reject an output to the sorted members, all of which accept it; false if
  // there are none.
  bool add_rejecting(std::span<const std::int32_t> y, std::vector<std::uint32_t>& members) const;

  // The product of the members; null if it is too large.
  std::shared_ptr<const Product> product(const Members&) const;

  // An upper bound of its number of states, for messages.
  std::string described(const std::vector<std::uint32_t>& members) const;

 private:
  Automaton mapped(const Automaton&) const;

  const ConstrainedSequence& owner_;
  std::size_t L_, K_, order_ = 0;
  std::vector<Automaton> given_;
  const SymbolMap* map_;
};

template <class Body>
auto ConstrainedSequence::with_view(const Layout& layout, const Scores& scores, Workspace& ws,
                                    Body&& body) const {
  if (max_length_ == 0) {
    const ChainView chain(layout, scores);
    const SequenceView v(chain, ws);
    return body(v, chain);
  }
  const SegmentView segments(layout, scores, max_length_, ws);
  const SequenceView v(segments);
  return body(v, segments);
}

}  // namespace structlearn
