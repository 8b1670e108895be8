// Chains over strings, as their files have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/array_views.hpp"
#include "models/container.hpp"
#include "models/string_chain.hpp"
#include "text/strings.hpp"

namespace structlearn {

// The arrays of a model, and those of the names of its features: names.text, names.ends. Throws
// std::invalid_argument where one is of another type, or nothing reads it.
ArrayViews chain_arrays(const Tensors&);

// Weights that borrow the arrays.
StringChainWeights chain_weights(const ArrayViews&, std::size_t features, std::size_t labels,
                                 std::size_t order);

// Names one after another, and where each ends. Throws std::invalid_argument where they do not fit
// together, or one is there twice.
text::StringTable joined_names(std::string_view text, std::span<const std::uint64_t> ends);

}  // namespace structlearn
