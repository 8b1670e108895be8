#include "tasks/constituents/grammar_reader.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "tasks/constituents/tree_parts.hpp"

namespace structlearn::text {
namespace {

// The best derivation of a given tree, node by node. There is at most one where the symbols of a
// grammar follow from the tree, as those of counted ones do.
class Derivation {
 public:
  Derivation(const CountedGrammar& model, const double* word, std::vector<LabelledSpan> spans)
      : model_(model), g_(model.grammar()), word_(word), spans_(std::move(spans)) {}

  // The row of the structure; false if the grammar does not derive the tree.
  bool of_whole(std::size_t n, Output& y) {
    const Symbols tops = node(0, static_cast<std::int32_t>(n));
    double best = kMinusInfinity;
    std::uint32_t root = 0;
    for (const auto& [symbol, made] : tops) {
      const double score = made_[made].score + model_.root()[symbol];
      if (score > best) best = score, root = made;
    }
    if (best == kMinusInfinity || at_ != spans_.size()) return false;
    y.clear();
    write(root, y);
    return true;
  }

 private:
  struct Made {
    double score;
    std::uint32_t x, chain, split;  // as in a row of an output
    std::uint32_t left, right;
  };
  using Symbols = std::map<std::uint32_t, std::uint32_t>;  // to what is made of it

  void put(Symbols& symbols, std::uint32_t symbol, const Made& made) {
    if (made.score == kMinusInfinity) return;
    const auto [there, is_new] = symbols.emplace(symbol, made_.size());
    if (!is_new && made_[there->second].score >= made.score) return;
    there->second = static_cast<std::uint32_t>(made_.size());
    made_.push_back(made);
  }

  // What the node over begin..end can be, or the word if it has no name of its own.
  Symbols node(std::int32_t begin, std::int32_t end) {
    std::vector<std::uint32_t> names;  // inner ones first
    for (; at_ < spans_.size() && spans_[at_].begin == begin && spans_[at_].end == end; ++at_) {
      names.insert(names.begin(), static_cast<std::uint32_t>(spans_[at_].label));
    }
    Symbols bases;
    if (end - begin == 1) {
      for (std::uint32_t a = 0; a < g_.symbols; ++a) {
        put(bases, a, {word_[static_cast<std::size_t>(begin) * g_.symbols + a], a, 0, 0, 0, 0});
      }
    } else {
      bases = row(begin, end);
    }
    Symbols tops;
    for (const auto& [symbol, made] : bases) {
      if (names_of(symbol, 0) == names) put(tops, symbol, Made(made_[made]));
      const auto& chains = model_.trees.by_bottom();
      for (std::size_t at = model_.trees.bottom_begin()[symbol];
           at < model_.trees.bottom_begin()[symbol + 1]; ++at) {
        const std::uint32_t c = chains[at];
        if (names_of(symbol, c + 1) != names) continue;
        Made above = made_[made];
        above.chain = c + 1;
        for (std::size_t r = g_.chain_ptr[c]; r < g_.chain_ptr[c + 1]; ++r) {
          above.score += model_.unary()[g_.chain_rule[r]];
        }
        put(tops, model_.trees.top(c), above);
      }
    }
    return tops;
  }

  // The children of a node, made binary from the right: what is left of the row has no name.
  Symbols row(std::int32_t begin, std::int32_t end) {
    std::vector<Symbols> children;
    std::vector<std::int32_t> starts;
    for (std::int32_t at = begin; at < end;) {
      const bool covered = at_ < spans_.size() && spans_[at_].begin == at;
      const std::int32_t until = covered ? spans_[at_].end : at + 1;
      starts.push_back(at);
      children.push_back(node(at, until));
      at = until;
    }
    Symbols after = std::move(children.back());
    for (std::size_t k = children.size() - 1; k-- > 0;) {
      Symbols both;
      for (const auto& [b, left] : children[k]) {
        const auto& order = model_.trees.by_left();
        for (std::size_t at = model_.trees.left_begin()[b]; at < model_.trees.left_begin()[b + 1];
             ++at) {
          const auto& [a, unused, c] = g_.binary[order[at]];
          const auto right = after.find(c);
          if (right == after.end() || (k > 0 && g_.name[a] != Grammar::kNameless)) continue;
          put(both, a,
              {made_[left].score + made_[right->second].score + model_.scores[order[at]], order[at],
               0, static_cast<std::uint32_t>(starts[k + 1]), left, right->second});
        }
      }
      after = std::move(both);
    }
    return after;
  }

  // The names of a symbol and of the chain above it, bottom up.
  std::vector<std::uint32_t> names_of(std::uint32_t symbol, std::size_t chain) const {
    std::vector<std::uint32_t> names;
    const auto add = [&](std::uint32_t a) {
      if (g_.name[a] != Grammar::kNameless) names.push_back(g_.name[a]);
    };
    add(symbol);
    for (std::size_t r = chain ? g_.chain_ptr[chain - 1] : 0; chain && r < g_.chain_ptr[chain];
         ++r) {
      add(g_.unary[g_.chain_rule[r]][0]);
    }
    return names;
  }

  void write(std::uint32_t root, Output& y) const {
    std::vector<std::uint32_t> open{root};
    while (!open.empty()) {
      const Made& made = made_[open.back()];
      open.pop_back();
      for (const std::uint32_t x : {made.x, made.chain, made.split}) {
        y.push_back(static_cast<std::int32_t>(x));
      }
      if (made.split == 0) continue;
      open.push_back(made.right);
      open.push_back(made.left);
    }
  }

  const CountedGrammar& model_;
  const Grammar& g_;
  const double* word_;
  std::vector<LabelledSpan> spans_;
  std::size_t at_ = 0;  // the next of them
  std::vector<Made> made_;
};

}  // namespace

const Scored& GrammarReader::scores(std::size_t sentence, Purpose) {
  const Grammar& g = model_.grammar();
  TagNumbers tags = sentences_[sentence];
  n_ = tags.size();
  span_.assign(n_ * (n_ + 1) * g.names, 0.0);
  word_.resize(n_ * g.symbols);
  scored_ = {&model_.trees, {}, {}, span_.data(), GrammarTrees::kSpan};
  scored_.layout.add(GrammarTrees::kSpan, n_ * (n_ + 1), g.names, true);
  scored_.layout.add(GrammarTrees::kWord, n_, g.symbols, true);
  scored_.layout.add(GrammarTrees::kBinary, 1, g.binary.size(), false);
  scored_.layout.add(GrammarTrees::kUnary, 1, g.unary.size(), false);
  scored_.layout.add(GrammarTrees::kRoot, 1, g.symbols, false);
  scored_.scores.block = {word_.data(), span_.data(), model_.scores.data(), model_.unary(),
                          model_.root()};
  allow(tags);
  if (std::find(tags.begin(), tags.end(), -1) == tags.end()) return scored_;
  Output y;
  if (model_.trees.argmax(scored_.layout, scored_.scores, y, workspace) == kMinusInfinity) {
    return scored_;
  }
  std::vector<LabelledSpan> spans;
  model_.trees.spans(y, spans);
  for (const LabelledSpan& s : spans) {
    if (s.label < static_cast<std::int32_t>(model_.tags)) {
      tags[static_cast<std::size_t>(s.begin)] = s.label;
    }
  }
  allow(tags);
  return scored_;
}

// Lets words be their tags, and those of unknown tags any.
void GrammarReader::allow(const TagNumbers& tags) {
  std::fill(word_.begin(), word_.end(), kMinusInfinity);
  for (std::size_t i = 0; i < n_; ++i) {
    double* row = word_.data() + i * model_.grammar().symbols;
    if (tags[i] < 0) {
      std::fill(row, row + model_.tags, 0.0);
    } else {
      row[tags[i]] = 0.0;
    }
  }
}

void GrammarReader::to_model(Output& y) const {
  std::vector<LabelledSpan> spans, named;
  model_.trees.spans(y, spans);
  for (const LabelledSpan& s : spans) {
    const std::uint32_t name = model_.grammar().name[static_cast<std::size_t>(s.label)];
    if (name == Grammar::kNameless) continue;
    named.push_back({s.begin, s.end, static_cast<std::int32_t>(name)});
  }
  y = row_of_spans(named);
}

bool GrammarReader::to_structure(Output& y) const {
  const std::vector<LabelledSpan> spans = spans_of_row(y);
  return nested(spans, n_) && Derivation(model_, word_.data(), spans).of_whole(n_, y);
}

std::optional<Output> GrammarReader::makeshift() const {
  const std::size_t R = model_.grammar().symbols;
  const auto root = std::max_element(model_.root(), model_.root() + R) - model_.root();
  const std::uint32_t name = model_.grammar().name[static_cast<std::size_t>(root)];
  if (name == Grammar::kNameless) return Output{};
  return Output{0, static_cast<std::int32_t>(n_), static_cast<std::int32_t>(name)};
}

std::vector<Part> GrammarReader::parts(const Output& y) const {
  std::vector<Part> named;
  for (const LabelledSpan& s : spans_of_row(y)) named.push_back({s.begin, s.end, s.label});
  return named;
}

Part GrammarReader::part(std::size_t site, std::size_t name) const {
  return {static_cast<std::int32_t>(site / (n_ + 1)), static_cast<std::int32_t>(site % (n_ + 1)),
          static_cast<std::int32_t>(name)};
}

std::size_t GrammarReader::find(const Part& part) const {
  const auto i = static_cast<std::size_t>(part.begin), j = static_cast<std::size_t>(part.end),
             name = static_cast<std::size_t>(part.label);
  if (i >= j || j > n_ || name >= model_.grammar().names) return kNowhere;
  return (i * (n_ + 1) + j) * model_.grammar().names + name;
}

}  // namespace structlearn::text
