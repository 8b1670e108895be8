#include "structlearn/text/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "structlearn/kernels.hpp"

namespace structlearn::text {
namespace {

constexpr std::size_t kAhead = 16;  // keys between asking for a slot and reading it

float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// Adds the weights of one feature, times x, to a row of scores.
inline void add_weights(const WeightTable& table, std::uint64_t word, double x,
                        std::size_t outcomes, double* out) {
  const std::uint32_t low = slot::low(word);
  switch (slot::kind(word)) {
    case slot::kSingle:
      out[slot::label(word)] += x * static_cast<double>(as_float(low));
      break;
    case slot::kRow: {
      const float* row = table.weight.data() + low;
      for (std::size_t k = 0; k < outcomes; ++k) out[k] += x * static_cast<double>(row[k]);
      break;
    }
    default: {
      const std::uint32_t end = low + slot::label(word);
      for (std::uint32_t q = low; q < end; ++q) {
        out[table.outcome[q]] += x * static_cast<double>(table.weight[q]);
      }
    }
  }
}

// The second word of a key's slot; 0 (an empty list) where the key is not there.
inline std::uint64_t find(const WeightTable& table, std::uint64_t key) {
  const std::size_t mask = table.slots.size() / 2 - 1;
  std::size_t at = key & mask;
  if (table.hashed) return table.slots[2 * at + 1];
  while (table.slots[2 * at] != key) {
    if (table.slots[2 * at] == 0) return 0;
    at = (at + 1) & mask;
  }
  return table.slots[2 * at + 1];
}

}  // namespace

// First the slots of all keys are found, which
// asks for the weights ahead of time; then they are added, whole rows as vectors and last.
void add_scores(const WeightTable& table, const Keys& keys, SlotScratch& scratch,
                std::size_t outcomes, double* out) {
  if (table.slots.empty()) return;
  const std::size_t n = keys.key.size(), mask = table.slots.size() / 2 - 1;
  scratch.words.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (j + kAhead < n) {
      __builtin_prefetch(table.slots.data() + 2 * (keys.key[j + kAhead] & mask));
    }
    const std::uint64_t word = find(table, keys.key[j]);
    scratch.words[j] = word;
    if (slot::kind(word) == slot::kRow) {
      __builtin_prefetch(table.weight.data() + slot::low(word));
      __builtin_prefetch(table.weight.data() + slot::low(word) + 16);
    } else if (slot::kind(word) == slot::kList && word != 0) {
      __builtin_prefetch(table.weight.data() + slot::low(word));
      __builtin_prefetch(table.outcome.data() + slot::low(word));
    }
  }
  std::size_t j = 0;
  for (std::size_t t = 0; t < keys.end.size(); ++t, out += outcomes) {
    scratch.rows.clear();
    for (; j < keys.end[t]; ++j) {
      const std::uint64_t word = scratch.words[j];
      if (word == 0) continue;
      if (slot::kind(word) == slot::kRow && keys.value.empty()) {
        scratch.rows.push_back(table.weight.data() + slot::low(word));
      } else {
        add_weights(table, word, keys.value.empty() ? 1.0 : keys.value[j], outcomes, out);
      }
    }
    kernels().add_float_rows(scratch.rows.data(), scratch.rows.size(), outcomes, out);
  }
}

void WeightTable::check(std::size_t outcomes) const {
  if (slots.empty()) return;
  const std::size_t n = slots.size() / 2;
  if (slots.size() % 2 != 0 || !std::has_single_bit(n)) {
    throw std::invalid_argument("the table of features does not have a power of two of slots");
  }
  std::size_t empty = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t word = slots[2 * i + 1];
    if (slots[2 * i] == 0 && !hashed) ++empty;
    const std::size_t low = slot::low(word), label = slot::label(word);
    bool fits = false;
    switch (slot::kind(word)) {
      case slot::kSingle:
        fits = label < outcomes && std::isfinite(as_float(slot::low(word)));
        break;
      case slot::kRow:
        fits = low + outcomes <= weight.size();
        break;
      case slot::kList:
        fits = low + label <= outcome.size() && low + label <= weight.size();
        break;
      default:
        break;
    }
    if (!fits) throw std::invalid_argument("slot " + std::to_string(i) + " points nowhere");
  }
  if (empty == 0 && !hashed) throw std::invalid_argument("the table of features is full");
  for (const std::uint32_t k : outcome) {
    if (k >= outcomes) throw std::invalid_argument("a weight of a label that does not exist");
  }
  for (const float w : weight) {
    if (!std::isfinite(w)) throw std::invalid_argument("a weight that is not a number");
  }
}

WeightArrays pack(std::span<const std::uint64_t> keys, std::span<const std::uint32_t> row_ptr,
                  std::span<const std::uint32_t> column, std::span<const double> w,
                  std::size_t outcomes, double prune) {
  WeightArrays out;
  const std::size_t features = row_ptr.size() - 1;
  const auto stays = [&](std::uint32_t q) {
    return std::abs(w[q]) > prune && static_cast<float>(w[q]) != 0.0f;
  };
  std::vector<std::uint32_t> alive;
  for (std::size_t f = 0; f < features; ++f) {
    for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) {
      if (stays(q)) {
        alive.push_back(static_cast<std::uint32_t>(f));
        break;
      }
    }
  }
  const bool hashed = keys.empty();
  std::size_t n = hashed ? features : 2;
  while (!hashed && 2 * alive.size() > n) n *= 2;  // half empty: most keys are not there
  const std::size_t mask = n - 1;
  out.slots.assign(2 * n, 0);
  std::vector<std::uint32_t> owner(n, FeatureIndex::kAbsent);
  for (const std::uint32_t f : alive) {
    std::size_t at = hashed ? f : keys[f] & mask;
    while (!hashed && out.slots[2 * at] != 0) at = (at + 1) & mask;
    std::size_t count = 0;
    std::uint32_t only = 0;
    for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) {
      if (!stays(q)) continue;
      ++count;
      only = q;
    }
    std::uint64_t word;
    const auto place = static_cast<std::uint32_t>(out.weight.size());
    if (count == 1) {
      word = slot::make(slot::kSingle, column[only],
                        std::bit_cast<std::uint32_t>(static_cast<float>(w[only])));
    } else if (count >= std::max<std::size_t>(3, outcomes / 4) && outcomes <= 4096) {
      word = slot::make(slot::kRow, 0, place);
      out.weight.resize(place + outcomes, 0.0f);
      for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) {
        if (stays(q)) out.weight[place + column[q]] = static_cast<float>(w[q]);
      }
    } else {
      word = slot::make(slot::kList, count, place);
      for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) {
        if (!stays(q)) continue;
        out.outcome.resize(out.weight.size(), 0);
        out.outcome.push_back(column[q]);
        out.weight.push_back(static_cast<float>(w[q]));
      }
    }
    out.slots[2 * at] = hashed ? 0 : keys[f];
    out.slots[2 * at + 1] = word;
    owner[at] = f;
  }
  out.outcome.resize(out.weight.size(), 0);
  for (const std::uint32_t f : owner) {
    if (f != FeatureIndex::kAbsent) out.kept.push_back(f);
  }
  return out;
}

UnpackedWeights unpack(const WeightTable& table, std::size_t outcomes) {
  UnpackedWeights out;
  const auto add = [&](std::uint32_t outcome, float w) {
    if (w == 0.0f) return;
    out.column.push_back(outcome);
    out.weight.push_back(static_cast<double>(w));
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i + 1 < table.slots.size(); i += 2) {
    if (table.slots[i] != 0 || table.hashed) order.push_back(i);
  }
  if (!table.hashed) {
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return table.slots[a] < table.slots[b]; });
  }
  for (const std::size_t i : order) {
    const std::uint64_t key = table.slots[i], word = table.slots[i + 1];
    const std::uint32_t low = slot::low(word);
    if (slot::kind(word) == slot::kSingle) {
      add(slot::label(word), as_float(low));
    } else if (slot::kind(word) == slot::kRow) {
      for (std::uint32_t k = 0; k < outcomes; ++k) add(k, table.weight[low + k]);
    } else {
      for (std::uint32_t q = low; q < low + slot::label(word); ++q) {
        add(table.outcome[q], table.weight[q]);
      }
    }
    out.keys.push_back(key);
    out.row_ptr.push_back(static_cast<std::uint32_t>(out.column.size()));
  }
  return out;
}

TaggerModel::TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights)
    : features_(std::move(features)), weights_(std::move(weights)) {
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
  extractor.keys(sentence, false, scratch.keys);
  const std::size_t L = scratch.keys.end.size();
  scratch.theta.assign(L * K, 0.0);
  add_scores(weights_.state, scratch.keys, scratch.slots, K, scratch.theta.data());
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

void TaggerModel::arrange(std::size_t L, Scratch& scratch, ::structlearn::Layout& layout,
                          Scores& scores) const {
  const std::size_t K = weights_.labels;
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
}

double TaggerModel::argmax(std::size_t L, Scratch& scratch, Output& y) const {
  ::structlearn::Layout layout;
  Scores scores;
  arrange(L, scratch, layout, scores);
  return chain_.argmax(layout, scores, y, scratch.workspace);
}

double TaggerModel::marginals(std::size_t L, Scratch& scratch, double temperature,
                              double* p) const {
  ::structlearn::Layout layout;
  Scores scores;
  arrange(L, scratch, layout, scores);
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
  ::structlearn::Layout layout;
  Scores scores;
  arrange(L, scratch, layout, scores);
  return chain_.kbest(layout, scores, n, scratch.workspace);
}

void TaggerModel::weights_of(std::uint64_t key, bool pair, double* out) const {
  const WeightTable& table = pair ? weights_.pair : weights_.state;
  const std::size_t K = weights_.labels, outcomes = pair ? K * K : K;
  const std::uint64_t word = table.slots.empty() ? 0 : find(table, key);
  if (word != 0) add_weights(table, word, 1.0, outcomes, out);
}

}  // namespace structlearn::text
