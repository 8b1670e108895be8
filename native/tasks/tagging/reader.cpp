#include "tasks/tagging/reader.hpp"

#include <algorithm>

namespace structlearn::text {

TaggerReader::TaggerReader(const TaggerModel& model, const Corpus& corpus, TaggerQuestion question)
    : model_(model),
      corpus_(corpus),
      question_(question),
      extractor_(model.shared_features(), corpus) {
  extractor_.update();
}

const Scored& TaggerReader::scores(std::size_t sentence, Purpose) {
  const std::size_t L = corpus_.sentence(sentence + 1) - corpus_.sentence(sentence);
  sentence_ = sentence;
  score_tokens(sentence, L);
  const bool candidates = model_.weights().candidates > 0, clamped = !question_.known.empty();
  const bool within = candidates && !question_.chooses;
  if (clamped && !within) clamp(sentence, L, false);
  scored_.structure = &chain_;
  scored_.layout = {};
  scored_.scores = {};
  if (candidates) {
    arrange_candidates(L);
    if (clamped && within) clamp(sentence, L, true);
  } else {
    arrange(L);
  }
  return scored_;
}

std::optional<LabelReader::Likely> TaggerReader::likely() const {
  if (model_.weights().candidates == 0) return std::nullopt;
  return Likely{scored_.layout.block[scored_.first].sites, theta_.data(),
                &model_.weights().forbidden, !question_.known.empty() && !question_.chooses};
}

const Scored& TaggerReader::consider(std::span<const std::int32_t> labels, bool restricted) {
  const std::size_t L = scored_.layout.block[scored_.first].sites;
  scored_.layout = {};
  scored_.scores = {};
  arrange_candidates(L, labels);
  if (restricted && !question_.known.empty() && !question_.chooses) clamp(sentence_, L, true);
  return scored_;
}

void TaggerReader::score_tokens(std::size_t sentence, std::size_t L) {
  const TaggerWeights& weights = model_.weights();
  const ScoringPlan& plan = model_.plan();
  const bool has_pairs = model_.features().has_transitions();
  const std::size_t K = weights.labels;
  theta_.assign(L * K, 0.0);
  if (weights.candidates > 0) {
    extractor_.keys(sentence, false, keys_);
    add_scores(weights.first, keys_, slots_, K, theta_.data());
    if (has_pairs) extractor_.keys(sentence, true, pair_keys_);
    return;
  }
  scorer_.add(plan, weights.state, extractor_, corpus_, sentence, K, theta_.data());
  if (!plan.all_planned) {
    extractor_.keys(sentence, false, keys_, plan.planned);
    add_scores(weights.state, keys_, slots_, K, theta_.data());
  }
  if (!has_pairs) return;
  pairs_.resize((L - 1) * K * K);
  for (std::size_t t = 0; t + 1 < L; ++t) {
    std::copy(weights.transition[0].begin(), weights.transition[0].end(),
              pairs_.begin() + static_cast<std::ptrdiff_t>(t * K * K));
  }
  extractor_.keys(sentence, true, keys_);
  add_scores(weights.pair, keys_, slots_, K * K, pairs_.data());
}

void TaggerReader::clamp(std::size_t sentence, std::size_t L, bool candidates) {
  const std::size_t begin = corpus_.sentence(sentence);
  const std::size_t width = candidates ? model_.weights().candidates : model_.labels();
  double* theta = candidates ? scored_.parts : theta_.data();
  for (std::size_t t = 0; t < L; ++t) {
    const std::int32_t known = question_.known[begin + t];
    for (std::size_t k = 0; k < width && known != -1; ++k) {
      const std::size_t label = candidates ? static_cast<std::size_t>(this->label(t, k)) : k;
      if (question_.name_of[label] != known) theta[t * width + k] = kMinusInfinity;
    }
  }
}

void TaggerReader::arrange_candidates(std::size_t L, std::span<const std::int32_t> kept) {
  const TaggerWeights& weights = model_.weights();
  const std::size_t K = weights.labels, B = weights.candidates, order = weights.order;
  Layout& layout = scored_.layout;
  Scores& scores = scored_.scores;
  layout = candidate_layout(L, B, order);
  candidates_.resize(L * B);
  if (!weights.forbidden.empty()) likely_ = theta_;
  double* likely = weights.forbidden.empty() ? theta_.data() : likely_.data();
  std::vector<std::int32_t> path = weights.forbidden.spread(L, likely);
  if (!kept.empty()) path.assign(kept.begin(), kept.end());
  candidate_scores_.resize(layout.parts);
  double* theta = scored_.parts = candidate_scores_.data();
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) scores.block[b] = theta + layout.block[b].offset;
  }
  find_words(weights.state, keys_, slots_);
  CandidateSlots slots[2] = {{K, B}, {K, B}};  // of even tokens, of odd ones
  const ForbiddenLabels& forbidden = weights.forbidden;
  const bool has_pairs = model_.features().has_transitions() && !weights.pair.slots.empty();
  std::vector<double> sum(B + 1);
  std::size_t j = 0, pair_key = 0;
  for (std::size_t t = 0; t < L; ++t) {
    Candidate* const c = candidates_.data() + t * B;
    const double* first = theta_.data() + t * K;
    best_labels(likely + t * K, K, B, {path[t]}, c);
    const std::uint8_t* slot = slots[t % 2].set(c);
    const std::span<const Candidate> candidates(c, B);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (; j < keys_.end[t]; ++j) {
      const std::uint64_t word = slots_.words[j];
      const double x = keys_.value.empty() ? 1.0 : keys_.value[j];
      if (word != 0) weights.state.add_at(word, x, candidates, slot, sum.data());
    }
    for (std::size_t b = 0; b < B; ++b) {
      // What was ruled out stays so.
      theta[t * B + b] = first[c[b]] == kMinusInfinity ? kMinusInfinity : sum[b];
      if (t == 0) {
        theta[layout.block[Chain::kStart].offset + b] =
            forbidden.first(c[b]) ? kMinusInfinity : weights.start[c[b]];
      }
      if (t + 1 == L) {
        theta[layout.block[Chain::kEnd].offset + b] =
            forbidden.last(c[b]) ? kMinusInfinity : weights.end[c[b]];
      }
    }
    for (std::size_t m = 1; m <= std::min(order, t); ++m) {
      const Block& at = layout.block[Chain::transition(m)];
      double* out = theta + at.offset + (t - m) * at.outcomes;
      const WeightTable& table = weights.windows[m - 1];
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
    for (; has_pairs && pair_key < pair_keys_.end[t - 1]; ++pair_key) {
      const std::uint64_t word = weights.pair.find(pair_keys_.key[pair_key]);
      if (word != 0) weights.pair.add_pairs_at(word, slots[(t - 1) % 2], slots[t % 2], out);
    }
    for (std::size_t p = 0; p < B * B && !forbidden.empty(); ++p) {
      if (forbidden.after((c - B)[p / B], c[p % B])) out[p] = kMinusInfinity;
    }
  }
}

void TaggerReader::arrange(std::size_t L) {
  const TaggerWeights& weights = model_.weights();
  const std::size_t K = weights.labels;
  Layout& layout = scored_.layout;
  Scores& scores = scored_.scores;
  layout.add(Chain::kLabel, L, K, true);
  scores.block[Chain::kLabel] = scored_.parts = theta_.data();
  if (!weights.start.empty()) {
    layout.add(Chain::kStart, 1, K, false);
    scores.block[Chain::kStart] = weights.start.data();
  }
  if (!weights.end.empty()) {
    layout.add(Chain::kEnd, 1, K, false);
    scores.block[Chain::kEnd] = weights.end.data();
  }
  for (std::size_t m = 1; m <= weights.order; ++m) {
    const std::vector<double>& table = weights.transition[m - 1];
    if (m == 1 && model_.features().has_transitions()) {
      layout.add(Chain::transition(1), L - 1, table.size(), true);
      scores.block[Chain::transition(1)] = pairs_.data();
      continue;
    }
    layout.add(Chain::transition(m), 1, table.size(), false);
    scores.block[Chain::transition(m)] = table.data();
  }
}

std::size_t TaggerReader::outcome(std::size_t token, std::int32_t label) const {
  const std::size_t width = scored_.layout.block[Chain::kLabel].outcomes;
  if (model_.weights().candidates == 0) {
    const auto k = static_cast<std::size_t>(label);
    return label >= 0 && k < width ? k : kNowhere;
  }
  for (std::size_t k = 0; k < width; ++k) {
    if (this->label(token, k) == label) return k;
  }
  return kNowhere;
}

void TaggerReader::to_model(Output& y) const {
  if (model_.weights().candidates == 0) return;
  for (std::size_t t = 0; t < y.size(); ++t) y[t] = label(t, static_cast<std::size_t>(y[t]));
}

bool TaggerReader::to_structure(Output& y) const {
  if (y.size() != scored_.layout.block[Chain::kLabel].sites) return false;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const std::size_t k = outcome(t, y[t]);
    if (k == kNowhere) return false;
    y[t] = static_cast<std::int32_t>(k);
  }
  return true;
}

std::vector<Part> TaggerReader::parts(const Output& y) const {
  std::vector<Part> labelled;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto at = static_cast<std::int32_t>(t);
    labelled.push_back({at, at + 1, y[t]});
  }
  return labelled;
}

Part TaggerReader::part(std::size_t token, std::size_t outcome) const {
  const auto at = static_cast<std::int32_t>(token);
  return {at, at + 1, label(token, outcome)};
}

std::size_t TaggerReader::find(const Part& part) const {
  const auto token = static_cast<std::size_t>(part.begin);
  if (token >= scored_.layout.block[Chain::kLabel].sites) return kNowhere;
  const std::size_t k = outcome(token, part.label);
  return k == kNowhere ? k : token * scored_.layout.block[Chain::kLabel].outcomes + k;
}

bool TaggerReader::alike(std::size_t token, std::size_t a, std::size_t b) const {
  if (question_.name_of.empty()) return a == b;
  const auto name = [&](std::size_t k) {
    return question_.name_of[static_cast<std::size_t>(label(token, k))];
  };
  return name(a) == name(b);
}

}  // namespace structlearn::text
