// Features of segments by templates.
//
// A segment is a run of tokens [begin, end) of a sentence. A template joins attributes of tokens,
// those of features.hpp, at places that go by the segment: from its first token, from its last,
// for each token inside, or for all of them in order; and its length. Keys are made as for tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/features.hpp"

namespace structlearn::text {

struct SegmentAtom {
  enum class Place {
    kBegin,   // offset from the first token
    kEnd,     // offset from the last token
    kInside,  // offset from a token inside: a feature for each, the same token for all such atoms
    kWhole,   // the values of all tokens, in order, as one value
    kLength,  // the number of tokens; the attribute is not read
  };
  Place place;
  std::size_t attribute;
  std::ptrdiff_t offset;
};

struct SegmentTemplate {
  std::string text;  // names the features and seeds their keys
  std::vector<SegmentAtom> atoms;
  bool mark_boundaries = false;  // beyond the sentence: a value of its own; otherwise no feature
};

class SegmentFeatures {
 public:
  // What a template looks at. Templates of one border or of tokens alone are worked out once a
  // token, whatever the number of segments.
  enum class Reach { kBegin, kEnd, kInside, kBoth };

  // The attributes are those of a set without templates. Throws std::invalid_argument.
  SegmentFeatures(std::shared_ptr<const FeatureSet> attributes,
                  std::vector<SegmentTemplate> templates);
  const FeatureSet& attributes() const { return *attributes_; }
  std::shared_ptr<const FeatureSet> shared_attributes() const { return attributes_; }
  const std::vector<SegmentTemplate>& templates() const { return templates_; }
  Reach reach(std::size_t t) const { return reach_[t]; }
  bool goes_inside(std::size_t t) const { return goes_inside_[t]; }  // has an atom inside
  // The attributes that are read whole.
  const std::vector<std::size_t>& wholes() const { return wholes_; }
  std::size_t pad() const { return pad_; }  // places beyond a sentence that are looked at

 private:
  std::shared_ptr<const FeatureSet> attributes_;
  std::vector<SegmentTemplate> templates_;
  std::vector<Reach> reach_;
  std::vector<bool> goes_inside_;
  std::vector<std::size_t> wholes_;
  std::size_t pad_ = 0;
};

// The keys of one sentence's segments. A segment has those of its first token in `begin`, of its
// last in `end`, of all its tokens in `inside`, and its own in `both`, start by start, then by
// length; a segment that would run beyond the sentence has none there.
struct SegmentKeys {
  Keys begin, end, inside, both;
};

// Features of the segments of a corpus. Not to be shared between threads.
class SegmentExtractor {
 public:
  // `training`: the corpus is the one that lexica were made from.
  SegmentExtractor(std::shared_ptr<const SegmentFeatures> features, const Corpus& corpus,
                   std::size_t max_length, bool training = false);

  const SegmentFeatures& features() const { return *features_; }
  std::size_t max_length() const { return max_length_; }

  // To be called after the corpus has got more strings; `forget` after it has lost all.
  void update() { extractor_.update(); }
  void forget() { extractor_.forget(); }

  void keys(std::size_t sentence, SegmentKeys& out);

  // The features of a segment of the sentence: their names, which are the texts of templates with
  // values, and their keys.
  std::vector<std::pair<std::string, std::uint64_t>> named(std::size_t sentence, std::size_t begin,
                                                           std::size_t end);

 private:
  struct Span {
    std::size_t begin, end, inside;
  };
  void open(std::size_t sentence);
  std::ptrdiff_t position(const SegmentAtom&, const Span&) const;
  bool outside(const SegmentAtom&, bool mark, std::ptrdiff_t position) const;
  std::uint64_t value(const SegmentAtom&, bool mark, const Span&) const;
  void combinations(std::size_t number, std::size_t atom, std::uint64_t key, const Span&,
                    Keys& out) const;
  void add(std::size_t number, const Span&, Keys& out) const;
  void join_whole(std::size_t attribute, std::size_t token);
  void name(const SegmentTemplate&, const Span&, std::vector<std::string>& out) const;

  std::shared_ptr<const SegmentFeatures> features_;
  const Corpus& corpus_;
  std::size_t max_length_;
  Extractor extractor_;
  std::vector<std::uint64_t> seed_;  // by template
  std::vector<bool> plain_;          // by template: no attribute with several values
  std::vector<std::uint64_t> length_hash_;
  // Of the sentence last opened: values by attribute and padded position.
  std::size_t length_ = 0;
  std::vector<std::vector<std::uint64_t>> first_;                 // 0: none
  std::vector<std::vector<std::vector<std::uint64_t>>> several_;  // attributes with several values
  std::vector<std::uint64_t> whole_;                              // by attribute: of the segment
  std::vector<std::uint64_t> found_;
};

// Segments as numbers of features: compressed rows, `max_length` a token, start by start.
struct SegmentRows {
  std::vector<std::int64_t> site{0};   // first row of each sentence
  std::vector<std::int64_t> begin{0};  // features of row s: [begin[s], begin[s+1])
  std::vector<std::int32_t> feature;
};

// The features that the segments of a training corpus have. Those of segments that are not in it
// get no number: only what was seen with a label has a weight.
class SegmentVocabulary {
 public:
  // Counts the features of a corpus' own segments: `starts` has a token's 1 where one begins.
  void add(SegmentExtractor&, const Corpus&, const std::vector<std::uint8_t>& starts);
  // Counts a feature of another part of the corpus.
  void add(std::uint64_t key, std::uint32_t times) { index_.add(key, times); }
  // Ends the counting: features seen less often go.
  void keep(std::size_t min_count);
  // Rows of all possible segments.
  void rows(SegmentExtractor&, const Corpus&, SegmentRows& out) const;
  const FeatureIndex& index() const { return index_; }

 private:
  FeatureIndex index_;
};

// The names of features by their keys, found again in a corpus' own segments: `starts` has a
// token's 1 where one begins. A key that no segment has gets an empty name.
std::vector<std::string> find_names(SegmentExtractor&, const Corpus&,
                                    const std::vector<std::uint8_t>& starts,
                                    std::span<const std::uint64_t> wanted);

}  // namespace structlearn::text
