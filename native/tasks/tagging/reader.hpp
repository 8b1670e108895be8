// The sentences of a corpus as the chains that a tagger scores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "structures/chains/chain.hpp"
#include "tasks/tagging/label_reader.hpp"
#include "tasks/tagging/model.hpp"
#include "text/corpus.hpp"

namespace structlearn::text {

class TaggerReader final : public LabelReader {
 public:
  // With more strings in the corpus call update; forget where it has lost all.
  TaggerReader(const TaggerModel&, const Corpus&, TaggerQuestion = {});
  void update() override { extractor_.update(); }
  void forget() override { extractor_.forget(); }
  void ask(const TaggerQuestion& question) override { question_ = question; }
  Extractor& extractor() { return extractor_; }
  // The label of an outcome; -1 and more than there are labels are none.
  std::int32_t label(std::size_t token, std::size_t outcome) const {
    const std::size_t B = model_.weights().candidates;
    return B > 0 ? candidates_[token * B + outcome] : static_cast<std::int32_t>(outcome);
  }

  const Scored& scores(std::size_t sentence, Purpose) override;
  std::optional<Likely> likely() const override;
  const Scored& consider(std::span<const std::int32_t> labels, bool restricted) override;
  void to_model(Output& y) const override;
  bool to_structure(Output& y) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t token, std::size_t outcome) const override;
  std::size_t find(const Part&) const override;
  bool alike(std::size_t token, std::size_t a, std::size_t b) const override;
  std::span<const std::int32_t> name_of() const override { return question_.name_of; }

 private:
  void score_tokens(std::size_t sentence, std::size_t L);
  // Forbids what is known to be otherwise, in the scores of all labels or of the candidates.
  void clamp(std::size_t sentence, std::size_t L, bool candidates);
  void arrange(std::size_t L);
  // Among the candidates are those of `kept`, if there are any.
  void arrange_candidates(std::size_t L, std::span<const std::int32_t> kept = {});
  // The outcome of a label; kNowhere if it is no candidate.
  std::size_t outcome(std::size_t token, std::int32_t label) const;

  const TaggerModel& model_;
  const Corpus& corpus_;
  TaggerQuestion question_;
  Extractor extractor_;
  Chain chain_;
  Scored scored_;
  std::size_t sentence_ = 0;  // that was scored last
  Keys keys_, pair_keys_;
  SlotScratch slots_;
  TokenScorer scorer_;
  std::vector<double> theta_, pairs_;
  std::vector<Candidate> candidates_;     // of each token, if the model has them
  std::vector<double> likely_;            // the scores that choose them, if some are forbidden
  std::vector<double> candidate_scores_;  // the scores of their chain
};

inline ReaderFactory readers_of(const TaggerModel& model) {
  return [&model](const Corpus& corpus) { return std::make_unique<TaggerReader>(model, corpus); };
}

// The sentences of a corpus, to be asked about.
class TaggerInputs final : public Inputs {
 public:
  TaggerInputs(const TaggerModel& model, const Corpus& corpus, TaggerQuestion question)
      : model_(model), corpus_(corpus), question_(question) {}
  std::size_t size() const override { return corpus_.sentences(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<TaggerReader>(model_, corpus_, question_);
  }

 private:
  const TaggerModel& model_;
  const Corpus& corpus_;
  TaggerQuestion question_;
};

}  // namespace structlearn::text
