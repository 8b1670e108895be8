#include "tasks/tagging/model.hpp"

#include <algorithm>
#include <stdexcept>

#include "structures/entropy.hpp"

namespace structlearn::text {
TaggerModel::TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights)
    : features_(std::move(features)), weights_(std::move(weights)), plan_(*features_) {
  const std::size_t K = weights_.labels;
  if (K == 0) throw std::invalid_argument("a model without labels");
  weights_.state.check(K);
  weights_.pair.check(K * K);
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

void TaggerModel::score(Extractor& extractor, std::size_t sentence, Scratch& scratch) const {
  const std::size_t K = weights_.labels;
  const Corpus& corpus = extractor.corpus();
  const std::size_t L = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
  scratch.theta.assign(L * K, 0.0);
  scratch.scorer.add(plan_, weights_.state, extractor, corpus, sentence, K, scratch.theta.data());
  if (!plan_.all_planned) {
    extractor.keys(sentence, false, scratch.keys, plan_.planned);
    add_scores(weights_.state, scratch.keys, scratch.slots, K, scratch.theta.data());
  }
  if (!features_->has_transitions()) return;
  scratch.pairs.resize((L - 1) * K * K);
  for (std::size_t t = 0; t + 1 < L; ++t) {
    std::copy(weights_.transition[0].begin(), weights_.transition[0].end(),
              scratch.pairs.begin() + static_cast<std::ptrdiff_t>(t * K * K));
  }
  extractor.keys(sentence, true, scratch.keys);
  add_scores(weights_.pair, scratch.keys, scratch.slots, K * K, scratch.pairs.data());
}

void TaggerModel::clamp(std::span<const std::int32_t> known, std::span<const std::int32_t> group,
                        Scratch& scratch) const {
  const std::size_t K = weights_.labels;
  for (std::size_t t = 0; t < known.size(); ++t) {
    if (known[t] < 0) continue;
    for (std::size_t k = 0; k < K; ++k) {
      if (group[k] != known[t]) scratch.theta[t * K + k] = kMinusInfinity;
    }
  }
}

Arranged TaggerModel::arrange(std::size_t L, const Scratch& scratch) const {
  const std::size_t K = weights_.labels;
  Arranged found;
  auto& [layout, scores] = found;
  layout.add(Chain::kLabel, L, K, true);
  scores.block[Chain::kLabel] = scratch.theta.data();
  if (!weights_.start.empty()) {
    layout.add(Chain::kStart, 1, K, false);
    scores.block[Chain::kStart] = weights_.start.data();
  }
  if (!weights_.end.empty()) {
    layout.add(Chain::kEnd, 1, K, false);
    scores.block[Chain::kEnd] = weights_.end.data();
  }
  for (std::size_t m = 1; m <= weights_.order; ++m) {
    const std::vector<double>& table = weights_.transition[m - 1];
    if (m == 1 && features_->has_transitions()) {
      layout.add(Chain::transition(1), L - 1, table.size(), true);
      scores.block[Chain::transition(1)] = scratch.pairs.data();
      continue;
    }
    layout.add(Chain::transition(m), 1, table.size(), false);
    scores.block[Chain::transition(m)] = table.data();
  }
  return found;
}

double TaggerModel::argmax(std::size_t L, Scratch& scratch, Output& y) const {
  const auto [layout, scores] = arrange(L, scratch);
  return chain_.argmax(layout, scores, y, scratch.workspace);
}

double TaggerModel::marginals(std::size_t L, Scratch& scratch, double temperature,
                              double* p) const {
  const auto [layout, scores] = arrange(L, scratch);
  Marginals out;
  scratch.marginals.resize(layout.parts);
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) {
      out.block[b] = scratch.marginals.data() + layout.block[b].offset;
    }
  }
  const double value = chain_.infer(layout, scores, temperature, out, scratch.workspace);
  std::copy(scratch.marginals.begin(),
            scratch.marginals.begin() + static_cast<std::ptrdiff_t>(L * weights_.labels), p);
  return value;
}

std::vector<std::pair<double, Output>> TaggerModel::kbest(std::size_t L, Scratch& scratch,
                                                          std::size_t n) const {
  const auto [layout, scores] = arrange(L, scratch);
  return chain_.kbest(layout, scores, n, scratch.workspace);
}

std::vector<Output> TaggerModel::sample(std::size_t L, Scratch& scratch, double temperature,
                                        std::size_t n, std::uint64_t seed) const {
  const auto [layout, scores] = arrange(L, scratch);
  return chain_.sample(layout, scores, temperature, n, seed, scratch.workspace);
}

double TaggerModel::entropy(std::size_t L, Scratch& scratch, double temperature) const {
  const auto [layout, scores] = arrange(L, scratch);
  return ::structlearn::entropy(chain_, layout, scores, temperature, scratch.workspace).value;
}

void TaggerModel::weights_of(std::uint64_t key, bool pair, double* out) const {
  const WeightTable& table = pair ? weights_.pair : weights_.state;
  const std::size_t K = weights_.labels, outcomes = pair ? K * K : K;
  const std::uint64_t word = table.slots.empty() ? 0 : table.find(key);
  if (word != 0) table.add(word, 1.0, outcomes, out);
}

}  // namespace structlearn::text
