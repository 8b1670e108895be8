#include "tasks/dependencies/tokens.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "text/functions.hpp"
#include "text/hash.hpp"

namespace structlearn::parsing {
namespace {

using text::combine;
using text::hash_string;

constexpr std::array<std::string_view, 17> kUniversal = {
    "ADJ",  "ADP",  "ADV",   "AUX",   "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"};
constexpr std::uint64_t kBits = 1;

constexpr std::uint64_t bit(std::uint8_t code) {
  return kBits << code;
}
// What may stand between a word and the preposition or conjunction that introduces it.
constexpr std::uint64_t kPassed = bit(kAdj) | bit(kAdv) | bit(kAux) | bit(kDet) | bit(kIntj) |
                                  bit(kNoun) | bit(kNum) | bit(kPron) | bit(kPropn) | bit(kSym) |
                                  bit(kOther);
constexpr std::uint64_t kMarkers = bit(kAdp) | bit(kSconj) | bit(kPart) | bit(kCconj);
constexpr int kMarkerReach = 8;

Token outside(std::uint64_t which) {
  Token t;
  const std::uint64_t h = combine(hash_string("outside"), which);
  t.word = {h, h, h, h, h, h};
  t.lemma = t.upos = t.tag = t.feats = t.marker = h;
  return t;
}

}  // namespace

WordAtoms word_atoms(std::string_view form) {
  WordAtoms a;
  const std::string plain = text::digits(form), low = text::lower(plain);
  std::string_view part;
  a.form = hash_string(plain, 1);
  a.lower = hash_string(low, 2);
  a.prefix = hash_string(text::prefix(low, 3, part) ? part : low, 3);
  a.suffix = hash_string(text::suffix(low, 3, part) ? part : low, 4);
  a.ending = hash_string(text::suffix(low, 2, part) ? part : low, 5);
  a.shape = hash_string(text::shape(form, true), 6);
  return a;
}

TagAtom tag_atom(std::string_view upos) {
  TagAtom a;
  a.hash = hash_string(upos, 7);
  const auto* at = std::find(kUniversal.begin(), kUniversal.end(), upos);
  a.code = at != kUniversal.end() ? static_cast<std::uint8_t>(at - kUniversal.begin() + 1)
                                  : static_cast<std::uint8_t>(18 + a.hash % 46);
  return a;
}

void Sentence::begin(std::size_t n) {
  n_ = static_cast<int>(n);
  token_.assign(n + 1 + 2 * kPad, Token());
  token_[0] = outside(0);
  token_[1] = outside(1);
  token_[kPad] = outside(2);  // the root
  token_[n + 1 + kPad] = outside(3);
  token_[n + 2 + kPad] = outside(4);
}

void Sentence::finish() {
  const auto n = static_cast<std::size_t>(n_);
  before_.assign(n + 2, Counts());
  for (std::size_t i = 0; i <= n; ++i) {
    Counts c = before_[i];
    const Token& t = token_[i + kPad];
    c.verbs += t.code == kVerb || t.code == kAux;
    c.punctuation += t.code == kPunct;
    c.conjunctions += t.code == kCconj;
    before_[i + 1] = c;
  }
  for (int i = 1; i <= n_; ++i) {
    Token& t = token_[static_cast<std::size_t>(i + kPad)];
    t.marker = text::kHashB;
    for (int j = i - 1; j >= 1 && j >= i - kMarkerReach; --j) {
      const Token& left = (*this)[j];
      if (bit(left.code) & kMarkers) {
        t.marker = left.word.lower;
        break;
      }
      if (!(bit(left.code) & kPassed)) break;
    }
  }
}

void TokenReader::read(std::size_t sentence, const SentenceTags& tags, Sentence& out) {
  const auto& [upos, xpos, feats] = tags;
  const text::Column& forms = corpus_.columns()[form_];
  for (std::size_t i = atoms_.size(); i < forms.strings.size(); ++i) {
    atoms_.push_back(word_atoms(forms.strings[static_cast<std::uint32_t>(i)]));
  }
  const std::size_t begin = corpus_.sentence(sentence), n = corpus_.sentence(sentence + 1) - begin;
  if (n > kMostWords) {
    throw text::BadLine(corpus_.line_number(begin), "sentence " + std::to_string(sentence + 1) +
                                                        " has " + std::to_string(n) +
                                                        " words, more than a parser takes (" +
                                                        std::to_string(kMostWords) + "): split it");
  }
  out.begin(n);
  for (std::size_t i = 0; i < n; ++i) {
    Token& t = out.word(i);
    const std::size_t at = begin + i;
    t.word = atoms_[forms.cell[at]];
    t.upos = upos.hash[upos.cell[at]];
    t.code = upos.code[upos.cell[at]];
    t.tag = combine(t.upos, xpos.hash[xpos.cell[at]]);
    t.feats = combine(t.upos, feats.hash[feats.cell[at]]);
    if (lemma_ != kNone) {
      const text::Column& lemmas = corpus_.columns()[lemma_];
      t.lemma = lemmas.strings.hash(lemmas.cell[at]);
    }
  }
  out.finish();
}

}  // namespace structlearn::parsing
