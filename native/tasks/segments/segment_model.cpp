#include "tasks/segments/segment_model.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/queries.hpp"

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
    : features_(std::move(features)), weights_(std::move(weights)) {
  const std::size_t K = weights_.labels;
  if (K == 0) throw std::invalid_argument("a model without labels");
  if (weights_.max_length == 0 || weights_.max_length > 1000) {
    throw std::invalid_argument("segments of no token, or of more than 1000");
  }
  weights_.table.check(K);
  if (weights_.start.size() != K || weights_.end.size() != K ||
      weights_.transition.size() != K * K) {
    throw std::invalid_argument("start, end or transition of the wrong size");
  }
}

void SegmentModel::weights_of(std::uint64_t key, double* out) const {
  const std::uint64_t word = weights_.table.slots.empty() ? 0 : weights_.table.find(key);
  if (word != 0) weights_.table.add(word, 1.0, weights_.labels, out);
}

SegmentReader::SegmentReader(const SegmentModel& model, const Corpus& corpus)
    : model_(model),
      extractor_(model.shared_features(), corpus, model.max_length()),
      structure_(model.max_length()) {
  extractor_.update();
}

const Scored& SegmentReader::scores(std::size_t sentence, Purpose) {
  const SegmentWeights& weights = model_.weights();
  const std::size_t K = weights.labels, D = weights.max_length;
  extractor_.keys(sentence, keys_);
  const std::size_t L = keys_.begin.end.size();
  score_rows(weights.table, keys_.begin, slots_, K, begin_);
  score_rows(weights.table, keys_.end, slots_, K, end_);
  score_rows(weights.table, keys_.inside, slots_, K, inside_);
  score_rows(weights.table, keys_.both, slots_, K, theta_);
  for (std::size_t b = 0; b < L; ++b) {
    // The scores of the first token's border and of the tokens so far.
    sum_.assign(begin_.begin() + static_cast<std::ptrdiff_t>(b * K),
                begin_.begin() + static_cast<std::ptrdiff_t>((b + 1) * K));
    const std::size_t longest = std::min(D, L - b);
    for (std::size_t d = 1; d <= longest; ++d) {
      double* theta = theta_.data() + (b * D + d - 1) * K;
      const double* token = inside_.data() + (b + d - 1) * K;
      const double* last = end_.data() + (b + d - 1) * K;
      for (std::size_t k = 0; k < K; ++k) {
        sum_[k] += token[k];
        theta[k] += sum_[k] + last[k];
      }
      if (d > 1) theta[0] = kMinusInfinity;
    }
  }
  scored_ = {&structure_, {}, {}, theta_.data()};
  scored_.layout.add(SemiMarkov::kSegment, L * D, K, true);
  scored_.layout.add(SemiMarkov::kStart, 1, K, false);
  scored_.layout.add(SemiMarkov::kEnd, 1, K, false);
  scored_.layout.add(SemiMarkov::kTransition, 1, K * K, false);
  scored_.scores.block[SemiMarkov::kSegment] = theta_.data();
  scored_.scores.block[SemiMarkov::kStart] = weights.start.data();
  scored_.scores.block[SemiMarkov::kEnd] = weights.end.data();
  scored_.scores.block[SemiMarkov::kTransition] = weights.transition.data();
  return scored_;
}

bool SegmentReader::to_structure(Output& y) const {
  const std::size_t L = scored_.layout.block[SemiMarkov::kSegment].sites / model_.max_length();
  if (y.size() != L || y.front() < 0) return false;
  const std::vector<Part> segments = parts(y);
  return std::all_of(segments.begin(), segments.end(),
                     [this](const Part& part) { return find(part) != kNowhere; });
}

std::vector<Part> SegmentReader::parts(const Output& y) const {
  std::vector<Part> segments;
  for (std::size_t b = 0, e = 1; b < y.size(); b = e) {
    for (e = b + 1; e < y.size() && y[e] < 0; ++e) {
    }
    segments.push_back({static_cast<std::int32_t>(b), static_cast<std::int32_t>(e), y[b]});
  }
  return segments;
}

Part SegmentReader::part(std::size_t site, std::size_t label) const {
  const std::size_t D = model_.max_length();
  const auto begin = static_cast<std::int32_t>(site / D);
  return {begin, begin + static_cast<std::int32_t>(site % D) + 1, static_cast<std::int32_t>(label)};
}

std::size_t SegmentReader::find(const Part& part) const {
  const auto begin = static_cast<std::size_t>(part.begin),
             label = static_cast<std::size_t>(part.label);
  const std::size_t length = static_cast<std::size_t>(part.end) - begin;
  if (part.label < 0 || label >= model_.labels() || length > model_.max_length()) return kNowhere;
  const std::size_t site = begin * model_.max_length() + length - 1;
  if (site >= scored_.layout.block[SemiMarkov::kSegment].sites) return kNowhere;
  return site * model_.labels() + label;
}

SegmentLabeller::SegmentLabeller(const SegmentModel& model, const SegmentNames& names,
                                 Format format, SegmentOptions options)
    : model_(model), names_(names), options_(options), corpus_(format), reader_(model, corpus_) {
  corpus_.keep_columns(
      columns_read(model_.features().attributes(), format, {&options_.target, 1}, false));
}

// Finds the segments of a sentence, and their probabilities where they are asked for.
void SegmentLabeller::decide(SegmentReader& reader, std::size_t sentence, std::size_t L) {
  const Scored& scored = reader.scores(sentence, Purpose::kBest);
  best(reader, scored, output_);
  if (!options_.confidence) return;
  std::vector<double> p;
  marginals(reader, scored, options_.temperature, p);
  const std::vector<double> of_segment = certainties(reader, scored, output_, p);
  probability_.resize(L);
  for (std::size_t t = 0, segment = 0; t < L; ++t) {
    segment += t > 0 && output_[t] >= 0;
    probability_[t] = options_.certainty(of_segment[segment]);
  }
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
  SegmentReader reader(model_, corpus);
  for (std::size_t s = first; s < last; ++s) {
    const std::size_t L = corpus.sentence(s + 1) - corpus.sentence(s);
    decide(reader, s, L);
    for (std::size_t t = 0; t < L; ++t) {
      out.push_back({{&written(t)}, options_.confidence ? probability_[t] : 0.0, {}});
    }
    tokens_ += L;
  }
}

void SegmentLabeller::label(std::string_view text, std::size_t line, std::string& out) {
  if (corpus_.bytes() > kMostBytes) {
    corpus_.clear();
    reader_.forget();
  } else {
    corpus_.clear_tokens();
  }
  corpus_.set_line(line);
  corpus_.read(text, options_.target);
  reader_.update();
  check_columns(corpus_, model_.features().attributes().columns_needed(), options_.target,
                options_.columns);
  std::size_t copied = 0;
  for (std::size_t s = 0; s < corpus_.sentences(); ++s) {
    const std::size_t begin = corpus_.sentence(s), L = corpus_.sentence(s + 1) - begin;
    decide(reader_, s, L);
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
