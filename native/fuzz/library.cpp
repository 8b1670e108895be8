// Model files, opened and asked by the C library: as they come, and with their checksum made right.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/input.hpp"
#include "library/structlearn.h"
#include "tests/library/model_files.hpp"

namespace {

// Arrays as the rest of an input has them, behind a description that ends at a zero byte.
std::string forged(fuzz::Input& in) {
  std::string_view text = in.rest();
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string description(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  std::vector<test::FileArray> arrays = test::tagger_arrays();
  for (test::FileArray& array : arrays) {
    if (text.empty()) break;
    const std::size_t size = std::min(array.bytes.size(), text.size());
    for (std::size_t i = 0; i < size; ++i) array.bytes[i] ^= text[i];
    text.remove_prefix(size);
  }
  return test::container_file(description, arrays);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  const bool made = in.flag();
  const std::size_t nbest = 1 + in.below(3);
  const unsigned wanted = in.byte() & 3;
  const std::string file = made ? forged(in) : std::string(in.rest());
  structlearn_model* model = nullptr;
  const structlearn_status status = structlearn_open_bytes(file.data(), file.size(), &model);
  fuzz::require((model != nullptr) == (status == STRUCTLEARN_OK));
  fuzz::require(status == STRUCTLEARN_OK || status == STRUCTLEARN_DAMAGED ||
                status == STRUCTLEARN_UNSUPPORTED);
  if (model == nullptr) return 0;
  const char* words[] = {"Fish", "sleep", "", "w=fish"};
  structlearn_answer* answer = nullptr;
  const structlearn_status asked =
      structlearn_label(model, words, nullptr, nullptr, 4, nbest, wanted, &answer);
  fuzz::require(asked == STRUCTLEARN_OK || asked == STRUCTLEARN_INPUT ||
                asked == STRUCTLEARN_UNSUPPORTED);
  fuzz::require(structlearn_labellings(answer) <= nbest);
  structlearn_free(answer);
  structlearn_close(model);
  return 0;
}
