// Answers of models that label tokens, by the names of the labels.
#pragma once

#include <cstddef>
#include <vector>

#include "bindings/models/inputs.hpp"

namespace structlearn::python {

// The probability of each of `names` names at each token of an input. Labels of one name count
// together.
void name_probabilities(Reader&, const Scored&, double temperature, std::size_t input,
                        std::size_t names, std::vector<double>& p);

// A dictionary for each token, in the order of the names; 0 where it is less than `least`.
nb::list by_name(const std::vector<double>& p, nb::list names, double least);

}  // namespace structlearn::python
