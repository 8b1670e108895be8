// Weights by feature, as a model file holds them.
//
// Features live in an open hash table that is stored in the model file and used from there. A slot
// is two words: the key, and where the weights are. A feature with one label keeps its weight in
// the slot itself; one with several has a list of labels and weights, or a row with one weight a
// label. A token so costs one or two reads from memory a feature.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/probing.hpp"
#include "tasks/tagging/candidate_scorer.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// The second word of a slot: kind in the top two bits, then a count or label, then the place or,
// for a single weight, its 32 bits.
namespace slot {
inline constexpr std::uint64_t kList = 0, kSingle = 1, kRow = 2;
inline constexpr std::uint64_t make(std::uint64_t kind, std::uint64_t label_or_count,
                                    std::uint64_t low) {
  return kind << 62 | label_or_count << 32 | low;
}
inline constexpr std::uint64_t kind(std::uint64_t word) {
  return word >> 62;
}
inline constexpr std::uint32_t label(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32) & 0x3FFFFFFFu;
}
inline constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
}  // namespace slot

// Weights by feature, as they lie in a file. Borrowed.
struct WeightTable {
  std::span<const std::uint64_t> slots;  // two words each; a power of two of them
  std::span<const float> weight;
  std::span<const std::uint32_t> outcome;  // of each weight in a list; not used by rows
  bool hashed = false;                     // slots are found by the key's low bits alone

  // Throws std::invalid_argument unless every place named lies inside the arrays.
  void check(std::size_t outcomes) const;

  void prefetch(std::uint64_t key) const {
    __builtin_prefetch(slots.data() + 2 * (key & (slots.size() / 2 - 1)));
  }
  // The second word of a key's slot; 0 (an empty list) where the key is not there.
  std::uint64_t find(std::uint64_t key) const {
    const std::size_t mask = slots.size() / 2 - 1;
    if (hashed) return slots[2 * (key & mask) + 1];
    const std::size_t at =
        probe(key, mask, [&](std::size_t n) { return slots[2 * n] == key || slots[2 * n] == 0; });
    return slots[2 * at] == 0 ? 0 : slots[2 * at + 1];
  }
  // Asks for the weights of a slot ahead of time.
  void prefetch_weights(std::uint64_t word) const {
    const std::uint32_t low = slot::low(word);
    if (slot::kind(word) == slot::kRow) {
      __builtin_prefetch(weight.data() + low);
      __builtin_prefetch(weight.data() + low + 16);
    } else if (slot::kind(word) == slot::kList && word != 0) {
      __builtin_prefetch(weight.data() + low);
      __builtin_prefetch(outcome.data() + low);
    }
  }
  // Adds the weights of one feature, times x, to a row of scores.
  void add(std::uint64_t word, double x, std::size_t outcomes, double* out) const {
    const std::uint32_t low = slot::low(word);
    switch (slot::kind(word)) {
      case slot::kSingle:
        out[slot::label(word)] += x * static_cast<double>(std::bit_cast<float>(low));
        break;
      case slot::kRow: {
        const float* row = weight.data() + low;
        for (std::size_t k = 0; k < outcomes; ++k) out[k] += x * static_cast<double>(row[k]);
        break;
      }
      default: {
        const std::uint32_t end = low + slot::label(word);
        for (std::uint32_t q = low; q < end; ++q) {
          out[outcome[q]] += x * static_cast<double>(weight[q]);
        }
      }
    }
  }
  // The same for a few labels: `slot` says which of them a label is, `width` for one that is none
  // of them, and `out` has room for one more than `width`.
  void add_at(std::uint64_t word, double x, std::span<const std::uint16_t> candidates,
              const std::uint8_t* slot, double* out) const {
    const std::uint32_t low = slot::low(word);
    switch (slot::kind(word)) {
      case slot::kSingle:
        out[slot[slot::label(word)]] += x * static_cast<double>(std::bit_cast<float>(low));
        break;
      case slot::kRow: {
        const float* row = weight.data() + low;
        for (std::size_t b = 0; b < candidates.size(); ++b) {
          out[b] += x * static_cast<double>(row[candidates[b]]);
        }
        break;
      }
      default: {
        const std::uint32_t end = low + slot::label(word);
        for (std::uint32_t q = low; q < end; ++q) {
          out[slot[outcome[q]]] += x * static_cast<double>(weight[q]);
        }
      }
    }
  }
  // The weights of a feature of label pairs for the candidates of two neighbours, (B, B).
  void add_pairs_at(std::uint64_t word, const CandidateSlots& before, const CandidateSlots& here,
                    double* out) const;
};

struct SlotScratch {
  std::vector<std::uint64_t> words;  // of the slots of the keys
  std::vector<const float*> rows;
};

// Finds the slots of the keys, and asks for their weights ahead of time.
void find_words(const WeightTable&, const Keys& keys, SlotScratch&);

// Adds the weights of the keys to rows of `outcomes` scores, a row for each end of keys.
void add_scores(const WeightTable&, const Keys& keys, SlotScratch&, std::size_t outcomes,
                double* out);

// The arrays of a WeightTable, owned.
struct WeightArrays {
  std::vector<std::uint64_t> slots;
  std::vector<float> weight;
  std::vector<std::uint32_t> outcome;
  std::vector<std::uint32_t> kept;  // numbers of the features that have weights, slot by slot
};

// Packs rows of weights; those of absolute value at most `prune` are left out. `keys` by feature;
// empty: hashed, features are slots.
WeightArrays pack(std::span<const std::uint64_t> keys, std::span<const std::uint32_t> row_ptr,
                  std::span<const std::uint32_t> column, std::span<const double> w,
                  std::size_t outcomes, double prune);

// The reverse: keys in ascending order (hashed: all slots in their order), rows and weights.
struct UnpackedWeights {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> row_ptr{0}, column;
  std::vector<double> weight;
};
UnpackedWeights unpack(const WeightTable&, std::size_t outcomes);

}  // namespace structlearn::text
