// Sentences as the trees that a grammar counted from a treebank derives. An output of the model is
// a row of (begin, end, name) of its named nodes, outer before inner: tags and rests of rows of
// children have no names. A part is a name over a span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/reader.hpp"
#include "structures/trees/grammar_trees.hpp"

namespace structlearn::text {

// Log probabilities: of the binary rules, the unary rules, and of the roots by symbol.
struct CountedGrammar {
  GrammarTrees trees;
  std::size_t tags = 0;  // the first symbols
  std::vector<double> scores;

  const Grammar& grammar() const { return trees.grammar(); }
  const double* unary() const { return scores.data() + grammar().binary.size(); }
  const double* root() const { return unary() + grammar().unary.size(); }
};

// The tags of a sentence by their numbers, -1: unknown.
using TagNumbers = std::vector<std::int32_t>;

// An unknown tag is the known one with which the sentence has its best tree, so that a tree has one
// derivation. A sentence that the grammar does not derive has a flat tree as a makeshift.
class GrammarReader final : public Reader {
 public:
  GrammarReader(const CountedGrammar& model, const std::vector<TagNumbers>& sentences)
      : model_(model), sentences_(sentences) {}

  const Scored& scores(std::size_t sentence, Purpose) override;
  void to_model(Output& y) const override;
  bool to_structure(Output& y) const override;
  std::optional<Output> makeshift() const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t name) const override;
  std::size_t find(const Part&) const override;

 private:
  void allow(const TagNumbers& tags);

  const CountedGrammar& model_;
  const std::vector<TagNumbers>& sentences_;
  std::size_t n_ = 0;
  Scored scored_;
  std::vector<double> span_, word_;
};

class GrammarInputs final : public Inputs {
 public:
  GrammarInputs(const CountedGrammar& model, std::vector<TagNumbers> sentences)
      : model_(model), sentences_(std::move(sentences)) {}
  std::size_t size() const override { return sentences_.size(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<GrammarReader>(model_, sentences_);
  }

 private:
  const CountedGrammar& model_;
  std::vector<TagNumbers> sentences_;
};

}  // namespace structlearn::text
