// Scores of tokens, much of it remembered from one token to the next.
//
// Most features of running text are those of words and tag sequences seen before. What a feature
// weighs is a function of the strings at a few places around the token (sites), so it is looked up
// once and remembered by the numbers of these strings, without making its key again:
//
//   - templates of one string, each alone on its site: the slot of the feature, by string;
//   - templates that share their sites, and those over columns of few values (told by templates
//     that read three cells of the column as they are: tags, as a rule): the sum of their weights;
//   - other conjunctions (pairs of words): looked up each time;
//   - what every first, last or any token has: once;
//   - everything else (sets of values, phrases, numbers): by keys, as in training.
//
// What is added in which order follows from the templates alone, so that scores have the same bits
// whatever was remembered.
#pragma once

#include <cstdint>
#include <vector>

#include "tasks/tagging/weight_table.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// Which templates are remembered how.
class ScoringPlan {
 public:
  static constexpr std::size_t kMostSites = 3;

  struct Site {
    std::size_t column;
    std::ptrdiff_t offset;
    bool operator==(const Site&) const = default;
  };
  struct Part {
    std::size_t attribute, site;
  };
  struct Member {
    std::uint64_t seed;
    bool mark;
    std::vector<Part> parts;
  };
  struct Group {
    std::vector<Site> sites;
    std::vector<Member> members;
  };

  explicit ScoringPlan(const FeatureSet&);

  // A feature of every token, or of the first or the last one.
  struct Fixed {
    std::uint64_t key;
    Attribute::Kind kind;
  };

  std::vector<Group> summed, single, direct;  // `single` by column
  std::vector<Fixed> fixed;
  std::vector<std::uint8_t> planned;  // by template; the others go by keys
  bool all_planned = true;
  std::size_t pad = 0;               // the farthest offset
  std::vector<std::size_t> columns;  // that sites read
};

// What one thread remembers. Belongs to one model.
class TokenScorer {
 public:
  // At most about this many bytes of rows per group; then they are forgotten.
  explicit TokenScorer(std::size_t most_bytes = std::size_t{8} << 20) : most_bytes_(most_bytes) {}

  // Adds the scores of the tokens of a sentence to `theta` (L, outcomes), except those of templates
  // that are not planned.
  void add(const ScoringPlan&, const WeightTable&, const Extractor&, const Corpus&,
           std::size_t sentence, std::size_t outcomes, double* theta);

 private:
  // Rows of scores, in the order of arrival: what is common lies together. They begin on borders of
  // 32 bytes, so that few of them lie in more cache lines than they must.
  template <class Number>
  class Rows {
   public:
    void reset(std::size_t outcomes) {
      blocks_.clear();
      stride_ = (outcomes + kBlock - 1) / kBlock;
    }
    std::size_t add() {
      blocks_.resize(blocks_.size() + stride_);
      return blocks_.size() - stride_;
    }
    Number* operator[](std::size_t row) { return blocks_[row].x; }
    void prefetch(std::size_t row) const {
      const auto* p = reinterpret_cast<const char*>(blocks_.data() + row);
      for (std::size_t at = 0; at < stride_ * sizeof(Block); at += 64) __builtin_prefetch(p + at);
    }
    std::size_t bytes() const { return blocks_.size() * sizeof(Block); }

   private:
    static constexpr std::size_t kBlock = 32 / sizeof(Number);
    struct alignas(32) Block {
      Number x[kBlock] = {};
    };
    std::vector<Block> blocks_;
    std::size_t stride_ = 0;
  };
  // Code to row.
  struct Memory {
    struct Place {
      std::uint64_t code = 0;  // 0: free
      std::size_t row = 0;
    };
    std::vector<Place> place;
    Rows<double> rows;
    std::size_t used = 0;

    void prefetch(std::uint64_t code) const { __builtin_prefetch(place.data() + home(code)); }
    std::size_t home(std::uint64_t code) const {
      return (code * kHashA) >> 32 & (place.size() - 1);
    }
    std::size_t find(std::uint64_t code) const {
      return probe(home(code), place.size() - 1,
                   [&](std::size_t at) { return place[at].code == code || place[at].code == 0; });
    }
    // Makes a row for a code that has none; where it is.
    std::size_t add(std::uint64_t code);
    void reset(std::size_t outcomes);
  };
  void prepare(const ScoringPlan&, const WeightTable&, const Extractor&, const Corpus&,
               std::size_t outcomes);
  std::uint64_t as_row(std::uint64_t word, const WeightTable&, std::size_t outcomes);
  std::uint64_t key(const ScoringPlan::Member&, const std::uint32_t* const* ids,
                    const Extractor&) const;
  void sum(const ScoringPlan::Group&, const std::uint32_t* const* ids, const WeightTable&,
           const Extractor&, std::size_t outcomes, double* row) const;

  std::size_t most_bytes_;
  std::uint64_t stamp_ = 0;  // of the extractor whose strings are known
  std::vector<const std::uint64_t*>
      value_;                            // by attribute and string, where the extractor has them
  std::vector<std::uint64_t> boundary_;  // values beyond the sentence, by number
  std::vector<Memory> memory_;           // by group of `summed`
  // By column: slots by string, and for each of them by the groups of `single` that read the
  // column: what a token and its neighbours look up of a string lies together.
  std::vector<std::vector<std::uint64_t>> word_;
  Rows<float> own_;                   // weights of these slots, where they are several
  std::vector<std::uint64_t> fixed_;  // slots
  // Of a sentence.
  std::vector<std::vector<std::uint32_t>> ids_;  // by column, padded
  std::vector<std::uint64_t> code_, keys_, words_;
  std::vector<const double*> sums_;
  std::vector<const float*> rows_;
  std::vector<double> total_;
};

}  // namespace structlearn::text
