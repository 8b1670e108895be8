// Models that label the tokens of sentences, one by one or as segments, as a labeller sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "models/reader.hpp"
#include "tasks/tagging/forbidden_labels.hpp"
#include "text/corpus.hpp"

namespace structlearn::text {

// What is asked of a tagger besides its weights. Borrowed.
struct TaggerQuestion {
  std::span<const std::int32_t> name_of;  // of each label; labels of one name are written alike
  // The name of each token, -1: open, -2: one that the model does not have; empty: all are open.
  std::span<const std::int32_t> known;
  // Whether what is known chooses the candidates too, or only among those that the model has.
  bool chooses = true;
};

class LabelReader : public Reader {
 public:
  // To be called after the corpus has got more strings; `forget` after it has lost all.
  virtual void update() = 0;
  virtual void forget() = 0;
  virtual void ask(const TaggerQuestion&) {}

  // Where some of the labels of each token are considered: the scores (tokens, labels) that chose
  // them, and what may not stand next to each other. Borrowed.
  struct Likely {
    std::size_t tokens;
    const double* scores;
    const ForbiddenLabels* forbidden;
    bool restricted;  // to known labels, after they were chosen
  };
  virtual std::optional<Likely> likely() const { return std::nullopt; }
  // The sentence that was scored last, with these labels, one for each token, considered too, if
  // there are any; with or without its restriction.
  virtual const Scored& consider(std::span<const std::int32_t> /* labels */,
                                 bool /* restricted */) {
    throw std::logic_error("all labels are considered");
  }
};

// Makes a reader of a corpus.
using ReaderFactory = std::function<std::unique_ptr<LabelReader>(const Corpus&)>;

}  // namespace structlearn::text
