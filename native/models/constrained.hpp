// The inputs of a model whose outputs automata must accept.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "models/forwarding_reader.hpp"
#include "structures/chains/constrained_sequence.hpp"

namespace structlearn {

// Automata over the labels of a model, and the structures that keep to them: products that one
// input has needed are there for the next.
class AutomataOfLabels {
 public:
  AutomataOfLabels(std::vector<Automaton> automata, ProductSettings settings)
      : automata_(std::move(automata)), settings_(settings) {}

  // The structure in the place of a chain or a segmentation; throws Incapable for any other.
  const ConstrainedSequence& instead_of(const Structure& structure) const;

 private:
  std::vector<Automaton> automata_;
  ProductSettings settings_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::unique_ptr<ConstrainedSequence>> made_;  // by longest segment
};

// Where an input has few candidates for its labels, and none of their sequences is accepted, it
// gets more of them.
class ConstrainedReader final : public ForwardingReader {
 public:
  ConstrainedReader(std::unique_ptr<Reader> reader, const AutomataOfLabels& automata)
      : ForwardingReader(std::move(reader)), automata_(automata) {}

  const Scored& scores(std::size_t input, Purpose purpose) override;
  const Scored* widen() override;
  std::optional<Output> makeshift() const override { return std::nullopt; }  // might be rejected

 private:
  void constrain(const Scored& scored);

  const AutomataOfLabels& automata_;
  Scored scored_;
  std::shared_ptr<SymbolMap> map_ = std::make_shared<SymbolMap>();
};

class ConstrainedInputs final : public Inputs {
 public:
  // `inputs` are borrowed.
  ConstrainedInputs(const Inputs& inputs, std::shared_ptr<const AutomataOfLabels> automata)
      : inputs_(inputs), automata_(std::move(automata)) {}
  std::size_t size() const override { return inputs_.size(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<ConstrainedReader>(inputs_.reader(), *automata_);
  }

 private:
  const Inputs& inputs_;
  std::shared_ptr<const AutomataOfLabels> automata_;
};

}  // namespace structlearn
