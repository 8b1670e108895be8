// Lines of text as the chains that a model of words scores, to be asked everything about.
#pragma once

#include <memory>
#include <vector>

#include "models/reader.hpp"
#include "structures/chains/chain.hpp"
#include "tasks/words/line.hpp"
#include "tasks/words/model.hpp"

namespace structlearn::words {

// Labels: 0, a word begins; 1, it goes on.
class WordReader final : public Reader {
 public:
  WordReader(const WordModel& model, const std::vector<TextLine>& lines)
      : model_(model), lines_(lines) {}
  const Scored& scores(std::size_t input, Purpose) override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t name) const override;
  std::size_t find(const Part&) const override;

 private:
  const WordModel& model_;
  const std::vector<TextLine>& lines_;
  WordModel::Scratch scratch_;
  std::vector<std::int32_t> theta_;
  std::vector<double> label_, pair_;
  Chain chain_;
  Scored scored_;
};

class WordInputs final : public Inputs {
 public:
  WordInputs(const WordModel& model, std::vector<TextLine> lines)
      : model_(model), lines_(std::move(lines)) {}
  std::size_t size() const override { return lines_.size(); }
  std::size_t steps() const override;
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<WordReader>(model_, lines_);
  }
  const std::vector<TextLine>& lines() const { return lines_; }

 private:
  const WordModel& model_;
  std::vector<TextLine> lines_;
};

}  // namespace structlearn::words
