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

void TaggerModel::score(Extractor& extractor, std::size_t sentence, Scratch& scratch) const {
  const std::size_t K = weights_.labels;
  const Corpus& corpus = extractor.corpus();
  const std::size_t L = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
  scratch.theta.assign(L * K, 0.0);
  if (weights_.candidates > 0) {
    extractor.keys(sentence, false, scratch.keys);
    add_scores(weights_.first, scratch.keys, scratch.slots, K, scratch.theta.data());
    if (features_->has_transitions()) extractor.keys(sentence, true, scratch.pair_keys);
    return;
  }
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

Arranged TaggerModel::arrange_candidates(std::size_t L, Scratch& scratch) const {
  const std::size_t K = weights_.labels, B = weights_.candidates, order = weights_.order;
  Arranged found;
  auto& [layout, scores] = found;
  layout = candidate_layout(L, B, order);
  scratch.candidates.resize(L * B);
  if (!weights_.forbidden.empty()) scratch.likely = scratch.theta;
  double* likely = weights_.forbidden.empty() ? scratch.theta.data() : scratch.likely.data();
  const std::vector<std::int32_t> path = weights_.forbidden.spread(L, likely);
  scratch.of_candidates.resize(layout.parts);
  double* theta = scratch.of_candidates.data();
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) scores.block[b] = theta + layout.block[b].offset;
  }
  find_words(weights_.state, scratch.keys, scratch.slots);
  CandidateSlots slots[2] = {{K, B}, {K, B}};  // of even tokens, of odd ones
  const ForbiddenLabels& forbidden = weights_.forbidden;
  const bool has_pairs = features_->has_transitions() && !weights_.pair.slots.empty();
  std::vector<double> sum(B + 1);
  std::size_t j = 0, pair_key = 0;
  for (std::size_t t = 0; t < L; ++t) {
    Candidate* const c = scratch.candidates.data() + t * B;
    const double* first = scratch.theta.data() + t * K;
    best_labels(likely + t * K, K, B, {path[t]}, c);
    const std::uint8_t* slot = slots[t % 2].set(c);
    const std::span<const Candidate> candidates(c, B);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (; j < scratch.keys.end[t]; ++j) {
      const std::uint64_t word = scratch.slots.words[j];
      const double x = scratch.keys.value.empty() ? 1.0 : scratch.keys.value[j];
      if (word != 0) weights_.state.add_at(word, x, candidates, slot, sum.data());
    }
    for (std::size_t b = 0; b < B; ++b) {
      // What was ruled out stays so.
      theta[t * B + b] = first[c[b]] == kMinusInfinity ? kMinusInfinity : sum[b];
      if (t == 0) {
        theta[layout.block[Chain::kStart].offset + b] =
            forbidden.first(c[b]) ? kMinusInfinity : weights_.start[c[b]];
      }
      if (t + 1 == L) {
        theta[layout.block[Chain::kEnd].offset + b] =
            forbidden.last(c[b]) ? kMinusInfinity : weights_.end[c[b]];
      }
    }
    for (std::size_t m = 1; m <= std::min(order, t); ++m) {
      const Block& at = layout.block[Chain::transition(m)];
      double* out = theta + at.offset + (t - m) * at.outcomes;
      const WeightTable& table = weights_.windows[m - 1];
      for_histories(c, B, K, m, [&](std::uint64_t history, std::size_t h) {
        std::fill(sum.begin(), sum.end(), 0.0);
        const std::uint64_t word = table.slots.empty() ? 0 : table.find(history + 1);
        if (word != 0) table.add_at(word, 1.0, candidates, slot, sum.data());
        std::copy(sum.begin(), sum.end() - 1, out + h * B);
      });
    }
    if (t == 0 || order == 0) continue;
    const Block& pair = layout.block[Chain::transition(1)];
    double* out = theta + pair.offset + (t - 1) * pair.outcomes;
    for (; has_pairs && pair_key < scratch.pair_keys.end[t - 1]; ++pair_key) {
      const std::uint64_t word = weights_.pair.find(scratch.pair_keys.key[pair_key]);
      if (word != 0) weights_.pair.add_pairs_at(word, slots[(t - 1) % 2], slots[t % 2], out);
    }
    for (std::size_t p = 0; p < B * B && !forbidden.empty(); ++p) {
      if (forbidden.after((c - B)[p / B], c[p % B])) out[p] = kMinusInfinity;
    }
  }
  return found;
}

void TaggerModel::name(const Scratch& scratch, Output& y) const {
  const std::size_t B = weights_.candidates;
  for (std::size_t t = 0; t < y.size() && B > 0; ++t) {
    y[t] = scratch.candidates[t * B + static_cast<std::size_t>(y[t])];
  }
}

Arranged TaggerModel::arrange(std::size_t L, Scratch& scratch) const {
  if (weights_.candidates > 0) return arrange_candidates(L, scratch);
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
  const double value = chain_.argmax(layout, scores, y, scratch.workspace);
  name(scratch, y);
  return value;
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
  const std::size_t K = weights_.labels, B = weights_.candidates;
  if (B == 0) {
    std::copy(scratch.marginals.begin(),
              scratch.marginals.begin() + static_cast<std::ptrdiff_t>(L * K), p);
    return value;
  }
  std::fill(p, p + L * K, 0.0);
  for (std::size_t i = 0; i < L * B; ++i) {
    p[i / B * K + scratch.candidates[i]] = scratch.marginals[i];
  }
  return value;
}

std::vector<std::pair<double, Output>> TaggerModel::kbest(std::size_t L, Scratch& scratch,
                                                          std::size_t n) const {
  const auto [layout, scores] = arrange(L, scratch);
  auto found = chain_.kbest(layout, scores, n, scratch.workspace);
  for (auto& [score, y] : found) name(scratch, y);
  return found;
}

std::vector<Output> TaggerModel::rivals(std::size_t L, Scratch& scratch,
                                        std::span<const std::int32_t> name_of) const {
  const auto [layout, scores] = arrange(L, scratch);
  const std::size_t width = layout.block[Chain::kLabel].outcomes;
  const bool few = weights_.candidates > 0;
  double* label = few ? scratch.of_candidates.data() : scratch.theta.data();
  const auto name_at = [&](std::size_t t, std::size_t k) {
    return name_of[few ? scratch.candidates[t * width + k] : k];
  };
  Output best, other;
  chain_.argmax(layout, scores, best, scratch.workspace);
  std::vector<Output> found(L);
  for (std::size_t t = 0; t < L; ++t) {
    double* row = label + layout.block[Chain::kLabel].offset + t * width;
    const std::vector<double> kept(row, row + width);
    for (std::size_t k = 0; k < width; ++k) {
      if (name_at(t, k) == name_at(t, static_cast<std::size_t>(best[t]))) row[k] = kMinusInfinity;
    }
    if (chain_.argmax(layout, scores, other, scratch.workspace) != kMinusInfinity) {
      name(scratch, other);
      found[t] = other;
    }
    std::copy(kept.begin(), kept.end(), row);
  }
  return found;
}

std::vector<Output> TaggerModel::sample(std::size_t L, Scratch& scratch, double temperature,
                                        std::size_t n, std::uint64_t seed) const {
  const auto [layout, scores] = arrange(L, scratch);
  auto found = chain_.sample(layout, scores, temperature, n, seed, scratch.workspace);
  for (Output& y : found) name(scratch, y);
  return found;
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
