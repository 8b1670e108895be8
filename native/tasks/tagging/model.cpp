#include "tasks/tagging/model.hpp"

#include <algorithm>
#include <stdexcept>

namespace structlearn::text {
TaggerModel::TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights)
    : features_(std::move(features)), weights_(std::move(weights)), plan_(*features_) {
  const std::size_t K = weights_.labels;
  if (K == 0) throw std::invalid_argument("a model without labels");
  if (features_->for_segments()) throw std::invalid_argument("features of segments");
  weights_.state.check(K);
  weights_.pair.check(K * K);
  if (weights_.candidates > 0) {
    if (weights_.candidates > std::min<std::size_t>(K, 255) || K > 65535) {
      throw std::invalid_argument("the number of candidates");
    }
    if ((features_->has_transitions() && weights_.order != 1) ||
        weights_.windows.size() != weights_.order || !weights_.transition.empty() ||
        weights_.start.size() != K || weights_.end.size() != K) {
      throw std::invalid_argument("the scores of a model with candidates");
    }
    weights_.first.check(K);
    for (const WeightTable& table : weights_.windows) table.check(K);
    return;
  }
  std::size_t size = K;
  for (const auto& table : weights_.transition) {
    size *= K;
    if (table.size() != size) throw std::invalid_argument("a transition table of the wrong size");
  }
  if (weights_.transition.size() != weights_.order) throw std::invalid_argument("the order");
  if ((!weights_.start.empty() && weights_.start.size() != K) ||
      (!weights_.end.empty() && weights_.end.size() != K)) {
    throw std::invalid_argument("start or end of the wrong size");
  }
  if ((features_->has_transitions() || !weights_.pair.slots.empty()) && weights_.order != 1) {
    throw std::invalid_argument("features of transitions need a model of order 1");
  }
}

void TaggerModel::weights_of(std::uint64_t key, bool pair, double* out) const {
  const WeightTable& table = pair ? weights_.pair : weights_.state;
  const std::size_t K = weights_.labels, outcomes = pair ? K * K : K;
  const std::uint64_t word = table.slots.empty() ? 0 : table.find(key);
  if (word != 0) table.add(word, 1.0, outcomes, out);
}

std::pair<const WeightTable*, std::size_t> TaggerModel::table(std::string_view name) const {
  const std::size_t K = weights_.labels;
  if (name == "state") return {&weights_.state, K};
  if (name == "pair") return {&weights_.pair, K * K};
  if (name == "first") return {&weights_.first, K};
  for (std::size_t m = 1; m <= weights_.windows.size(); ++m) {
    if (name == "transition" + std::to_string(m)) return {&weights_.windows[m - 1], K};
  }
  throw std::invalid_argument("there is no table " + std::string(name));
}

}  // namespace structlearn::text
