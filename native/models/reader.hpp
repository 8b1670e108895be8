// A model as its queries see it: inputs that can be scored, by one hook.
//
// A Model is to prediction what a Problem is to learning. What it brings of its own is how an input
// becomes scored parts; everything that can be asked of it is in queries.hpp, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// The scored parts of one input. Blocks are borrowed: one that all inputs share is never copied.
// They are valid until the reader scores another input.
struct Scored {
  const Structure* structure = nullptr;
  Layout layout;
  Scores scores;
  double* parts = nullptr;  // the scores of the first block, which lie in the reader's own memory
  std::size_t first = 0;    // its number; its parts are the first of the layout
};

// What the scores are for. Best outputs and sums may live in different sets: a second-order parser
// finds the best of all trees, and sums over the projective ones.
enum class Purpose { kBest, kSums };

// A part of the first block by its place and label: a token and its label, a segment or a span and
// its label, a word (begin), its head (end) and the relation.
struct Part {
  std::int32_t begin = 0, end = 0, label = 0;
};

// Scores the inputs of a model one after another. Not to be shared between threads.
class Reader {
 public:
  virtual ~Reader() = default;

  // The hook. Throws Incapable where the model has no sums.
  virtual const Scored& scores(std::size_t input, Purpose) = 0;

  // From an output of the structure to one of the model, whose labels may be others than the
  // structure's outcomes; and back: false if the structure has no such output here.
  virtual void to_model(Output&) const {}
  virtual bool to_structure(Output&) const { return true; }

  // From an output of the model to a label for each token, of models that label tokens, one by one
  // or as segments.
  virtual void to_labels(Output&) const {}

  // What stands for an output, with the score -inf, where none is legal; nothing: that is an error.
  virtual std::optional<Output> makeshift() const { return std::nullopt; }

  // Where an outcome of the first block has several names or none: how many names a site has, and
  // from the probabilities of outcomes to those of names.
  virtual std::size_t names(const Scored& scored) const {
    return scored.layout.block[scored.first].outcomes;
  }
  virtual void to_names(std::vector<double>& /* p */) const {}

  // The parts of an output of the model; what a name of a site of the first block stands for; and
  // where a part is among the probabilities of names, kNowhere if it is not among the scored ones.
  virtual std::vector<Part> parts(const Output& y) const = 0;
  virtual Part part(std::size_t site, std::size_t name) const = 0;
  virtual std::size_t find(const Part&) const = 0;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  // Rules out a part: what stands for it in the first block scores -inf until the next input.
  virtual void forbid(const Scored& scored, const Part& part) const {
    const std::size_t at = find(part);
    if (at != kNowhere) scored.parts[at] = kMinusInfinity;
  }
  // Outcomes of a site that are written alike are one to users: their probabilities add up.
  virtual bool alike(std::size_t /* site */, std::size_t a, std::size_t b) const { return a == b; }
  // The name of each label, by which labels are written; empty: each has its own.
  virtual std::span<const std::int32_t> name_of() const { return {}; }

  Workspace workspace;
};

// Inputs that are to be asked about.
class Inputs {
 public:
  virtual ~Inputs() = default;
  virtual std::size_t size() const = 0;
  virtual std::unique_ptr<Reader> reader() const = 0;
};

}  // namespace structlearn
