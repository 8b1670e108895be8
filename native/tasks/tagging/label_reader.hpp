// Models that label the tokens of sentences, one by one or as segments, as a labeller sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "models/reader.hpp"
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
};

// Makes a reader of a corpus.
using ReaderFactory = std::function<std::unique_ptr<LabelReader>(const Corpus&)>;

}  // namespace structlearn::text
