// The inputs of a model without some of their parts: what else could it have answered?
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/forwarding_reader.hpp"

namespace structlearn {

// A label of kAnyLabel forbids the place, whatever its label.
inline constexpr std::int32_t kAnyLabel = -1;

// Parts that are forbidden, by input.
using Forbidden = std::vector<std::vector<Part>>;

class MaskedReader final : public ForwardingReader<Reader> {
 public:
  MaskedReader(std::unique_ptr<Reader> reader, const Forbidden& forbidden)
      : ForwardingReader(std::move(reader)), forbidden_(forbidden) {}

  const Scored& scores(std::size_t input, Purpose purpose) override {
    const Scored& scored = reader_->scores(input, purpose);
    const auto labels = static_cast<std::int32_t>(reader_->names(scored));
    masked_ = !forbidden_[input].empty();
    for (Part part : forbidden_[input]) {
      const bool any = part.label == kAnyLabel;
      const std::int32_t first = any ? 0 : part.label, last = any ? labels : part.label + 1;
      for (part.label = first; part.label < last; ++part.label) {
        reader_->forbid(scored, part);
      }
    }
    return scored;
  }
  // A makeshift might have what is forbidden.
  std::optional<Output> makeshift() const override {
    return masked_ ? std::nullopt : reader_->makeshift();
  }

 private:
  const Forbidden& forbidden_;
  bool masked_ = false;  // whether parts of the input that was scored last are forbidden
};

class MaskedInputs final : public Inputs {
 public:
  // `inputs` are borrowed. Throws std::invalid_argument unless there is a list for each of them.
  MaskedInputs(const Inputs& inputs, Forbidden forbidden)
      : inputs_(inputs), forbidden_(std::move(forbidden)) {
    if (forbidden_.size() != inputs_.size()) {
      throw std::invalid_argument("a list of forbidden parts for each input is needed");
    }
  }
  std::size_t size() const override { return inputs_.size(); }
  std::size_t steps() const override { return inputs_.steps(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<MaskedReader>(inputs_.reader(), forbidden_);
  }

 private:
  const Inputs& inputs_;
  Forbidden forbidden_;
};

}  // namespace structlearn
