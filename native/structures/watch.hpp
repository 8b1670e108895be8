// Searches that can be watched step by step take a watcher as a template argument. `Unwatched`
// receives nothing and costs nothing: the reports are not even computed.
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

// A step of a search: its kind, integers (nodes, labels) and reals (scores), whose meaning the
// search documents.
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
