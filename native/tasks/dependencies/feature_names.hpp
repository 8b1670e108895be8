// What the features of an arc and of its label (features.hpp) are made of, in words.
#pragma once

#include <cstdint>
#include <string_view>

namespace structlearn::parsing {

// "?" where there is no such feature of this number.
std::string_view feature_name(std::uint16_t id);

}  // namespace structlearn::parsing
