// A trained lattice of words: cuts texts, with tags, as the best path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/reader.hpp"
#include "tasks/words/decoder.hpp"
#include "tasks/words/lattice.hpp"
#include "tasks/words/line.hpp"
#include "tasks/words/model.hpp"

namespace structlearn::words {

// A word of a cut, in characters.
struct FoundWord {
  std::uint32_t begin, end, tag;
};

class LatticeModel {
 public:
  // `places`: what speaks for a word beginning at a place; borrowed. `weights`: by LatticeIndex.
  LatticeModel(const WordModel& places, LatticeRules rules,
               std::span<const std::uint32_t> characters, std::span<const std::int16_t> weights,
               double unit);

  const LatticeRules& rules() const { return rules_; }
  bool blanks() const { return places_.blanks(); }

  // Words of a user's, beside those of the dictionary: what each adds to the score of a cut.
  struct Wanted {
    const UserWords* words = nullptr;
    double unit = 1.0;
    double of(std::uint32_t word, std::size_t length) const;
  };

  // What a thread needs.
  struct Scratch {
    WordModel::Scratch places;
    std::vector<std::int32_t> theta;
    std::vector<double> begins;
    std::vector<std::size_t> chars;
    std::vector<std::uint32_t> ends;  // of characters of one kind, in the run `ends_of`
    std::size_t ends_of = 0;
    std::vector<Candidate> found;
    std::vector<double> bonus;  // by length less 1, of words that are wanted
    struct Node {
      double best;
      std::uint32_t word, back;
      std::uint16_t kind;
    };
    struct Way {
      std::uint32_t begin, end, tag, back;
    };
    std::vector<std::vector<Node>> nodes;  // by place
    std::vector<Way> ways;
    std::vector<std::pair<double, std::uint32_t>> arrive;  // by class, of one place
    std::vector<std::uint32_t> stamp;
  };
  // The best cut. Of candidates that score alike the first.
  void cut(const TextLine& line, Wanted wanted, Scratch&, std::vector<FoundWord>& out) const;

  // All of the lattice, and the scores of its edges.
  WordLattice lattice(const TextLine& line, Scratch&, std::vector<double>& theta) const;

 private:
  void prepare(const TextLine& line, Scratch&) const;
  double word(const Candidate& c, const Scratch&) const;
  // Calls each(candidate, bonus) for the words that may begin at a place of a line.
  template <class Each>
  void candidates(const TextLine& line, std::size_t run, std::size_t at, Wanted, Scratch&,
                  Each&& each) const;

  const WordModel& places_;
  LatticeRules rules_;
  Characters characters_;
  LatticeIndex index_;
  std::vector<float> weight_;  // of words
  std::vector<float> pair_;    // [after][before]: of classes and of coarse ones together
};

// Lines as lattices, to be asked everything about. An output is a row of begin, end and tag of each
// word.
class LatticeReader final : public Reader {
 public:
  LatticeReader(const LatticeModel& model, const std::vector<TextLine>& lines)
      : model_(model), lines_(lines) {}
  const Scored& scores(std::size_t input, Purpose) override;
  void to_model(Output&) const override;
  bool to_structure(Output&) const override;
  std::size_t names(const Scored&) const override { return 1; }
  void to_names(std::vector<double>& p) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t) const override;
  std::size_t find(const Part&) const override;
  void forbid(const Scored&, const Part&) const override;

 private:
  const LatticeModel& model_;
  const std::vector<TextLine>& lines_;
  LatticeModel::Scratch scratch_;
  std::optional<WordLattice> lattice_;
  std::vector<double> theta_;
  Lattice structure_;
  Scored scored_;
};

class LatticeInputs final : public Inputs {
 public:
  LatticeInputs(const LatticeModel& model, std::vector<TextLine> lines)
      : model_(model), lines_(std::move(lines)) {}
  std::size_t size() const override { return lines_.size(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<LatticeReader>(model_, lines_);
  }

 private:
  const LatticeModel& model_;
  std::vector<TextLine> lines_;
};

// From text to text, as Cutter is for chains. Of a line longer than kMostHeld bytes a piece is cut
// at a time, up to a word well before its end.
class LatticeCutter {
 public:
  LatticeCutter(const LatticeModel& model, LatticeModel::Wanted wanted)
      : model_(model), wanted_(wanted) {}

  void cut(std::string_view text, bool last, std::string& out);
  bool idle() const { return held_.empty() && !written_; }
  std::size_t words() const { return found_; }
  std::size_t line() const { return lines_; }
  void set_line(std::size_t lines) { lines_ = lines; }
  // Begin, end and tag of the words of a line, in characters.
  void places(std::string_view line, std::vector<FoundWord>& out);

 private:
  static constexpr std::size_t kMostHeld = std::size_t{1} << 16, kBack = 256;
  void write(std::string_view piece, std::string& out);
  // Cuts a piece of a line; returns how many of its bytes are cut. `whole`: all of them are.
  std::size_t piece(std::string_view text, bool whole, std::vector<FoundWord>& words);

  const LatticeModel& model_;
  LatticeModel::Wanted wanted_;
  LatticeModel::Scratch scratch_;
  std::vector<FoundWord> words_;
  std::string held_;
  bool written_ = false;
  std::size_t found_ = 0, lines_ = 0;
};

}  // namespace structlearn::words
