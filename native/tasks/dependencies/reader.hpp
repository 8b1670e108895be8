// The sentences of a corpus as the trees that a parser scores.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "models/reader.hpp"
#include "tasks/dependencies/dependency_trees.hpp"
#include "tasks/dependencies/model.hpp"
#include "tasks/dependencies/treebank.hpp"

namespace structlearn::parsing {

// A part is a word, from 1, its head, and the relation between them. Where pairs of arcs are scored
// and arcs may cross, sums are over projective trees, of which the pruner leaves at least one.
class DependencyReader final : public Reader {
 public:
  // Everything is borrowed. Where the corpus has lost its strings call forget.
  DependencyReader(const ParserModel&, const text::Corpus&, const SentenceTags&, bool lemmas);
  void forget() { tokens_.forget(); }

  const Scored& scores(std::size_t sentence, Purpose) override;
  bool to_structure(Output& y) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t arc, std::size_t label) const override;
  std::size_t find(const Part&) const override;
  // The parts of the sentence that was scored last.
  const Parts& all_parts() const { return parts_; }

 private:
  const DependencyTrees& trees() const { return trees_[summed_ ? 1 : 0]; }

  const ParserModel& model_;
  const SentenceTags& tags_;
  TokenReader tokens_;
  std::array<Pruner, 2> pruner_;  // for best trees, for sums
  std::array<DependencyTrees, 2> trees_;
  PartScorer<float> scorer_;
  Sentence sentence_;
  Candidates candidates_;
  Parts parts_;
  std::vector<double> theta_;
  bool summed_ = false;
  Scored scored_;
};

// The sentences of a corpus, to be asked about.
class DependencyInputs final : public Inputs {
 public:
  DependencyInputs(const ParserModel& model, const text::Corpus& corpus, SentenceTags tags,
                   bool lemmas)
      : model_(model), corpus_(corpus), tags_(std::move(tags)), lemmas_(lemmas) {}
  std::size_t size() const override { return corpus_.sentences(); }
  // Features of the arcs are most of it.
  std::size_t steps() const override {
    std::size_t arcs = 0;
    for (std::size_t i = 0; i < corpus_.sentences(); ++i) {
      const std::size_t words = corpus_.sentence(i + 1) - corpus_.sentence(i);
      arcs += words * words;
    }
    return kStepsOfArc * arcs;
  }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<DependencyReader>(model_, corpus_, tags_, lemmas_);
  }

 private:
  static constexpr std::size_t kStepsOfArc = 1024;

  const ParserModel& model_;
  const text::Corpus& corpus_;
  SentenceTags tags_;
  bool lemmas_;
};

}  // namespace structlearn::parsing
