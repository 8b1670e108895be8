// Features of the parts of a dependency tree, as 64-bit keys.
//
// The sets are those of McDonald, Crammer & Pereira (2005: words, tags, tags around and between),
// McDonald & Pereira (2006) and Carreras (2007: siblings, grandparents), with suffixes, morphology
// and more contexts in the manner of Koo & Collins (2010), Bohnet (2010) and Martins et al. (2013).
// What follows from a token alone is hashed once a token (tokens.hpp); a key here is one or two
// multiplications.
//
// Every function calls emit(key) for each feature. Which weight of a key is meant, by direction and
// distance, or by label, is the matter of weights.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "tasks/dependencies/tokens.hpp"
#include "text/hash.hpp"

namespace structlearn::parsing {

namespace keys {
using text::fold;

constexpr std::uint64_t seed(std::uint64_t id) {
  std::uint64_t z = (id + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
// A feature: its key, and the number of its template.
struct Key {
  std::uint64_t key;
  std::uint16_t id;
  operator std::uint64_t() const { return key; }
};
template <std::uint16_t Id>
inline Key of(std::uint64_t a) {
  constexpr std::uint64_t s = seed(Id);
  return {fold(a ^ s, text::kHashA), Id};
}
template <std::uint16_t Id>
inline Key of(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t s = seed(Id), r = seed(Id + 1000);
  return {fold(a ^ s, b ^ r), Id};
}
template <std::uint16_t Id, class... Rest>
inline Key of(std::uint64_t a, std::uint64_t b, std::uint64_t c, Rest... rest) {
  return of<Id>(fold(a ^ text::kHashA, b ^ text::kHashB), c, rest...);
}
// Calls emit(key) for each, in this order.
template <class Emit, class... Keys>
inline void each(Emit&& emit, Keys... of) {
  (emit(of), ...);
}
}  // namespace keys

// Distance in seven classes, and with the direction (head before modifier or after) in fourteen.
inline std::uint32_t distance_class(int d) {
  return d <= 4 ? static_cast<std::uint32_t>(d - 1) : d <= 7 ? 4u : d <= 12 ? 5u : 6u;
}
inline std::uint32_t direction_distance(int h, int m) {
  return m > h ? distance_class(m - h) : 7 + distance_class(h - m);
}
inline std::uint64_t up_to(int count, int most) {
  return static_cast<std::uint64_t>(std::min(count, most));
}

// What stands between two tokens, in one small number.
inline std::uint64_t between_counts(const Sentence& s, int left, int right) {
  const int i = left + 1;
  return up_to(s.verbs_before(right) - s.verbs_before(i), 2) * 16 +
         up_to(s.punctuation_before(right) - s.punctuation_before(i), 2) * 4 +
         up_to(s.conjunctions_before(right) - s.conjunctions_before(i), 2) + 1;
}

// Calls each(upos) for every kind of tag between two tokens, once; what all of them are together.
template <class Each>
inline std::uint64_t tags_between(const Sentence& s, int left, int right, Each&& each) {
  std::uint64_t seen = 0, all = 0;
  for (int b = left + 1; b < right; ++b) {
    const std::uint64_t bit = std::uint64_t{1} << s[b].code;
    if (seen & bit) continue;
    seen |= bit;
    all += s[b].upos;
    each(s[b].upos);
  }
  return all;
}

// A number with a name, which matters to feature_names.cpp alone.
inline std::uint64_t number(const Sentence&, const char* /* name */, std::uint64_t x) {
  return x;
}

// The few features that a pruner needs.
inline constexpr std::size_t kPrunerFeatures = 16;
template <class Emit>
inline void pruner_features(const Sentence& s, int h, int m, Emit&& emit) {
  using namespace keys;
  const Token &H = s[h], &M = s[m];
  const std::uint64_t hT = H.tag, mT = M.tag;
  const std::uint64_t pair = fold(hT ^ text::kHashA, mT);
  each(emit, of<1>(pair), of<2>(hT), of<3>(mT), of<4>(H.word.lower, mT), of<5>(hT, M.word.lower),
       of<6>(H.word.lower, M.word.lower), of<7>(pair, s[m - 1].upos, s[m + 1].upos),
       of<8>(pair, s[h - 1].upos, s[h + 1].upos), of<9>(pair, s[h + 1].upos, s[m - 1].upos),
       of<10>(pair, s[h - 1].upos, s[m + 1].upos),
       of<11>(pair, between_counts(s, std::min(h, m), std::max(h, m)) * text::kHashB),
       of<12>(pair, M.marker), of<13>(H.word.lower, M.marker, M.upos), of<14>(H.feats, M.feats),
       of<15>(M.word.lower, s[m - 1].upos, s[m + 1].upos),
       of<16>(H.upos, M.upos, between_counts(s, std::min(h, m), std::max(h, m))));
}

// The features of an arc and of its label. They are read off for their names too
// (feature_names.cpp): a sentence is anything whose tokens have the fields of Token.
template <class Words, class Emit>
inline void arc_features(const Words& s, int h, int m, Emit&& emit) {
  using namespace keys;
  const auto &H = s[h], &M = s[m];
  const auto &Hl = s[h - 1], &Hr = s[h + 1], &Ml = s[m - 1], &Mr = s[m + 1];
  const auto hT = H.tag, mT = M.tag, hU = H.upos, mU = M.upos;
  const auto hW = H.word.lower, mW = M.word.lower;
  const int left = std::min(h, m), right = std::max(h, m);
  const auto pair = fold(hT ^ text::kHashA, mT);
  const auto coarse = fold(hU ^ text::kHashA, mU);
  const auto counts = between_counts(s, left, right) * text::kHashB;

  // One token.
  each(emit, of<100>(hT), of<101>(mT), of<102>(hW), of<103>(mW), of<104>(hW, hT), of<105>(mW, mT),
       of<106>(H.feats), of<107>(M.feats), of<108>(H.word.suffix, hU), of<109>(M.word.suffix, mU),
       of<110>(H.word.shape, hU), of<111>(M.word.shape, mU), of<112>(counts));
  // Two tokens.
  each(emit, of<120>(pair), of<121>(coarse), of<122>(hW, mW), of<123>(hW, mT), of<124>(hT, mW),
       of<125>(hW, mT, hT), of<126>(hT, mW, mT), of<127>(hW, hT, mW, mT), of<128>(H.feats, M.feats),
       of<129>(H.feats, mT), of<130>(hT, M.feats), of<131>(H.word.suffix, mT, hU),
       of<132>(hT, M.word.suffix, mU), of<133>(H.word.suffix, M.word.suffix, coarse),
       of<134>(hW, M.word.suffix), of<135>(H.word.suffix, mW),
       of<136>(H.word.shape, M.word.shape, coarse), of<137>(hW, mU), of<138>(hU, mW),
       of<139>(H.word.prefix, M.word.prefix, coarse));
  if (M.lemma != 0) {  // where lemmas are read
    each(emit, of<140>(H.lemma, M.lemma), of<141>(H.lemma, mT), of<142>(hT, M.lemma),
         of<143>(M.marker, H.lemma, M.lemma));
  }
  // Tags around, fine and coarse.
  each(emit, of<150>(pair, Hr.tag, Ml.tag), of<151>(pair, Hl.tag, Ml.tag),
       of<152>(pair, Hr.tag, Mr.tag), of<153>(pair, Hl.tag, Mr.tag), of<154>(pair, Hl.tag),
       of<155>(pair, Hr.tag), of<156>(pair, Ml.tag), of<157>(pair, Mr.tag),
       of<158>(coarse, Hr.upos, Ml.upos), of<159>(coarse, Hl.upos, Ml.upos),
       of<160>(coarse, Hr.upos, Mr.upos), of<161>(coarse, Hl.upos, Mr.upos),
       of<162>(coarse, Ml.upos, Mr.upos), of<163>(coarse, Hl.upos, Hr.upos),
       of<164>(coarse, Hl.upos, Hr.upos, Ml.upos, Mr.upos), of<165>(pair, Ml.upos, s[m - 2].upos),
       of<166>(pair, Mr.upos, s[m + 2].upos), of<167>(pair, Hl.upos, s[h - 2].upos),
       of<168>(pair, Hr.upos, s[h + 2].upos));
  // Words around.
  each(emit, of<170>(pair, Ml.word.lower), of<171>(pair, Mr.word.lower),
       of<172>(pair, Hl.word.lower), of<173>(pair, Hr.word.lower), of<174>(mW, hT, Ml.upos),
       of<175>(mW, hT, Mr.upos), of<176>(hW, mT, Hl.upos), of<177>(hW, mT, Hr.upos),
       of<178>(hW, mT, Ml.word.lower));
  // The word that introduces the modifier, or the head.
  each(emit, of<180>(M.marker, mU), of<181>(M.marker, pair), of<182>(M.marker, hW, mU),
       of<183>(M.marker, hW, mW), of<184>(M.marker, mW, hU), of<185>(M.marker, H.marker, coarse),
       of<186>(H.marker, pair));
  // What stands between.
  each(emit, of<190>(counts, pair), of<191>(counts, coarse, Ml.upos), of<192>(counts, hW),
       of<193>(counts, mW));
  emit(of<197>(coarse, tags_between(s, left, right, [&](const auto& upos) {
                 each(emit, of<195>(pair, upos), of<196>(coarse, upos));
               })));
  // Places in the sentence.
  emit(of<198>(pair, number(s, "place", up_to(left, 3) * 4 + up_to(s.size() - right, 3))));
  const auto length = number(s, "distance", up_to(right - left, 20));
  each(emit, of<199>(length), of<200>(length, coarse), of<201>(length, mT), of<202>(length, hT));
}

template <class Words, class Emit>
inline void label_features(const Words& s, int h, int m, Emit&& emit) {
  using namespace keys;
  const auto &H = s[h], &M = s[m];
  const auto &Hl = s[h - 1], &Hr = s[h + 1], &Ml = s[m - 1], &Mr = s[m + 1];
  const auto d = number(s, "direction", m > h ? text::kHashA : text::kHashB);
  const auto hT = H.tag ^ d, mT = M.tag ^ d, hU = H.upos ^ d, mU = M.upos ^ d;
  const auto hW = H.word.lower ^ d, mW = M.word.lower ^ d;
  const int left = std::min(h, m), right = std::max(h, m);
  const auto pair = fold(hT ^ text::kHashA, mT);
  const auto coarse = fold(hU ^ text::kHashA, mU);
  const auto distance = number(s, "distance", direction_distance(h, m));
  const auto counts = between_counts(s, left, right) * text::kHashB;
  each(emit, of<300>(d), of<301>(distance), of<302>(hT), of<303>(mT), of<304>(hW), of<305>(mW),
       of<306>(M.feats ^ d), of<307>(M.word.suffix ^ d), of<308>(M.word.prefix ^ d, mU),
       of<309>(M.word.shape ^ d, mU), of<310>(pair), of<311>(coarse, distance),
       of<312>(pair, distance), of<313>(hW, mW), of<314>(hW, mT), of<315>(hT, mW),
       of<316>(hW, M.word.suffix), of<317>(hT, M.word.suffix), of<318>(H.feats ^ d, M.feats),
       of<319>(pair, Ml.tag), of<320>(pair, Mr.tag), of<321>(pair, Hl.tag), of<322>(pair, Hr.tag),
       of<323>(mT, Ml.tag, Mr.tag), of<324>(mW, Ml.word.lower), of<325>(mW, Mr.word.lower),
       of<326>(pair, Ml.word.lower), of<327>(pair, Mr.word.lower), of<328>(M.marker, mU),
       of<329>(M.marker, pair), of<330>(M.marker, hW, mU), of<331>(M.marker, mW),
       of<332>(M.marker, hW, mW), of<333>(counts, pair), of<334>(counts, hW, mU),
       of<335>(coarse, Ml.upos, s[m - 2].upos), of<336>(coarse, Mr.upos, s[m + 2].upos),
       of<337>(coarse, Hl.upos, Hr.upos), of<338>(H.word.suffix ^ d, mT), of<339>(mW, hT, Ml.upos),
       of<340>(M.word.form ^ d));
  if (M.lemma != 0) {
    each(emit, of<343>(M.lemma ^ d), of<344>(H.lemma ^ d, M.lemma), of<345>(H.lemma ^ d, mT));
  }
  emit(of<342>(coarse, tags_between(s, left, right,
                                    [&](const auto& upos) { emit(of<341>(coarse, upos)); })));
}

// Head h with two modifiers on one side, one after the other: b beyond a. a = h: b is the first
// one; b = kNoToken: a is the last one.
inline constexpr int kNoToken = -1000;

template <class Emit>
inline void sibling_features(const Sentence& s, int h, int a, int b, Emit&& emit) {
  using namespace keys;
  const Token& H = s[h];
  const std::uint64_t hT = H.tag, hW = H.word.lower;
  if (b == kNoToken) {
    if (a == h) {
      each(emit, of<400>(hT), of<401>(hW), of<402>(hW, hT), of<403>(H.feats), of<404>(H.marker, hT),
           of<405>(hT, s[h - 1].upos, s[h + 1].upos));
      return;
    }
    const Token& A = s[a];
    each(emit, of<410>(hT, A.tag), of<411>(hW, A.tag), of<412>(hT, A.word.lower),
         of<413>(hW, A.word.lower), of<414>(hT, A.tag, s[a < h ? a - 1 : a + 1].tag),
         of<415>(H.upos, A.upos));
    return;
  }
  const Token& B = s[b];
  if (a == h) {
    each(emit, of<420>(hT, B.tag), of<421>(hW, B.tag), of<422>(hT, B.word.lower),
         of<423>(hW, B.word.lower), of<424>(H.upos, B.upos), of<425>(B.tag),
         of<426>(hT, B.tag, between_counts(s, std::min(h, b), std::max(h, b)) * text::kHashB));
    return;
  }
  const Token& A = s[a];
  const std::uint64_t aT = A.tag, bT = B.tag, aW = A.word.lower, bW = B.word.lower;
  const std::uint64_t three = fold(fold(hT ^ text::kHashA, aT), bT);
  const std::uint64_t coarse = fold(fold(H.upos ^ text::kHashA, A.upos), B.upos);
  const std::uint64_t counts = between_counts(s, std::min(a, b), std::max(a, b)) * text::kHashB;
  each(emit, of<430>(three), of<431>(coarse), of<432>(aT, bT), of<433>(aW, bW), of<434>(aW, bT),
       of<435>(aT, bW), of<436>(hW, aT, bT), of<437>(hT, aW, bT), of<438>(hT, aT, bW),
       of<439>(hW, aW, bW), of<440>(hW, aW, bT), of<441>(hW, aT, bW), of<442>(hT, aW, bW),
       of<443>(three, counts), of<444>(coarse, counts), of<445>(A.feats, B.feats),
       of<446>(A.feats, B.feats, hT), of<447>(A.marker, B.marker, coarse),
       of<448>(hW, A.marker, B.marker), of<449>(three, s[b - 1].upos),
       of<450>(three, s[b + 1].upos), of<451>(three, s[a + 1].upos), of<452>(three, s[a - 1].upos),
       of<453>(A.word.suffix, B.word.suffix, hT));
}

// The arc g -> h -> m.
template <class Emit>
inline void grandparent_features(const Sentence& s, int g, int h, int m, Emit&& emit) {
  using namespace keys;
  const Token &G = s[g], &H = s[h], &M = s[m];
  const std::uint64_t gT = G.tag, hT = H.tag, mT = M.tag;
  const std::uint64_t gW = G.word.lower, hW = H.word.lower, mW = M.word.lower;
  const std::uint64_t three = fold(fold(gT ^ text::kHashB, hT), mT);
  const std::uint64_t coarse = fold(fold(G.upos ^ text::kHashB, H.upos), M.upos);
  each(emit, of<500>(three), of<501>(coarse), of<502>(gT, mT), of<503>(gW, mW), of<504>(gW, mT),
       of<505>(gT, mW), of<506>(gW, hT, mT), of<507>(gT, hW, mT), of<508>(gT, hT, mW),
       of<509>(gW, hW, mW), of<510>(gW, hW, mT), of<511>(gW, hT, mW), of<512>(gT, hW, mW),
       of<513>(G.feats, M.feats),
       of<514>(three, direction_distance(g, h) * 16 + direction_distance(h, m)),
       of<515>(coarse, direction_distance(g, h) * 16 + direction_distance(h, m)),
       of<516>(three, s[m - 1].upos), of<517>(three, s[m + 1].upos), of<518>(three, s[h - 1].upos),
       of<519>(three, s[h + 1].upos), of<520>(gW, M.marker, hT),
       of<521>(G.word.suffix, M.word.suffix, hT));
  const int left = std::min(g, m), right = std::max(g, m);
  if (left != right) emit(of<522>(three, between_counts(s, left, right) * text::kHashB));
}

// Which way the two arcs g -> h -> m go: six classes.
inline std::uint32_t grandparent_class(int g, int h, int m) {
  if ((h > g) == (m > h)) return h > g ? 0 : 1;
  const bool inside = h > g ? m > g : m < g;
  return (h > g ? 2u : 4u) + (inside ? 1u : 0u);
}

}  // namespace structlearn::parsing
