// The inputs of a tagger of tokens or of segments under automata: every question is about the
// labels that all of them accept.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "structures/chains/constrained_sequence.hpp"
#include "tasks/tagging/label_reader.hpp"

namespace structlearn::text {

class ConstrainedReader final : public LabelReader {
 public:
  // The structure is that of the reader, over automata that read `labels` labels.
  ConstrainedReader(std::unique_ptr<LabelReader> reader,
                    std::shared_ptr<const ConstrainedSequence> structure, std::size_t labels)
      : reader_(std::move(reader)), structure_(std::move(structure)), labels_(labels) {}

  void update() override { reader_->update(); }
  void forget() override { reader_->forget(); }
  void ask(const TaggerQuestion& question) override { reader_->ask(question); }
  void to_labels(Output& y) const override { reader_->to_labels(y); }

  const Scored& scores(std::size_t sentence, Purpose) override;
  void to_model(Output& y) const override { reader_->to_model(y); }
  bool to_structure(Output& y) const override {
    return reader_->to_structure(y) && structure_->accepts(scored_.layout, y);
  }
  std::size_t names(const Scored& scored) const override { return reader_->names(scored); }
  void to_names(std::vector<double>& p) const override { reader_->to_names(p); }
  std::vector<Part> parts(const Output& y) const override { return reader_->parts(y); }
  Part part(std::size_t site, std::size_t name) const override { return reader_->part(site, name); }
  std::size_t find(const Part& part) const override { return reader_->find(part); }
  void forbid(const Scored& scored, const Part& part) const override {
    reader_->forbid(scored, part);
  }
  bool alike(std::size_t site, std::size_t a, std::size_t b) const override {
    return reader_->alike(site, a, b);
  }
  std::span<const std::int32_t> name_of() const override { return reader_->name_of(); }

 private:
  // Whether any output is.
  bool is_legal();
  // Takes over the scores of the reader, and what labels their outcomes stand for.
  void take(const Scored&);
  // The best labels that all automata accept, by what chose those that are considered; empty if
  // there are none.
  Output likely_labels(const LabelReader::Likely&);

  std::unique_ptr<LabelReader> reader_;
  std::shared_ptr<const ConstrainedSequence> structure_;
  std::size_t labels_;
  Scored scored_;
  std::shared_ptr<SymbolMap> symbols_;
  std::vector<double> pairs_;  // of labels: 0, or -inf if forbidden; made when they are needed
};

class ConstrainedInputs final : public Inputs {
 public:
  // `inputs` are borrowed; their readers read labels.
  ConstrainedInputs(const Inputs& inputs, std::shared_ptr<const ConstrainedSequence> structure,
                    std::size_t labels)
      : inputs_(inputs), structure_(std::move(structure)), labels_(labels) {}
  std::size_t size() const override { return inputs_.size(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  const Inputs& inputs_;
  std::shared_ptr<const ConstrainedSequence> structure_;
  std::size_t labels_;
};

}  // namespace structlearn::text
