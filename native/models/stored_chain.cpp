#include "models/stored_chain.hpp"

#include <stdexcept>

namespace structlearn {
namespace {

std::string_view type_of(std::string_view name) {
  if (name == "names.text") return "U8";
  if (name == "names.ends") return "U64";
  if (name == "row_ptr" || name == "column") return "U32";
  if (name == "weight" || name == "mask" || name == "start" || name == "end") return "F64";
  for (std::size_t m = 1; m <= Chain::kMaxOrder; ++m) {
    if (name == "transition" + std::to_string(m)) return "F64";
  }
  return {};
}

}  // namespace

ArrayViews chain_arrays(const Tensors& tensors) {
  ArrayViews arrays;
  for (const auto& [name, given] : tensors) {
    const std::string_view dtype = type_of(name);
    if (dtype.empty()) throw std::invalid_argument("arrays that nothing reads: " + name);
    arrays.put(name, tensor(tensors, name, dtype).data);
  }
  tensor(tensors, "names.text", "U8");
  tensor(tensors, "names.ends", "U64");
  return arrays;
}

StringChainWeights chain_weights(const ArrayViews& arrays, std::size_t features, std::size_t labels,
                                 std::size_t order) {
  StringChainWeights w;
  w.features = features;
  w.labels = labels;
  w.order = order;
  w.row_ptr = arrays.items<std::uint32_t>("row_ptr");
  w.column = arrays.items<std::uint32_t>("column");
  w.weight = arrays.items<double>("weight");
  w.mask = arrays.items<double>("mask");
  w.start = arrays.items<double>("start");
  w.end = arrays.items<double>("end");
  for (std::size_t m = 1; m <= Chain::kMaxOrder; ++m) {
    w.transition[m - 1] = arrays.items<double>("transition" + std::to_string(m));
  }
  return w;
}

text::StringTable joined_names(std::string_view text, std::span<const std::uint64_t> ends) {
  const auto inside = [&](std::size_t at) {  // of a character
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  text::StringTable names;
  std::size_t begin = 0;
  for (const std::uint64_t end : ends) {
    if (end < begin || end > text.size() || inside(static_cast<std::size_t>(end))) {
      throw std::invalid_argument("names that do not fit together");
    }
    const std::size_t known = names.size();
    if (names.add(text.substr(begin, static_cast<std::size_t>(end) - begin)) != known) {
      throw std::invalid_argument("a name appears twice");
    }
    begin = static_cast<std::size_t>(end);
  }
  if (begin != text.size()) throw std::invalid_argument("names without an end");
  return names;
}

}  // namespace structlearn
