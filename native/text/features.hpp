// Features of tokens and of segments by templates.
//
// An attribute is a function of a token: of the string in one of its columns (worked out once a
// distinct string), or of the token's place in its sentence. A template joins attributes at offsets
// from the token, or from places of a segment, a run of tokens; each combination of values is a
// feature, known by a 64-bit key: the hash of the template's text and the values. Two features
// share a key once in 2^64 pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numeric/probing.hpp"
#include "text/corpus.hpp"

namespace structlearn::text {

// A function of one string; no value, one, or several.
using StringFunction = std::function<void(std::string_view, std::vector<std::string>&)>;

// Named vectors, borrowed: rows of `width` numbers, and the row of each string.
struct VectorTable {
  StringTable names;
  std::vector<float> values;
  std::size_t width = 0;
};

// Phrases of one or more tokens, each with a name. The value of a token inside the longest phrase
// that covers it is B- or I- and the name.
class Gazetteer {
 public:
  void add(const std::vector<std::string_view>& words, std::string_view name);
  std::size_t size() const { return entries_; }
  // Values of the tokens of a sentence, given the hashes of their strings.
  void match(const std::uint64_t* words, std::size_t n,
             std::vector<std::vector<std::uint32_t>>& values) const;
  const StringTable& names() const { return names_; }

 private:
  struct Node {
    std::uint64_t path = 0;  // 0: none
    std::uint32_t name = StringTable::kAbsent;
    bool used() const { return path != 0; }
    std::size_t home() const { return path; }
  };
  void put(std::uint64_t path, std::uint32_t name);
  OpenTable<Node> nodes_;
  std::size_t entries_ = 0;
  StringTable names_;
};

class Lexicon;

// The value of attributes that only say yes.
inline const std::uint64_t kYes = nonzero(hash_string("1"));

struct Attribute {
  enum class Kind {
    kString,     // function(cell)
    kFirst,      // "1" on the first token of a sentence
    kLast,       // "1" on the last
    kConstant,   // "1" everywhere
    kGazetteer,  // phrases over the column
    kVector,     // numbers instead of names
    kLexicon,    // the labels that the string had in training
    kSentence,   // a function of the whole sentence
  };
  Kind kind = Kind::kString;
  std::size_t column = 0;
  StringFunction function;  // of the cell; empty: the cell itself. Phrases and vectors: one value
  bool multiple = false;    // may have several values
  std::shared_ptr<const Gazetteer> gazetteer;
  std::shared_ptr<const VectorTable> vectors;
  // Vectors worked out instead of looked up: `width` numbers for every string.
  std::function<void(std::string_view, float*)> vector_function;
  std::size_t width = 0;
  std::shared_ptr<const Lexicon> lexicon;
  bool spelled = false;  // its values are needed as text
  // kSentence: any number of values for each token.
  std::function<void(const Corpus&, std::size_t sentence, std::vector<std::vector<std::string>>&)>
      sentence_function;

  bool reads_column() const {
    return kind == Kind::kString || kind == Kind::kGazetteer || kind == Kind::kVector ||
           kind == Kind::kLexicon;
  }
  // At most one value, which follows from the string alone (outside training).
  bool follows_from_string() const {
    return (kind == Kind::kString && !multiple) || kind == Kind::kLexicon;
  }
};

// Where the offset of an atom is counted from.
enum class Place : std::uint8_t {
  kToken,   // the token that the feature is of
  kBegin,   // the first token of a segment
  kEnd,     // its last token
  kInside,  // a token inside: a feature for each, the same token for all such atoms
  kWhole,   // the values of all its tokens, in order, as one value
  kLength,  // the number of its tokens; the attribute is not read
  kStart,   // the first token of the sentence, and of templates that spell their features only
  kStop,    // one past its last token, likewise
};

struct Atom {
  std::size_t attribute;
  std::ptrdiff_t offset;
  Place place = Place::kToken;
};

// What features are of. Features of a segment that look at one of its ends or at single tokens
// inside are worked out once a token, whatever the number of segments.
enum class Site : std::uint8_t { kToken, kPair, kBegin, kEnd, kInside, kSegment };

// How the templates of other tools name their features, and what is beyond the ends of a sentence.
enum class Spelling : std::uint8_t {
  kNone,    // values have keys, and so have their combinations
  kCrfpp,   // the feature is a string; _B-1, _B+1, ...
  kWapiti,  // the feature is a string; _x-1 to _x-4, _x-#, to which functions are applied too
};

struct Template {
  std::string text;  // names the features and seeds their keys
  std::vector<Atom> atoms;
  Spelling spelling = Spelling::kNone;
  std::vector<std::string> pieces;  // what stands before, between and after spelled values
  bool mark_boundaries = false;  // beyond the sentence: a value of its own; otherwise no feature
  bool transition = false;       // of the label pair that ends at the token
};

// The key of a feature that is a string.
std::uint64_t spelled_key(std::string_view feature);
// The key of the d-th number of a vector template.
std::uint64_t vector_key(std::string_view text, std::size_t d);
// The value of an attribute this many places before (negative) or after a sentence, where it is
// marked.
std::uint64_t boundary_value(std::ptrdiff_t distance);

class FeatureSet {
 public:
  FeatureSet(std::vector<Attribute> attributes, std::vector<Template> templates);
  const std::vector<Attribute>& attributes() const { return attributes_; }
  const std::vector<Template>& templates() const { return templates_; }
  bool has_values() const { return has_values_; }  // features with numbers
  bool has_transitions() const { return has_transitions_; }
  bool for_segments() const { return for_segments_; }
  std::size_t columns_needed() const { return columns_needed_; }
  // The sites of the features of each template.
  Site site(std::size_t t) const { return site_[t]; }
  // The attributes that are read whole.
  const std::vector<std::size_t>& wholes() const { return wholes_; }

 private:
  std::vector<Attribute> attributes_;
  std::vector<Template> templates_;
  std::vector<Site> site_;
  std::vector<std::size_t> wholes_;
  bool has_values_ = false, has_transitions_ = false, for_segments_ = false;
  std::size_t columns_needed_ = 0;
};

// The keys of one sentence's features, token after token.
struct Keys {
  std::vector<std::uint64_t> key;
  std::vector<float> value;           // one a key where the features have numbers, else empty
  std::vector<std::uint16_t> origin;  // the template of each
  std::vector<std::uint32_t> end;     // of each token
  void clear() {
    key.clear();
    origin.clear();
    value.clear();
    end.clear();
  }
};

// The keys of one sentence's segments. A segment has those of its first token in `begin`, of its
// last in `end`, of all its tokens in `inside`, and its own in `own`, start by start, then by
// length; a segment that would run beyond the sentence has none there.
struct SegmentKeys {
  Keys begin, end, inside, own;
};

// A run of tokens of a sentence, and one of them.
struct Span {
  std::size_t begin, end, inside;
};

// Features of the sentences of a corpus, which may grow in between; attributes of strings are
// kept. Not to be shared between threads.
class Extractor {
 public:
  // `training`: the corpus is the one that lexica were made from, in the same folds.
  Extractor(std::shared_ptr<const FeatureSet> features, const Corpus& corpus, bool training = false)
      : features_(std::move(features)),
        corpus_(corpus),
        training_(training),
        stamp_(next_stamp()) {}

  const FeatureSet& features() const { return *features_; }
  const Corpus& corpus() const { return corpus_; }

  // To be called after the corpus has got more strings; `forget` after it has lost all.
  void update();
  void forget() {
    values_.clear();
    stamp_ = next_stamp();
  }
  // Changes when the numbers of strings lose their meaning; no two extractors share one.
  std::uint64_t stamp() const { return stamp_; }

  // Features of the labels, or of the transitions (the first token has none), except those of the
  // templates marked in `skip`.
  void keys(std::size_t sentence, bool transitions, Keys& out,
            std::span<const std::uint8_t> skip = {});
  // Features of all segments of up to so many tokens.
  void segment_keys(std::size_t sentence, std::size_t max_length, SegmentKeys& out);
  // The names and keys of the features of one segment.
  std::vector<std::pair<std::string, std::uint64_t>> named(std::size_t sentence, std::size_t begin,
                                                           std::size_t end);

  // The value of an attribute that follows from the string; 0: none.
  std::uint64_t value_of(std::size_t attribute, std::uint32_t string) const;
  // These values by string, until the next update; null where they have to be worked out.
  const std::uint64_t* values_of(std::size_t attribute) const {
    const Attribute& a = features_->attributes()[attribute];
    const bool known = a.kind == Attribute::Kind::kString && a.follows_from_string();
    return known && attribute < values_.size() ? values_[attribute].single.data() : nullptr;
  }

  // The feature of a template that spells its features.
  void spell(const Template&, std::size_t position, std::string& out) const;

  // The name of the feature with this key that a template has at a token, or at a segment of
  // `length` tokens that begins there: its text and values.
  std::string name(std::size_t sentence, std::size_t position, std::size_t origin,
                   std::uint64_t key, std::size_t length = 1);

 private:
  struct StringValues {
    std::size_t known = 0;                // strings of the column looked at
    std::vector<std::uint64_t> single;    // 0: no value
    std::vector<std::string> text;        // of spelled values
    std::vector<std::uint32_t> begin{0};  // several values: hashes of string s from begin[s] on
    std::vector<std::uint64_t> several;
    std::vector<float> worked_out;  // rows of a vector function
  };
  // A template with what is looked up once a sentence, not once a token.
  struct Plan {
    const Template* from;
    std::uint64_t seed;
    std::uint16_t number;
    bool plain;  // an atom has one value, which is in the rows
    const std::uint64_t* row[4];
  };
  void expand(std::size_t sentence);
  std::vector<Plan> plan(Site, std::span<const std::uint8_t> skip) const;
  template <bool kOfSegment>
  void add(const Plan&, const Span&, Keys& out) const;
  void add_tokens(Site, std::span<const std::uint8_t> skip, Keys& out) const;
  void read_whole(std::size_t begin, std::size_t end);
  std::uint64_t whole(std::uint64_t before, std::size_t attribute, std::size_t token) const;
  const float* vector_of(std::size_t attribute, std::size_t position) const;
  template <class Each>
  void for_values(const Atom&, const Span&, bool mark, Each&& each) const;
  std::vector<std::string> texts(const Atom&, const Span&, bool mark) const;
  void spell_atom(const Template&, const Atom&, std::size_t position, std::string& out) const;
  void combinations(const Template&, std::size_t atom, std::uint64_t key, const Span&,
                    Keys& out) const;
  static std::uint64_t next_stamp();

  std::shared_ptr<const FeatureSet> features_;
  const Corpus& corpus_;
  bool training_;
  std::vector<std::uint8_t> fold_;  // of each sentence; empty: no lexicon leaves one out
  std::uint64_t stamp_;
  std::vector<StringValues> values_;
  // Of the sentence last expanded.
  std::size_t begin_ = 0, length_ = 0, pad_ = 0;
  std::vector<std::vector<std::uint64_t>> row_;  // attribute -> padded positions
  std::vector<std::vector<std::vector<std::uint32_t>>> phrases_;
  std::vector<std::vector<std::vector<std::string>>> said_;  // by sentence functions
  std::vector<std::uint64_t> whole_;                         // by attribute: of the segment at hand
  std::vector<std::uint64_t> lengths_;                       // the values of lengths
};

// Key to number, in the order of first occurrence.
class FeatureIndex {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0: empty
    std::uint32_t id = kAbsent, count = 0;
    bool used() const { return key != 0; }
    std::size_t home() const { return key; }
  };
  static auto has(std::uint64_t key) {
    return [key](const Slot& slot) { return slot.key == key; };
  }

 public:
  explicit FeatureIndex(std::size_t expected = 512) : table_(expected) {}

  std::size_t size() const { return table_.size(); }
  std::uint32_t add(std::uint64_t key, std::uint32_t times = 1);
  // Counts a key so often that it is kept for sure.
  void count_often(std::uint64_t key);
  std::uint32_t find(std::uint64_t key) const { return table_.find(key, has(key)).id; }
  void prefetch(std::uint64_t key) const { table_.prefetch(key); }
  // Keeps the features counted at least so often, and numbers them anew in the same order; old
  // number to new (kAbsent: gone).
  std::vector<std::uint32_t> keep(std::uint32_t min_count);
  // Keys by number.
  std::vector<std::uint64_t> keys() const;
  // How often each was counted, by number.
  std::vector<std::uint32_t> counts() const;

 private:
  OpenTable<Slot> table_;
};

}  // namespace structlearn::text
