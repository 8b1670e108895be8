#include "tasks/tagging/agreeing_tags.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/queries.hpp"
#include "numeric/elementary.hpp"
#include "numeric/softmax.hpp"

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

}  // namespace

AgreeingTags::AgreeingTags(std::vector<AgreeingTagger> taggers, std::size_t exact)
    : taggers_(std::move(taggers)) {
  check(taggers_);
  for (const AgreeingTagger& tagger : taggers_) {
    const TaggerWeights& w = tagger.model->weights();
    const bool many =
        w.labels > exact && w.order == 1 && !tagger.model->features().has_transitions();
    likely_.push_back(
        many ? std::make_unique<LikelyLabels>(w.start, w.transition[0], w.end, tagger.temperature)
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
    AgreeingReader reader(*this, corpus);
    for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
      if (interrupt.requested()) return;
      const double* sums = reader.scores(s, Purpose::kBest).parts;
      for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
        chosen[t] = static_cast<std::uint32_t>(first_max(sums, combinations()));
        sums += combinations();
      }
    }
  });
  return chosen;
}

AgreeingReader::AgreeingReader(const AgreeingTags& tags, const Corpus& corpus) : tags_(tags) {
  for (const AgreeingTagger& tagger : tags.taggers_) readers_.emplace_back(*tagger.model, corpus);
}

void AgreeingReader::update() {
  for (TaggerReader& reader : readers_) reader.update();
}

void AgreeingReader::forget() {
  for (TaggerReader& reader : readers_) reader.forget();
}

const Scored& AgreeingReader::scores(std::size_t sentence, Purpose) {
  const std::size_t C = tags_.combinations();
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const AgreeingTagger& tagger = tags_.taggers_[i];
    const Scored& scored = readers_[i].scores(sentence, Purpose::kSums);
    const std::size_t L = scored.layout.block[scored.first].sites, K = tagger.model->labels();
    const LikelyLabels* likely = tags_.likely_[i].get();
    if (likely == nullptr || !likely->probabilities(scored.parts, L, scratch_, log_p_)) {
      marginals(readers_[i], scored, tagger.temperature, log_p_);
    }
    for (double& p : log_p_) p = elementary::log(std::max(p, kLeast));
    if (i == 0) {
      sums_.assign(L * C, 0.0);
      scored_ = {};
      scored_.structure = &chain_;
      scored_.layout.add(Chain::kLabel, L, C, true);
      scored_.scores.block[Chain::kLabel] = scored_.parts = sums_.data();
    }
    for (std::size_t t = 0; t < L; ++t) {
      double* sum = sums_.data() + t * C;
      const double* row = log_p_.data() + t * K;
      for (std::size_t c = 0; c < C; ++c) sum[c] += row[tagger.label[c]];
    }
  }
  return scored_;
}

std::vector<Part> AgreeingReader::parts(const Output& y) const {
  std::vector<Part> labelled;
  for (std::size_t t = 0; t < y.size(); ++t) {
    labelled.push_back(part(t, static_cast<std::size_t>(y[t])));
  }
  return labelled;
}

Part AgreeingReader::part(std::size_t token, std::size_t combination) const {
  const auto at = static_cast<std::int32_t>(token);
  return {at, at + 1, static_cast<std::int32_t>(combination)};
}

std::size_t AgreeingReader::find(const Part& part) const {
  const Block& block = scored_.layout.block[Chain::kLabel];
  const auto token = static_cast<std::size_t>(part.begin);
  const auto combination = static_cast<std::size_t>(part.label);
  return token < block.sites && part.label >= 0 && combination < block.outcomes
             ? token * block.outcomes + combination
             : kNowhere;
}

}  // namespace structlearn::text
