// Sentences as the features of a dependency parser see them: hashes of each token's word and tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/corpus.hpp"

namespace structlearn::parsing {

// What follows from a word's spelling.
struct WordAtoms {
  std::uint64_t form, lower, prefix, suffix, ending, shape;
};
WordAtoms word_atoms(std::string_view form);

// A tag, and which kind of word it stands for.
struct TagAtom {
  std::uint64_t hash = 0;
  std::uint8_t code = 0;  // 1..17: a tag of Universal Dependencies; others from 18 to 63
};
TagAtom tag_atom(std::string_view upos);

// Codes of the tags that features ask for by name.
enum UniversalTag : std::uint8_t {
  kAdj = 1,
  kAdp,
  kAdv,
  kAux,
  kCconj,
  kDet,
  kIntj,
  kNoun,
  kNum,
  kPart,
  kPron,
  kPropn,
  kPunct,
  kSconj,
  kSym,
  kVerb,
  kOther
};

struct Token {
  WordAtoms word{};
  std::uint64_t lemma = 0, upos = 0, tag = 0, feats = 0;
  std::uint64_t marker = 0;  // the preposition or conjunction that is likely to introduce it
  std::uint8_t code = 0;
};

// The tags of tokens: one a token of a corpus, as numbers into atoms.
struct TagColumn {
  std::vector<std::uint64_t> hash;  // by value
  std::vector<std::uint8_t> code;   // by value
  std::vector<std::uint32_t> cell;  // by token
};

// UPOS, XPOS and FEATS.
using SentenceTags = std::array<TagColumn, 3>;

// One sentence: token 0 is the root, tokens 1..n the words; two tokens before and after stand for
// what is outside.
class Sentence {
 public:
  static constexpr int kPad = 2;
  int size() const { return n_; }
  const Token& operator[](int i) const { return token_[static_cast<std::size_t>(i + kPad)]; }
  // Number of tokens of a kind before token i: differences count those between two tokens.
  int verbs_before(int i) const { return before_[static_cast<std::size_t>(i)].verbs; }
  int punctuation_before(int i) const { return before_[static_cast<std::size_t>(i)].punctuation; }
  int conjunctions_before(int i) const { return before_[static_cast<std::size_t>(i)].conjunctions; }

  // Starts a sentence of n words; `word(i)` is to be filled, then `finish` called.
  void begin(std::size_t n);
  Token& word(std::size_t i) { return token_[i + 1 + kPad]; }
  void finish();

 private:
  struct Counts {
    std::uint16_t verbs = 0, punctuation = 0, conjunctions = 0;
  };
  int n_ = 0;
  std::vector<Token> token_;
  std::vector<Counts> before_;
};

// Reads the sentences of a corpus, keeping what it has worked out for each distinct word.
class TokenReader {
 public:
  // `lemma`: a column, or kNone.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  TokenReader(const text::Corpus& corpus, std::size_t form, std::size_t lemma = kNone)
      : corpus_(corpus), form_(form), lemma_(lemma) {}
  void forget() { atoms_.clear(); }
  // Throws BadLine where the sentence is longer than kMostWords: a pruner scores every pair of
  // words, and memory must stay in bounds.
  static constexpr std::size_t kMostWords = 4000;
  void read(std::size_t sentence, const SentenceTags&, Sentence& out);

 private:
  const text::Corpus& corpus_;
  std::size_t form_, lemma_;
  std::vector<WordAtoms> atoms_;
};

}  // namespace structlearn::parsing
