#include "text/feature_names.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace structlearn::text {
namespace {

// Names can be larger than all weights together: so many at a time are made, sentence by sentence,
// before they are put in order.
constexpr std::size_t kAtATime = std::size_t{1} << 18;

struct Wanted {
  std::uint64_t key;
  std::uint32_t feature;
};

// Sorts by keys. These are hashes: after sorting by their first bits most are alone in a bucket.
std::vector<Wanted> sorted_by_key(const std::vector<Wanted>& given) {
  const int bits = std::bit_width(given.size());
  const auto bucket = [&](const Wanted& w) { return bits ? w.key >> (64 - bits) : 0; };
  std::vector<std::uint32_t> end((std::size_t{1} << bits) + 1, 0);
  for (const Wanted& w : given) ++end[bucket(w) + 1];
  for (std::size_t b = 1; b < end.size(); ++b) end[b] += end[b - 1];
  std::vector<Wanted> sorted(given.size());
  for (const Wanted& w : given) sorted[end[bucket(w)]++] = w;
  std::uint32_t begin = 0;
  for (std::size_t n = 0; n + 1 < end.size(); ++n) {  // each end has moved on to its own
    std::sort(sorted.begin() + begin, sorted.begin() + end[n],
              [](const Wanted& a, const Wanted& b) { return a.key < b.key; });
    begin = end[n];
  }
  return sorted;
}

}  // namespace

FeatureNames feature_names(const Vocabulary& vocabulary, Extractor& extractor, bool pairs,
                           std::span<const std::uint32_t> wanted, std::size_t first,
                           std::size_t sentences) {
  const auto& sightings = pairs ? vocabulary.pair_sightings() : vocabulary.sightings();
  const std::vector<std::uint64_t> keys =
      (pairs ? vocabulary.pair_index() : vocabulary.index()).keys();
  std::vector<Wanted> given;
  for (const std::uint32_t f : wanted) {
    if (f >= sightings.size()) throw std::invalid_argument("no such feature");
    given.push_back({keys[f], f});
  }
  constexpr std::uint32_t kNone = FeatureIndex::kAbsent;
  std::vector<std::uint32_t> rank(keys.size(), kNone);
  FeatureNames out;
  std::uint32_t n = 0;
  for (const Wanted& w : sorted_by_key(given)) {
    rank[w.feature] = n++;
    out.key.push_back(w.key);
  }

  out.end.resize(n);
  std::string made;
  struct Piece {
    std::size_t begin = 0, size = 0;
  };
  std::vector<Piece> piece;
  for (std::uint32_t from = 0; from < n; from += kAtATime) {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(kAtATime, n - from));
    made.clear();
    piece.assign(count, {});
    for (std::size_t f = 0; f < rank.size(); ++f) {  // features are in the order of sentences
      if (rank[f] == kNone || rank[f] - from >= count) continue;
      const Sighting& s = sightings[f];
      if (s.sentence < first || s.sentence - first >= sentences) continue;
      const std::size_t begin = made.size();
      extractor.append_name(s.sentence - first, s.position, s.origin, keys[f], s.length, made);
      piece[rank[f] - from] = {begin, made.size() - begin};
    }
    // All that is to come is about as long.
    if (from == 0) out.text.reserve(made.size() + made.size() / count * (n - count));
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = made.begin() + static_cast<std::ptrdiff_t>(piece[i].begin);
      out.text.insert(out.text.end(), begin, begin + static_cast<std::ptrdiff_t>(piece[i].size));
      if (out.text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("names of more than 4 GB: names=False");
      }
      out.end[from + i] = static_cast<std::uint32_t>(out.text.size());
    }
  }
  return out;
}

}  // namespace structlearn::text
