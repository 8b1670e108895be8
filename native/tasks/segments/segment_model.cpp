#include "tasks/segments/segment_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tasks/tagging/stored_labels.hpp"

namespace structlearn::text {
namespace {

// Scores of rows of keys, added up anew.
void score_rows(const WeightTable& table, const Keys& keys, SlotScratch& slots, std::size_t K,
                std::vector<double>& out) {
  out.assign(keys.end.size() * K, 0.0);
  add_scores(table, keys, slots, K, out.data());
}

}  // namespace

LabelNames segment_names(const std::vector<std::string>& labels) {
  std::vector<std::string> sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  if (labels.empty() || labels[0] != "O" ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw std::invalid_argument("the labels are not 'O' and types, each once");
  }
  std::vector<std::string> written;
  for (const char* prefix : {"B-", "I-"}) {
    for (const std::string& label : labels) {
      written.push_back(&label == labels.data() ? label : prefix + label);
    }
  }
  return label_names(written, written, true);
}

SegmentWeights segment_weights(const ArrayViews& arrays, std::size_t labels,
                               std::size_t max_length) {
  SegmentWeights w;
  w.labels = labels;
  w.max_length = max_length;
  w.table = weight_table(arrays, "segment");
  w.start = score_table(arrays, "start");
  w.end = score_table(arrays, "end");
  w.transition = score_table(arrays, "transition");
  for (const auto* given : {&w.start, &w.end, &w.transition}) {
    for (const double x : *given) {
      if (!std::isfinite(x)) throw std::invalid_argument("a score that is not finite");
    }
  }
  return w;
}

SegmentModel::SegmentModel(std::shared_ptr<const FeatureSet> features, SegmentWeights weights)
    : features_(std::move(features)), weights_(std::move(weights)) {
  const std::size_t K = weights_.labels;
  if (K == 0) throw std::invalid_argument("a model without labels");
  if (!features_->for_segments()) throw std::invalid_argument("features of tokens");
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
    : model_(model), extractor_(model.shared_features(), corpus), structure_(model.max_length()) {
  extractor_.update();
}

const Scored& SegmentReader::scores(std::size_t sentence, Purpose) {
  const SegmentWeights& weights = model_.weights();
  const std::size_t K = weights.labels, D = weights.max_length;
  extractor_.segment_keys(sentence, D, keys_);
  const std::size_t L = keys_.begin.end.size();
  score_rows(weights.table, keys_.begin, slots_, K, begin_);
  score_rows(weights.table, keys_.end, slots_, K, end_);
  score_rows(weights.table, keys_.inside, slots_, K, inside_);
  score_rows(weights.table, keys_.own, slots_, K, theta_);
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

void SegmentReader::to_labels(Output& y) const {
  std::int32_t label = 0;
  for (std::int32_t& k : y) {
    if (k >= 0) {
      label = k;
    } else {
      k = label + static_cast<std::int32_t>(model_.labels());
    }
  }
}

}  // namespace structlearn::text
