#include "structures/chains/constrained_sequence.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "structures/chains/constrained_example.hpp"
#include "structures/chains/product_search.hpp"

namespace structlearn {

ConstrainedSequence::ConstrainedSequence(std::vector<Automaton> automata, std::size_t max_length,
                                         ProductSettings settings)
    : free_(max_length == 0
                ? std::shared_ptr<const Structure>(std::make_shared<Chain>())
                : std::shared_ptr<const Structure>(std::make_shared<SemiMarkov>(max_length))),
      max_length_(max_length),
      automata_(std::move(automata)),
      settings_(settings),
      cache_(automata_, max_length > 0, settings.max_states) {
  for (const Automaton& a : automata_) {
    a.check();
    departures_.push_back(departures(a));
  }
}

std::vector<Automaton> read_automata(std::span<const std::int64_t> row) {
  std::vector<Automaton> read;
  if (row.empty()) return read;
  std::size_t at = 0;
  const auto fail = [] { throw std::invalid_argument("a row that does not hold automata"); };
  const auto number = [&](std::size_t most) {
    if (at >= row.size() || row[at] < 0 || static_cast<std::size_t>(row[at]) > most) fail();
    return static_cast<std::size_t>(row[at++]);
  };
  const std::size_t n = number(row.size());
  for (std::size_t i = 0; i < n; ++i) {
    Automaton a;
    a.states = number(row.size());
    a.symbols = number(row.size());
    a.positions = number(row.size());
    a.start = number(row.size());
    const std::size_t left = row.size() - at, tables = std::max<std::size_t>(a.positions, 1);
    if (a.symbols == 0 || a.states > left || tables > left / a.symbols ||
        tables * a.symbols > left / std::max<std::size_t>(a.states, 1) ||
        a.states + tables * a.symbols * a.states > left) {
      fail();
    }
    for (std::size_t s = 0; s < a.states; ++s) a.accepting.push_back(row[at++] != 0);
    for (std::size_t j = 0; j < tables * a.symbols * a.states; ++j, ++at) {
      if (row[at] < -1 || row[at] > INT32_MAX) fail();
      a.next.push_back(static_cast<std::int32_t>(row[at]));
    }
    a.check();
    read.push_back(std::move(a));
  }
  if (at != row.size()) fail();
  return read;
}

bool ConstrainedSequence::stands_for(const Structure& free) const {
  if (max_length_ == 0) return dynamic_cast<const Chain*>(&free) != nullptr;
  const auto* segments = dynamic_cast<const SemiMarkov*>(&free);
  return segments != nullptr && segments->max_length() == max_length_;
}

void ConstrainedSequence::check(const Layout& layout) const {
  free_->check(layout);
  const std::size_t L = length(layout), K = layout.block[0].outcomes;
  const auto* map = dynamic_cast<const SymbolMap*>(layout.shape.get());
  if (map != nullptr && map->symbol.size() != L * K) {
    throw std::invalid_argument("a symbol for each outcome of each position is needed");
  }
  std::size_t labels = K;
  if (map != nullptr) {
    labels =
        static_cast<std::size_t>(*std::max_element(map->symbol.begin(), map->symbol.end())) + 1;
  }
  const auto fits = [&](const Automaton& a) {
    if (map == nullptr ? a.symbols != labels : a.symbols < labels) {
      throw std::invalid_argument("an automaton reads " + std::to_string(a.symbols) +
                                  " labels, there are " + std::to_string(labels));
    }
    if (a.positions != 0 && a.positions != L) {
      throw std::invalid_argument("an automaton is for " + std::to_string(a.positions) +
                                  " positions, there are " + std::to_string(L));
    }
  };
  for (const Automaton& a : automata_) fits(a);
  for (const Automaton& a : read_automata(layout.topology)) fits(a);
}

bool ConstrainedSequence::allows(const Layout& layout, std::span<const std::int32_t> y) const {
  const Example example(*this, layout);
  std::vector<std::uint32_t> members;
  return !example.add_rejecting(y, members);
}

ConstrainedSequence::Certificate ConstrainedSequence::search(const Layout& layout,
                                                             const Scores& scores, Output& y,
                                                             Workspace& ws) const {
  std::vector<std::uint32_t> members;
  return search(Example(*this, layout), layout, scores, y, members, ws);
}

ConstrainedSequence::Certificate ConstrainedSequence::search(const Example& example,
                                                             const Layout& layout,
                                                             const Scores& scores, Output& y,
                                                             std::vector<std::uint32_t>& members,
                                                             Workspace& ws) const {
  Certificate found;
  found.value = free_->argmax(layout, scores, y, ws);
  while (found.value != kMinusInfinity && example.add_rejecting(y, members)) {
    const std::shared_ptr<const Product> product = example.product({members});
    if (!product) {
      throw Incapable("the best output under these constraints needs a product of " +
                      example.described(members) +
                      ". What works: a larger max_states, or the integer program "
                      "(with_constraints(..., method=\"program\"))");
    }
    found.value = with_view(layout, scores, ws, [&](const SequenceView& v, auto&&) {
      return best_accepted(v, *product, y, ws);
    });
    found.states = product->states();
    found.automata = members.size();
  }
  return found;
}

std::vector<std::pair<double, Output>> ConstrainedSequence::kbest(const Layout& layout,
                                                                  const Scores& scores,
                                                                  std::size_t n,
                                                                  Workspace& ws) const {
  const Example example(*this, layout);
  std::vector<std::uint32_t> members;
  Output y;
  if (search(example, layout, scores, y, members, ws).value == kMinusInfinity) return {};
  while (true) {
    std::vector<std::pair<double, Output>> ranked;
    if (members.empty()) {
      ranked = free_->kbest(layout, scores, n, ws);
    } else {
      const std::shared_ptr<const Product> product = example.product({members});
      if (!product) {
        throw Incapable("the " + std::to_string(n) +
                        " best outputs under these constraints need a product of " +
                        example.described(members) +
                        ". What works: fewer outputs, or a larger max_states");
      }
      ranked = with_view(layout, scores, ws, [&](const SequenceView& v, auto&&) {
        return kbest_accepted(v, *product, n, ws);
      });
    }
    bool rejected = false;
    for (const auto& [value, output] : ranked) rejected |= example.add_rejecting(output, members);
    if (!rejected) return ranked;
  }
}

}  // namespace structlearn
