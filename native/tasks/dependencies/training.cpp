#include "tasks/dependencies/training.hpp"

#include <algorithm>
#include <cmath>

namespace structlearn::parsing {

ParserLearner::ParserLearner(const Treebank& treebank, const LabelSets& sets, std::size_t labels,
                             std::span<const Candidates> candidates, unsigned bits,
                             TrainingOptions options)
    : treebank_(treebank),
      candidates_(candidates),
      options_(options),
      weight_(std::size_t{1} << bits),
      behind_(weight_.size()),
      squares_(options.loss == ParserLoss::kLog ? weight_.size() : 0),
      table_{weight_.data(), weight_.size() / kLine - 1},
      scorer_(table_, sets, labels),
      decoder_(options.projective, options.iterations),
      trees_(options.projective) {}

// The features of what one tree has and the other has not.
void ParserLearner::collect(const Sentence& s, const Parts& parts,
                            std::span<const std::int32_t> heads,
                            std::span<const std::uint16_t> labels,
                            std::span<const std::int32_t> other_heads,
                            std::span<const std::uint16_t> other_labels, float sign) {
  const auto add = [&](std::uint32_t index) { gradient_.emplace_back(index, sign); };
  for (int m = 1; m <= parts.n; ++m) {
    const auto i = static_cast<std::size_t>(m);
    const bool same = heads[i] == other_heads[i];
    if (same && labels[i] == other_labels[i]) continue;
    for_label_weights(table_, s, heads[i], m, labels[i], add);
    if (!same) for_arc_weights(table_, s, heads[i], m, add);
  }
  if (!parts.second_order) return;
  shared_sibling_.assign(parts.sibling.size(), 0);
  shared_grand_.assign(parts.grand.size(), 0);
  parts.for_second_order(
      other_heads, [&](int, int, int, std::size_t i) { shared_sibling_[i] = 1; },
      [&](int, int, int, std::size_t i) { shared_grand_[i] = 1; });
  parts.for_second_order(
      heads,
      [&](int h, int a, int b, std::size_t i) {
        if (!shared_sibling_[i]) for_sibling_weights(table_, s, h, a, b, add);
      },
      [&](int g, int h, int m, std::size_t i) {
        if (!shared_grand_[i]) for_grandparent_weights(table_, s, g, h, m, add);
      });
}

// The gradient of log Z - score: expected features less those of the gold tree, arc by arc.
void ParserLearner::learn_log_loss(std::size_t i, ParseEpoch& report) {
  constexpr double kSmall = 1e-3;  // a probability that is not worth a step
  const Sentence& s = treebank_.sentence[i];
  const auto& heads = treebank_.heads[i];
  const auto& labels = treebank_.labels[i];
  parts_.set(candidates_[i]);
  scorer_.soft_arcs(s, parts_, label_scores_);
  trees_.begin(parts_.n);
  for (std::size_t a = 0; a < parts_.head.size(); ++a) {
    trees_.at(parts_.head[a], parts_.word[a]) = parts_.arc[a];
  }
  steps_ += 1.0;
  report.tokens += labels.size() - 1;
  if (trees_.log_partition(marginals_) == kMinusInfinity) return;
  const auto descend = [&](std::uint32_t index, double g) {
    squares_[index] += static_cast<float>(g * g);
    step(index,
         static_cast<float>(-options_.rate * g / std::sqrt(static_cast<double>(squares_[index]))));
  };
  const std::size_t width = static_cast<std::size_t>(parts_.n) + 1, row = scorer_.width();
  for (std::size_t a = 0; a < parts_.head.size(); ++a) {
    const int h = parts_.head[a], m = parts_.word[a];
    const double p = marginals_[static_cast<std::size_t>(h) * width + static_cast<std::size_t>(m)];
    const bool right = heads[static_cast<std::size_t>(m)] == h;
    const std::size_t gold = labels[static_cast<std::size_t>(m)];
    if (right && p < 0.5) ++report.wrong;
    const double g = p - (right ? 1.0 : 0.0);
    if (std::abs(g) >= kSmall) {
      for_arc_weights(table_, s, h, m, [&](std::uint32_t index) { descend(index, g); });
    }
    if (p < kSmall && !right) continue;
    const float* scores = label_scores_.data() + a * row;
    double total = 0.0;
    const float most = *std::max_element(scores, scores + row);
    for (std::size_t l = 0; l < row; ++l) {
      total += std::exp(static_cast<double>(scores[l] - most));
    }
    for (std::size_t l = 0; l < row; ++l) {
      const double q = p * std::exp(static_cast<double>(scores[l] - most)) / total;
      const double d = q - (right && l == gold ? 1.0 : 0.0);
      if (std::abs(d) < kSmall) continue;
      for_label_weights(table_, s, h, m, l, [&](std::uint32_t index) { descend(index, d); });
    }
  }
  ++report.updates;
}

void ParserLearner::learn(std::size_t i, ParseEpoch& report) {
  const Sentence& s = treebank_.sentence[i];
  const auto& heads = treebank_.heads[i];
  const auto& labels = treebank_.labels[i];
  const double half = options_.loss == ParserLoss::kHinge ? 0.5 : 0.0;
  Gold gold{heads, labels, half, half};
  parts_.set(candidates_[i]);
  scorer_.arcs(s, parts_, &gold);
  if (options_.order > 1) scorer_.second_order(s, parts_);
  const Decoded found = decoder_.decode(parts_, found_);
  if (!found.exact) ++report.inexact;
  steps_ += 1.0;
  found_labels_.assign(labels.size(), 0);
  double cost = 0.0;
  bool right = true;
  for (std::size_t m = 1; m < labels.size(); ++m) {
    const std::uint32_t a = parts_.find(found_[m], static_cast<int>(m));
    found_labels_[m] = parts_.label[a];
    const bool same_head = found_[m] == heads[m];
    if (!same_head) cost += gold.head_cost;
    if (!same_head || found_labels_[m] != labels[m]) {
      cost += gold.label_cost;
      right = false;
      ++report.wrong;
    }
  }
  report.tokens += labels.size() - 1;
  if (right) return;
  gradient_.clear();
  collect(s, parts_, heads, labels, found_, found_labels_, 1.0f);
  collect(s, parts_, found_, found_labels_, heads, labels, -1.0f);
  std::sort(gradient_.begin(), gradient_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t used = 0;
  double norm = 0.0, difference = 0.0;
  for (std::size_t j = 0; j < gradient_.size();) {
    const std::uint32_t index = gradient_[j].first;
    float sum = 0.0f;
    for (; j < gradient_.size() && gradient_[j].first == index; ++j) sum += gradient_[j].second;
    if (sum == 0.0f) continue;
    gradient_[used++] = {index, sum};
    norm += static_cast<double>(sum) * static_cast<double>(sum);
    difference += static_cast<double>(sum) * static_cast<double>(weight_[index]);
  }
  gradient_.resize(used);
  const double loss = cost - difference;
  if (loss < 0.0 || norm == 0.0) return;  // an inexact tree that is no better than gold
  ++report.updates;
  const double length =
      options_.loss == ParserLoss::kHinge ? std::min(options_.rate, loss / norm) : 1.0;
  for (const auto& [index, g] : gradient_) step(index, static_cast<float>(length) * g);
}

ParseEpoch ParserLearner::epoch(std::span<const std::uint32_t> order, Interrupt& interrupt) {
  ParseEpoch report;
  for (const std::uint32_t i : order) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    if (options_.loss == ParserLoss::kLog) {
      learn_log_loss(i, report);
    } else {
      learn(i, report);
    }
  }
  return report;
}

void ParserLearner::mean(std::span<float> out) const {
  const double n = std::max(steps_, 1.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = weight_[i] - static_cast<float>(static_cast<double>(behind_[i]) / n);
  }
}

}  // namespace structlearn::parsing
