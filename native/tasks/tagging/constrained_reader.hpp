// The inputs of a model whose outputs automata must accept: every question is about the labels that
// all of them accept.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/forwarding_reader.hpp"
#include "structures/chains/constrained_sequence.hpp"
#include "tasks/tagging/label_reader.hpp"

namespace structlearn::text {

// Of any model of chains or segmentations; as a reader of labels if it was one.
class ConstrainedReader final : public ForwardingReader<LabelReader> {
 public:
  // The structure is that of the reader, over automata that read `labels` labels.
  ConstrainedReader(std::unique_ptr<Reader> reader,
                    std::shared_ptr<const ConstrainedSequence> structure, std::size_t labels)
      : ForwardingReader(std::move(reader)),
        structure_(std::move(structure)),
        labels_(labels),
        label_reader_(dynamic_cast<LabelReader*>(reader_.get())) {}

  void update() override {
    if (label_reader_ != nullptr) label_reader_->update();
  }
  void forget() override {
    if (label_reader_ != nullptr) label_reader_->forget();
  }
  void ask(const TaggerQuestion& question) override {
    if (label_reader_ != nullptr) label_reader_->ask(question);
  }
  // Throws Incapable if the model's outputs are other sequences than the automata's, or none.
  const Scored& scores(std::size_t sentence, Purpose) override;
  std::optional<Output> makeshift() const override { return std::nullopt; }  // might be rejected

 private:
  // Whether any output is.
  bool is_legal();
  // Takes over the scores of the reader, and what labels their outcomes stand for.
  void take(const Scored&);
  // The best labels that all automata accept, by what chose those that are considered; empty if
  // there are none.
  Output likely_labels(const LabelReader::Likely&);

  std::shared_ptr<const ConstrainedSequence> structure_;
  std::size_t labels_;
  LabelReader* label_reader_;  // the reader, if it is one of labels
  Scored scored_;
  std::shared_ptr<SymbolMap> symbols_;
  std::vector<double> pairs_;  // of labels: 0, or -inf if forbidden; made when they are needed
};

class ConstrainedInputs final : public Inputs {
 public:
  // `inputs` are borrowed.
  ConstrainedInputs(const Inputs& inputs, std::shared_ptr<const ConstrainedSequence> structure,
                    std::size_t labels)
      : inputs_(inputs), structure_(std::move(structure)), labels_(labels) {}
  std::size_t size() const override { return inputs_.size(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<ConstrainedReader>(inputs_.reader(), structure_, labels_);
  }

 private:
  const Inputs& inputs_;
  std::shared_ptr<const ConstrainedSequence> structure_;
  std::size_t labels_;
};

}  // namespace structlearn::text
