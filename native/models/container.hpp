// Model files: one file of named arrays, in the safetensors format, with a checksum.
//
// Eight bytes with the header's length, the header as JSON, the arrays one after another. The
// header's __metadata__ has the model's description, JSON too, and a checksum of everything else in
// the file, so that a flipped bit anywhere is found. src/structlearn/io/container.py writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array_views.hpp"

namespace structlearn {

// An array as it lies in a file: its type as safetensors names it, F32, U64, ...; borrowed.
struct Tensor {
  std::string dtype;
  std::vector<std::size_t> shape;
  std::span<const std::uint8_t> data;
};

using Tensors = std::map<std::string, Tensor, std::less<>>;

struct Container {
  std::string description;
  Tensors tensors;
};

// Checks and reads the content of a file. `what` the file ought to be, for messages: a model.
// Throws std::invalid_argument where it is foreign, cut short, damaged or of another version.
Container parse_container(std::string_view whole, std::string_view what);

// The array of this name and type. Throws std::invalid_argument if there is none.
const Tensor& tensor(const Tensors&, std::string_view name, std::string_view dtype);

template <class T>
std::span<const T> items(const Tensors& tensors, std::string_view name, std::string_view dtype) {
  return items_of<T>(tensor(tensors, name, dtype).data, name);
}

}  // namespace structlearn
