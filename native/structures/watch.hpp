// Searches that can be looked at step by step take a watcher as a template argument. `Unwatched` is
// told nothing and costs nothing: what would be told is not even worked out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace structlearn {

struct Unwatched {
  static constexpr bool kOn = false;
  void operator()(const char*, std::vector<std::int64_t>, std::vector<double> = {}) {}
};

// What a search did: the kind of a step, whole numbers (nodes, labels) and reals (scores), whose
// meaning the search documents.
struct WatchedStep {
  std::string kind;
  std::vector<std::int64_t> nodes;
  std::vector<double> values;
};

struct Recorder {
  static constexpr bool kOn = true;
  std::vector<WatchedStep> steps;
  void operator()(const char* kind, std::vector<std::int64_t> nodes,
                  std::vector<double> values = {}) {
    steps.push_back({kind, std::move(nodes), std::move(values)});
  }
};

}  // namespace structlearn
