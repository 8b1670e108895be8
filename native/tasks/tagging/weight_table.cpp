#include "tasks/tagging/weight_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"

namespace structlearn::text {
namespace {

constexpr std::size_t kAhead = 16;  // keys between asking for a slot and reading it

float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

}  // namespace

void find_words(const WeightTable& table, const Keys& keys, SlotScratch& scratch) {
  const std::size_t n = keys.key.size();
  scratch.words.assign(n, 0);
  if (table.slots.empty()) return;
  for (std::size_t j = 0; j < n; ++j) {
    if (j + kAhead < n) table.prefetch(keys.key[j + kAhead]);
    scratch.words[j] = table.find(keys.key[j]);
    table.prefetch_weights(scratch.words[j]);
  }
}

// First the slots of all keys are found, which asks for the weights ahead of time; then they are
// added, whole rows as vectors and last.
void add_scores(const WeightTable& table, const Keys& keys, SlotScratch& scratch,
                std::size_t outcomes, double* out) {
  if (table.slots.empty()) return;
  find_words(table, keys, scratch);
  std::size_t j = 0;
  for (std::size_t t = 0; t < keys.end.size(); ++t, out += outcomes) {
    scratch.rows.clear();
    for (; j < keys.end[t]; ++j) {
      const std::uint64_t word = scratch.words[j];
      if (word == 0) continue;
      if (slot::kind(word) == slot::kRow && keys.value.empty()) {
        scratch.rows.push_back(table.weight.data() + slot::low(word));
      } else {
        table.add(word, keys.value.empty() ? 1.0 : keys.value[j], outcomes, out);
      }
    }
    kernels().add_rows(nullptr, 0, scratch.rows.data(), scratch.rows.size(), outcomes, out);
  }
}

void WeightTable::add_pairs_at(std::uint64_t word, const CandidateSlots& before,
                               const CandidateSlots& here, double* out) const {
  const std::uint32_t low = slot::low(word), label = slot::label(word);
  const std::size_t K = here.labels(), B = here.width();
  switch (slot::kind(word)) {
    case slot::kSingle: {
      const std::size_t a = before[label / K], b = here[label % K];
      if (a < B && b < B) out[a * B + b] += static_cast<double>(as_float(low));
      break;
    }
    case slot::kRow:
      for (std::size_t p = 0; p < B * B; ++p) {
        const std::size_t pair = before.candidates()[p / B] * K + here.candidates()[p % B];
        out[p] += static_cast<double>(weight[low + pair]);
      }
      break;
    default:
      for_pairs(outcome.subspan(low, label), before, here, [&](std::size_t q, std::size_t p) {
        out[p] += static_cast<double>(weight[low + q]);
      });
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
  constexpr std::size_t kAhead = 16;  // slots lie anywhere: memory is asked for them early
  for (std::size_t a = 0; a < alive.size(); ++a) {
    const std::uint32_t f = alive[a];
    if (!hashed && a + kAhead < alive.size()) {
      __builtin_prefetch(&out.slots[2 * (keys[alive[a + kAhead]] & mask)], 1);
    }
    const std::size_t at =
        hashed ? f
               : probe(keys[f], mask, [&](std::size_t slot) { return out.slots[2 * slot] == 0; });
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

}  // namespace structlearn::text
