// What is decided of one input of a model that labels tokens: its best labellings, and how sure
// they are.
#pragma once

#include <cstddef>
#include <vector>

#include "models/queries.hpp"
#include "models/reader.hpp"

namespace structlearn {

struct Wanted {
  std::size_t nbest = 1;
  bool confidence = false;   // the probability of the best labelling's parts, by token
  bool marginals = false;    // the probabilities of all named parts
  bool scores = false;       // the probabilities of the labellings as a whole
  double temperature = 1.0;  // of the probabilities
};

struct Decision {
  double value = kMinusInfinity;    // of the best one; -inf: none is legal, and nothing is decided
  std::vector<Output> outputs;      // of the model, best first
  std::vector<double> scores;       // of the outputs, where they were asked for
  std::vector<double> probability;  // of named parts, where anything but scores was asked for
  std::vector<double> confidence;   // of tokens
};

// Of the input that a reader has scored last.
void decide(Reader&, const Scored&, const Wanted&, Decision&);

}  // namespace structlearn
