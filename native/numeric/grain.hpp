// How many examples a task of a thread has.
#pragma once

#include <algorithm>
#include <cstddef>

namespace structlearn {

// At most `most`, and fewer where there are few examples: every thread gets several tasks.
inline std::size_t grain_of(std::size_t examples, std::size_t threads, std::size_t most) {
  constexpr std::size_t kTasksOfThread = 4;
  return std::clamp<std::size_t>(examples / (kTasksOfThread * std::max<std::size_t>(threads, 1)), 1,
                                 most);
}

}  // namespace structlearn
