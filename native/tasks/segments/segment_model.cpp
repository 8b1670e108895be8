#include "tasks/segments/segment_model.hpp"

#include <algorithm>
#include <stdexcept>

#include "structures/entropy.hpp"

namespace structlearn::text {
namespace {

// Strings seen so far are kept between pieces; from this many bytes on they are forgotten.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// Scores of rows of keys, added up anew.
void score_rows(const WeightTable& table, const Keys& keys, SlotScratch& slots, std::size_t K,
                std::vector<double>& out) {
  out.assign(keys.end.size() * K, 0.0);
  add_scores(table, keys, slots, K, out.data());
}

}  // namespace

SegmentModel::SegmentModel(std::shared_ptr<const SegmentFeatures> features, SegmentWeights weights)
    : features_(std::move(features)),
      weights_(std::move(weights)),
      structure_(weights_.max_length) {
  const std::size_t K = weights_.labels;
  if (K == 0) throw std::invalid_argument("a model without labels");
  if (weights_.max_length > 1000) throw std::invalid_argument("segments of more than 1000 tokens");
  weights_.table.check(K);
  if (weights_.start.size() != K || weights_.end.size() != K ||
      weights_.transition.size() != K * K) {
    throw std::invalid_argument("start, end or transition of the wrong size");
  }
}

void SegmentModel::score(SegmentExtractor& extractor, std::size_t sentence,
                         SegmentScratch& scratch) const {
  const std::size_t K = weights_.labels, D = weights_.max_length;
  extractor.keys(sentence, scratch.keys);
  const SegmentKeys& keys = scratch.keys;
  const std::size_t L = keys.begin.end.size();
  score_rows(weights_.table, keys.begin, scratch.slots, K, scratch.begin);
  score_rows(weights_.table, keys.end, scratch.slots, K, scratch.end);
  score_rows(weights_.table, keys.inside, scratch.slots, K, scratch.inside);
  score_rows(weights_.table, keys.both, scratch.slots, K, scratch.theta);
  std::vector<double>& sum = scratch.marginals;
  for (std::size_t b = 0; b < L; ++b) {
    // The scores of the first token's border and of the tokens so far.
    sum.assign(scratch.begin.begin() + static_cast<std::ptrdiff_t>(b * K),
               scratch.begin.begin() + static_cast<std::ptrdiff_t>((b + 1) * K));
    const std::size_t longest = std::min(D, L - b);
    for (std::size_t d = 1; d <= longest; ++d) {
      double* theta = scratch.theta.data() + (b * D + d - 1) * K;
      const double* token = scratch.inside.data() + (b + d - 1) * K;
      const double* last = scratch.end.data() + (b + d - 1) * K;
      for (std::size_t k = 0; k < K; ++k) {
        sum[k] += token[k];
        theta[k] += sum[k] + last[k];
      }
      if (d > 1) theta[0] = kMinusInfinity;
    }
  }
}

void SegmentModel::weights_of(std::uint64_t key, double* out) const {
  const std::uint64_t word = weights_.table.slots.empty() ? 0 : weights_.table.find(key);
  if (word != 0) weights_.table.add(word, 1.0, weights_.labels, out);
}

Arranged SegmentModel::arrange(std::size_t L, const SegmentScratch& scratch) const {
  const std::size_t K = weights_.labels;
  Arranged found;
  auto& [layout, scores] = found;
  layout.add(SemiMarkov::kSegment, L * weights_.max_length, K, true);
  layout.add(SemiMarkov::kStart, 1, K, false);
  layout.add(SemiMarkov::kEnd, 1, K, false);
  layout.add(SemiMarkov::kTransition, 1, K * K, false);
  scores.block[SemiMarkov::kSegment] = scratch.theta.data();
  scores.block[SemiMarkov::kStart] = weights_.start.data();
  scores.block[SemiMarkov::kEnd] = weights_.end.data();
  scores.block[SemiMarkov::kTransition] = weights_.transition.data();
  return found;
}

double SegmentModel::argmax(std::size_t L, SegmentScratch& scratch, Output& y) const {
  const auto [layout, scores] = arrange(L, scratch);
  return structure_.argmax(layout, scores, y, scratch.workspace);
}

double SegmentModel::marginals(std::size_t L, SegmentScratch& scratch, double temperature) const {
  const auto [layout, scores] = arrange(L, scratch);
  Marginals out;
  scratch.marginals.assign(layout.parts, 0.0);
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) {
      out.block[b] = scratch.marginals.data() + layout.block[b].offset;
    }
  }
  return structure_.infer(layout, scores, temperature, out, scratch.workspace);
}

std::vector<std::pair<double, Output>> SegmentModel::kbest(std::size_t L, SegmentScratch& scratch,
                                                           std::size_t n) const {
  const auto [layout, scores] = arrange(L, scratch);
  return structure_.kbest(layout, scores, n, scratch.workspace);
}

std::vector<Output> SegmentModel::sample(std::size_t L, SegmentScratch& scratch, double temperature,
                                         std::size_t n, std::uint64_t seed) const {
  const auto [layout, scores] = arrange(L, scratch);
  return structure_.sample(layout, scores, temperature, n, seed, scratch.workspace);
}

double SegmentModel::entropy(std::size_t L, SegmentScratch& scratch, double temperature) const {
  const auto [layout, scores] = arrange(L, scratch);
  return ::structlearn::entropy(structure_, layout, scores, temperature, scratch.workspace).value;
}

SegmentLabeller::SegmentLabeller(const SegmentModel& model, const SegmentNames& names,
                                 Format format, SegmentOptions options)
    : model_(model),
      names_(names),
      options_(options),
      corpus_(format),
      extractor_(model.shared_features(), corpus_, model.max_length()) {
  corpus_.keep_columns(
      columns_read(model_.features().attributes(), format, {&options_.target, 1}, false));
}

void SegmentLabeller::probabilities(std::size_t L) {
  const std::size_t K = model_.labels(), D = model_.max_length();
  model_.marginals(L, scratch_, options_.temperature);
  probability_.resize(L);
  for (std::size_t b = 0, e = 1; b < L; b = e) {
    for (e = b + 1; e < L && output_[e] < 0; ++e) {
    }
    const auto label = static_cast<std::size_t>(output_[b]);
    const double p = scratch_.marginals[(b * D + e - b - 1) * K + label];
    std::fill(probability_.begin() + static_cast<std::ptrdiff_t>(b),
              probability_.begin() + static_cast<std::ptrdiff_t>(e), p);
  }
}

// Finds the segments of a sentence, and their probabilities where they are asked for.
void SegmentLabeller::decide(SegmentExtractor& extractor, std::size_t sentence, std::size_t L) {
  model_.score(extractor, sentence, scratch_);
  model_.argmax(L, scratch_, output_);
  if (options_.confidence) probabilities(L);
}

// How the label of a token is written; tokens are asked for from left to right.
const std::string& SegmentLabeller::written(std::size_t position) {
  const bool starts = output_[position] >= 0;
  if (starts) label_ = static_cast<std::size_t>(output_[position]);
  return starts ? names_.first[label_] : names_.later[label_];
}

void SegmentLabeller::answer(const Corpus& corpus, std::size_t first, std::size_t last,
                             std::vector<Answer>& out) {
  check_columns(corpus, model_.features().attributes().columns_needed(), options_.target,
                options_.columns);
  SegmentExtractor extractor(model_.shared_features(), corpus, model_.max_length());
  extractor.update();
  for (std::size_t s = first; s < last; ++s) {
    const std::size_t L = corpus.sentence(s + 1) - corpus.sentence(s);
    decide(extractor, s, L);
    for (std::size_t t = 0; t < L; ++t) {
      out.push_back({{&written(t)}, options_.confidence ? probability_[t] : 0.0, {}});
    }
    tokens_ += L;
  }
}

void SegmentLabeller::label(std::string_view text, std::size_t line, std::string& out) {
  if (corpus_.bytes() > kMostBytes) {
    corpus_.clear();
    extractor_.forget();
  } else {
    corpus_.clear_tokens();
  }
  corpus_.set_line(line);
  corpus_.read(text, options_.target);
  extractor_.update();
  check_columns(corpus_, model_.features().attributes().columns_needed(), options_.target,
                options_.columns);
  std::size_t copied = 0;
  for (std::size_t s = 0; s < corpus_.sentences(); ++s) {
    const std::size_t begin = corpus_.sentence(s), L = corpus_.sentence(s + 1) - begin;
    decide(extractor_, s, L);
    for (std::size_t t = 0; t < L; ++t) {
      const std::size_t from = copied;  // with blank lines, comments, ...
      copied = corpus_.lines()[begin + t].end;
      extra_.clear();
      if (options_.confidence) {
        extra_.emplace_back("Confidence", "");
        append_number(probability_[t], extra_.back().second);
      }
      const Cell cell{options_.target, written(t)};
      write_token(corpus_, text, from, begin + t, {&cell, 1}, extra_, options_.lone, out);
    }
  }
  out.append(text.substr(copied));
  tokens_ += corpus_.tokens();
}

}  // namespace structlearn::text
