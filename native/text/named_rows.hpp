// Tokens as rows of named features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace structlearn::text {

struct NamedRows {
  static constexpr std::int32_t kUnknown = -1;

  std::vector<std::int32_t> id;       // the number of each name
  std::vector<double> value;          // of each feature; empty where all are 1
  std::vector<std::size_t> end;       // where the features of each token end
  std::vector<std::size_t> first{0};  // the first token of each example, and one past the last

  std::size_t examples() const { return first.size() - 1; }
  std::size_t tokens(std::size_t example) const { return first[example + 1] - first[example]; }
  std::size_t begin(std::size_t token) const { return token == 0 ? 0 : end[token - 1]; }
  std::size_t capacity() const { return id.capacity() + value.capacity() + end.capacity(); }

  // Leaves out features whose names are not known.
  void drop_unknown() {
    std::size_t kept = 0, j = 0;
    for (std::size_t& last : end) {
      for (; j < last; ++j) {
        if (id[j] == kUnknown) continue;
        if (!value.empty()) value[kept] = value[j];
        id[kept++] = id[j];
      }
      last = kept;
    }
    id.resize(kept);
    if (!value.empty()) value.resize(kept);
  }
  void clear() {
    id.clear();
    value.clear();
    end.clear();
    first.assign(1, 0);
  }
};

}  // namespace structlearn::text
