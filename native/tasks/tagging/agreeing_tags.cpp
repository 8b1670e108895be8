#include "tasks/tagging/agreeing_tags.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "models/queries.hpp"
#include "tasks/tagging/reader.hpp"

namespace structlearn::text {
namespace {

// Keeps logarithms finite; so small that the order of labels which next to nothing speaks for
// stays.
constexpr double kLeast = 1e-300;

void check(const std::vector<AgreeingTagger>& taggers) {
  if (taggers.empty() || taggers[0].label.empty()) {
    throw std::invalid_argument("there are no combinations of tags");
  }
  for (const AgreeingTagger& tagger : taggers) {
    if (tagger.model->weights().candidates > 0) {
      throw std::invalid_argument("taggers that agree consider all labels");
    }
    if (tagger.label.size() != taggers[0].label.size()) {
      throw std::invalid_argument("a label of each tagger makes a combination");
    }
    for (const std::uint32_t k : tagger.label) {
      if (k >= tagger.model->labels()) {
        throw std::invalid_argument("a combination with an unknown label");
      }
    }
  }
}

// Log probabilities by one tagger. Its reader remembers words, and so each has its own.
struct Asked {
  const AgreeingTagger& tagger;
  const LikelyLabels* likely;
  TaggerReader reader;
  LikelyLabels::Scratch scratch;
  std::vector<double> log_p;  // (L, K) of a sentence

  Asked(const AgreeingTagger& t, const LikelyLabels* l, const Corpus& corpus)
      : tagger(t), likely(l), reader(*t.model, corpus) {}
  void ask(std::size_t sentence) {
    const Scored& scored = reader.scores(sentence, Purpose::kSums);
    const std::size_t L = scored.layout.block[scored.first].sites;
    if (likely == nullptr || !likely->probabilities(scored.parts, L, scratch, log_p)) {
      marginals(reader, scored, tagger.temperature, log_p);
    }
    for (double& p : log_p) p = std::log(std::max(p, kLeast));
  }
  // Adds those of a token to the sums of the combinations.
  void add(std::size_t t, std::vector<double>& sums) const {
    const double* row = log_p.data() + t * tagger.model->labels();
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += row[tagger.label[c]];
  }
};

}  // namespace

AgreeingTags::AgreeingTags(std::vector<AgreeingTagger> taggers, std::size_t exact)
    : taggers_(std::move(taggers)) {
  check(taggers_);
  for (const AgreeingTagger& tagger : taggers_) {
    const TaggerWeights& w = tagger.model->weights();
    const bool many = w.labels > exact && w.order == 1 && !tagger.model->features().has_transitions();
    likely_.push_back(many ? std::make_unique<LikelyLabels>(w.start, w.transition[0], w.end,
                                                            tagger.temperature)
                           : nullptr);
  }
}

std::size_t AgreeingTags::steps() const {
  std::size_t sum = taggers_[0].label.size();
  for (std::size_t i = 0; i < taggers_.size(); ++i) {
    const TaggerModel& model = *taggers_[i].model;
    sum += likely_[i] ? LikelyLabels::kMost * model.labels() : model.steps();
  }
  return sum;
}

std::vector<std::uint32_t> AgreeingTags::choose(const Corpus& corpus, std::size_t threads,
                                                Interrupt& interrupt) const {
  std::vector<std::uint32_t> chosen(corpus.tokens());
  const std::size_t tasks = std::max<std::size_t>(1, threads), n = corpus.sentences();
  parallel_for(tasks, threads, [&](std::size_t task, std::size_t) {
    std::deque<Asked> asked;
    for (std::size_t i = 0; i < taggers_.size(); ++i) {
      asked.emplace_back(taggers_[i], likely_[i].get(), corpus);
    }
    std::vector<double> sums(taggers_[0].label.size());
    for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
      if (interrupt.requested()) return;
      const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
      for (Asked& one : asked) one.ask(s);
      for (std::size_t t = 0; t < L; ++t) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (const Asked& one : asked) one.add(t, sums);
        chosen[begin + t] =
            static_cast<std::uint32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
      }
    }
  });
  return chosen;
}

}  // namespace structlearn::text
