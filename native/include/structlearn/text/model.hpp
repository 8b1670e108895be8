// A trained tagger: scores the tokens of sentences and labels them.
//
// Features live in an open hash table that is stored in the model file and used from there. A slot
// is two words: the key, and where the weights are. A feature with one label keeps its weight in
// the slot itself; one with several has a list of labels and weights, or a row with one weight a
// label. A token so costs one or two reads from memory a feature.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "structlearn/chain.hpp"
#include "structlearn/text/features.hpp"
#include "structlearn/text/vocabulary.hpp"

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
};

struct SlotScratch {
  std::vector<std::uint64_t> words;  // of the slots of the keys
  std::vector<const float*> rows;
};

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

struct TaggerWeights {
  std::size_t labels = 0, order = 1;
  WeightTable state, pair;  // pair: outcomes are K * K
  // Scores of label windows, masks in them: start, end, transitions of order 1, 2, ...
  std::vector<double> start, end;
  std::vector<std::vector<double>> transition;
};

// What labelling one sentence needs besides the model; one a thread.
struct Scratch {
  Workspace workspace;
  Keys keys;
  SlotScratch slots;
  std::vector<double> theta, pairs, marginals;
};

class TaggerModel {
 public:
  TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights);

  const FeatureSet& features() const { return *features_; }
  std::shared_ptr<const FeatureSet> shared_features() const { return features_; }
  const TaggerWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }

  // Scores of the labels of a sentence into scratch.theta (L, K), of pairs into scratch.pairs.
  void score(Extractor&, std::size_t sentence, Scratch&) const;

  // The questions of a Chain about the scores in the scratch.
  double argmax(std::size_t L, Scratch&, Output& y) const;
  double marginals(std::size_t L, Scratch&, double temperature, double* p) const;
  std::vector<std::pair<double, Output>> kbest(std::size_t L, Scratch&, std::size_t n) const;
  // Rules out every label k of token t for which group[k] is not known[t]; known -1 allows all.
  void clamp(std::span<const std::int32_t> known, std::span<const std::int32_t> group,
             Scratch&) const;

  // Weights of a feature for all labels, added to out (K); or of one of label pairs (K²).
  void weights_of(std::uint64_t key, bool pair, double* out) const;

 private:
  void arrange(std::size_t L, Scratch&, ::structlearn::Layout&, Scores&) const;

  std::shared_ptr<const FeatureSet> features_;
  TaggerWeights weights_;
  Chain chain_;
};

}  // namespace structlearn::text
