// Tags that agree: several taggers of the same tokens, each of one column, choose together among
// the combinations of labels that may occur.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/tagging/likely_labels.hpp"
#include "tasks/tagging/reader.hpp"

namespace structlearn::text {

struct AgreeingTagger {
  const TaggerModel* model;
  double temperature;                // of its probabilities
  std::vector<std::uint32_t> label;  // in each combination
};

class AgreeingReader;

class AgreeingTags {
 public:
  // Taggers of more labels than `exact` sum over sequences of likely labels alone (LikelyLabels).
  // Throws std::invalid_argument where the combinations do not fit the taggers.
  explicit AgreeingTags(std::vector<AgreeingTagger> taggers, std::size_t exact = kExact);

  // For each token of a corpus the combination with the greatest sum of log P(label), the first of
  // those that are equal; a probability counts as 1e-300 at least. The number of threads changes
  // nothing.
  std::vector<std::uint32_t> choose(const Corpus&, std::size_t threads, Interrupt&) const;
  // Additions for a token, roughly.
  std::size_t steps() const;

  std::size_t combinations() const { return taggers_[0].label.size(); }

  static constexpr std::size_t kExact = 64;

 private:
  friend AgreeingReader;
  std::vector<AgreeingTagger> taggers_;
  std::vector<std::unique_ptr<const LikelyLabels>> likely_;  // of each; null: all are summed over
};

// Sentences whose labels are the combinations, scored by the sums of log P(label): best outputs are
// meaningful, sums are not.
class AgreeingReader final : public LabelReader {
 public:
  AgreeingReader(const AgreeingTags&, const Corpus&);
  void update() override;
  void forget() override;
  const Scored& scores(std::size_t sentence, Purpose) override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t token, std::size_t combination) const override;
  std::size_t find(const Part&) const override;

 private:
  // A reader of each tagger: it remembers words.
  const AgreeingTags& tags_;
  std::deque<TaggerReader> readers_;
  Chain chain_;
  Scored scored_;
  LikelyLabels::Scratch scratch_;
  std::vector<double> log_p_, sums_;  // (L, K) of a tagger; (L, combinations)
};

}  // namespace structlearn::text
