// Names of the features of a vocabulary, as model files hold them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/features.hpp"
#include "text/vocabulary.hpp"

namespace structlearn::text {

// Keys in their order; one name after another, and where each ends.
struct FeatureNames {
  std::vector<std::uint64_t> key;
  std::vector<std::uint8_t> text;
  std::vector<std::uint32_t> end;
};

// The names of the wanted features, or of features of label pairs, in the order of their keys.
// Those first seen outside the `sentences` that the extractor has, from number `first` on, get
// none. Throws std::invalid_argument if there is no such feature.
FeatureNames feature_names(const Vocabulary&, Extractor&, bool pairs,
                           std::span<const std::uint32_t> wanted, std::size_t first,
                           std::size_t sentences);

}  // namespace structlearn::text
