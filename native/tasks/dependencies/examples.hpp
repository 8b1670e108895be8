// What a dependency parser learns from: the parts that a pruner leaves of each sentence, the gold
// trees as parts, and what wrong arcs cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "tasks/dependencies/dependency_trees.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/pruner.hpp"
#include "tasks/dependencies/treebank.hpp"

namespace structlearn::parsing {

// Sentences with their trees, the relations by name, and which of them an arc may have.
struct LabelledTreebank {
  std::vector<std::string> labels;
  Treebank trees;
  LabelSets sets;

  // `names`: the relations, where the corpus is a part of a larger one; otherwise those that it
  // has. Throws BadLine.
  LabelledTreebank(const text::Corpus&, const SentenceTags&, bool lemmas,
                   std::vector<std::string> names = {});
};

class ParseExamples {
 public:
  // The gold arcs are among the parts, whatever the pruner says.
  ParseExamples(const LabelledTreebank&, Pruner&, bool second_order);

  std::size_t size() const { return parts_.size(); }
  std::size_t width() const { return width_; }  // scores an arc
  bool second_order() const { return second_order_; }
  const LabelledTreebank& treebank() const { return treebank_; }
  const Sentence& sentence(std::size_t i) const { return treebank_.trees.sentence[i]; }
  const Parts& parts(std::size_t i) const { return parts_[i]; }
  Layout layout(std::size_t i) const { return DependencyTrees::layout(parts_[i], width_); }

  structlearn::Gold gold() const;
  // Half a unit for a wrong head and half for a wrong relation, which one with a wrong head is.
  structlearn::Cost cost() const;

  double heads_per_word() const;
  // A number that is another one for other sentences, trees or parts.
  std::uint64_t fingerprint() const;

 private:
  const LabelledTreebank& treebank_;
  std::size_t width_;
  bool second_order_;
  std::vector<Parts> parts_;
  std::vector<std::int64_t> gold_ptr_{0}, arc_ptr_{0};
  std::vector<std::uint32_t> gold_part_;
  std::vector<std::int32_t> gold_label_;  // of each arc, -1 where it is not gold
  std::vector<double> delta_;             // [gold label, label] on a gold arc
  std::vector<double> words_;             // of each sentence: what a tree without gold arcs costs
};

}  // namespace structlearn::parsing
