// What a learner of lattices reads: cut texts as lattices, with the weights of words, of pairs of
// words, and of the places where words begin.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "scoring/scorer.hpp"
#include "tasks/words/lattice.hpp"
#include "tasks/words/training.hpp"

namespace structlearn::words {

// The texts of a training, as they are added, with the dictionary that they make.
class LatticeTexts {
 public:
  // A run of characters, as Training takes it: a mark for each, and at the begin of each word the
  // number of its tag (0: none, or not known).
  void add(std::vector<std::uint32_t> points, std::string_view marks,
           std::span<const std::uint8_t> tags);
  // A word of another dictionary with its tag; kAnyTag: those that unknown words of its kind have.
  void add_word(std::span<const std::uint32_t> word, std::uint8_t tag);
  static constexpr std::uint8_t kAnyTag = 255;

  // Makes the rules. Words that are there fewer times are no entries; those that are there at least
  // `often` times are classes of their own.
  LatticeRules rules(std::size_t tags, std::uint32_t min_words, std::uint32_t often,
                     unsigned whole) const;
  std::vector<std::uint32_t> characters() const;

  struct Text {
    std::vector<std::uint32_t> points;
    std::vector<std::uint8_t> marks, tags;
    std::uint64_t fold;
  };
  const std::vector<Text>& texts() const { return texts_; }
  // Calls each(word) for all words, in ascending order.
  template <class Each>
  void for_words(Each&& each) const {
    for (const auto& [word, ways] : words_) each(word);
  }

 private:
  struct Seen {
    std::uint32_t count = 0;
    std::uint64_t folds = 0;
    bool listed = false;
  };
  std::vector<Text> texts_;
  std::map<std::vector<std::uint32_t>, std::map<std::uint8_t, Seen>> words_;
};

class LatticeScorer final : public Scorer {
 public:
  // `places`: the features of the places of the same texts; borrowed. `costs`: wrong words cost 1.
  LatticeScorer(const LatticeTexts& texts, const LatticeRules& rules,
                std::span<const std::uint32_t> characters, const Training& places, bool costs);

  std::size_t examples() const override { return examples_.size(); }
  std::size_t weights() const override { return places_.features() + index_.size; }
  Layout layout(std::size_t i) const override {
    return Lattice::layout(examples_[i].lattice.shape);
  }
  void score(std::size_t i, const Layout&, Weights w, double scale, double* theta) const override;
  void gather(std::size_t i, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;

  Gold gold() const;
  Cost cost() const;
  const LatticeIndex& index() const { return index_; }

 private:
  struct Example {
    WordLattice lattice;
    std::vector<std::uint16_t> chars;
    std::vector<std::uint16_t> coarse;  // of the classes of nodes
  };
  template <class T>
  void score_by(std::size_t i, const T* w, double scale, double* theta) const;
  void add_gold(const LatticeTexts::Text& text, const WordLattice& lattice, bool costs);
  // The features of the place where a word begins.
  std::span<const std::int32_t> place(std::size_t example, std::size_t at) const {
    const std::size_t s = static_cast<std::size_t>(places_.site[example]) + at;
    return {places_.indices.data() + places_.indptr[s],
            static_cast<std::size_t>(places_.indptr[s + 1] - places_.indptr[s])};
  }

  const Training& places_;
  LatticeIndex index_;
  std::vector<Example> examples_;
  std::vector<std::int64_t> gold_ptr_{0}, allowed_ptr_, edge_ptr_{0};
  std::vector<std::uint32_t> gold_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::int32_t> wrong_;  // by edge: 1 for a wrong word, -1 where nobody knows
  std::array<double, 2> delta_{0.0, 1.0};
};

}  // namespace structlearn::words
