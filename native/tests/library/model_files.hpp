// Small model files, made by hand: a tagger, and one of CRFsuite's.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/crfsuite_writer.hpp"
#include "tasks/tagging/weight_table.hpp"
#include "text/features.hpp"
#include "text/hash.hpp"

namespace test {

struct FileArray {
  std::string name, dtype;
  std::string bytes;
};

template <class T>
FileArray file_array(std::string name, std::string dtype, const std::vector<T>& values) {
  return {std::move(name),
          std::move(dtype),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
}

inline std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

// The file with its checksum right, whatever its header says.
inline std::string container_file(const std::string& description,
                                  const std::vector<FileArray>& arrays) {
  std::string entries, payload;
  for (const FileArray& array : arrays) {
    const std::size_t item = array.dtype == "F64" || array.dtype == "U64" ? 8
                             : array.dtype == "U8"                        ? 1
                                                                          : 4;
    entries += "," + in_quotes(array.name) + ":{\"dtype\":" + in_quotes(array.dtype) +
               ",\"shape\":[" + std::to_string(array.bytes.size() / item) + "],\"data_offsets\":[" +
               std::to_string(payload.size()) + "," +
               std::to_string(payload.size() + array.bytes.size()) + "]}";
    payload += array.bytes;
  }
  const auto header = [&](const std::string& sum) {
    std::string text = "{\"__metadata__\":{\"checksum\":" + in_quotes(sum) +
                       ",\"format\":\"structlearn\",\"model\":" + in_quotes(description) +
                       ",\"version\":\"2\"}" + entries + "}";
    return text.append((64 - text.size() % 64) % 64, ' ');
  };
  std::string head = header("0000000000000000");
  const std::uint64_t size = head.size();
  const std::string length(reinterpret_cast<const char*>(&size), sizeof size);
  structlearn::text::Checksum sum;
  sum.add(length.data(), length.size());
  sum.add(head.data(), head.size());
  for (const FileArray& array : arrays) sum.add(array.bytes.data(), array.bytes.size());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(sum.value()));
  return length + header(digits) + payload;
}

// A tagger of words that knows "fish" and "sleep".
inline std::string tagger_description() {
  return R"({"task":"tagger","format":"columns","n_columns":2,"target":1,"labels":["N","V"],)"
         R"("shown":["N","V"],"order":1,"hashed":false,"precision":"float32",)"
         R"("templates":[[[["string","word",[["lower",null]],0]],false,false,""]],)"
         R"("phrases":{},"vectors":{},"lexica":{},"training":{"learner":"crf"}})";
}

inline std::vector<FileArray> tagger_arrays() {
  using namespace structlearn::text;
  const std::uint64_t seed = hash_string("lower(word[0])");
  std::vector<std::uint64_t> keys;
  for (const char* word : {"fish", "sleep"}) {
    keys.push_back(nonzero(combine(seed, nonzero(hash_string(word)))));
  }
  std::vector<double> w{1.0, -0.5, -0.25, 2.0};
  if (keys[0] > keys[1]) {
    std::swap(keys[0], keys[1]);
    w = {w[2], w[3], w[0], w[1]};
  }
  const WeightArrays table = pack(keys, std::vector<std::uint32_t>{0, 2, 4},
                                  std::vector<std::uint32_t>{0, 1, 0, 1}, w, 2, 0.0);
  return {file_array("state.slots", "U64", table.slots),
          file_array("start", "F64", std::vector<double>{0.5, 0.0}),
          file_array("end", "F64", std::vector<double>{0.0, 0.25}),
          file_array("transition1", "F64", std::vector<double>{0.0, 1.0, 0.5, -1.0}),
          file_array("state.weight", "F32", table.weight),
          file_array("state.outcome", "U32", table.outcome)};
}

inline std::string tagger_file() {
  return container_file(tagger_description(), tagger_arrays());
}

inline std::string crfsuite_model_file() {
  const std::vector<std::uint32_t> row_ptr{0, 2, 4}, column{0, 1, 0, 1};
  const std::vector<double> weight{1.0, -0.5, -0.25, 2.0}, transition{0.0, 1.0, 0.5, -1.0};
  return structlearn::crfsuite_file(
      {{"N", "V"}, {"w=fish", "w=sleep"}, row_ptr, column, weight, transition});
}

}  // namespace test
