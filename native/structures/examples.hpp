// Work on many examples, on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "numeric/grain.hpp"
#include "numeric/parallel.hpp"
#include "structures/workspace.hpp"

namespace structlearn {

// body(example, workspace) for n examples on up to `threads` threads, in runs of at most `most`,
// until `interrupt` is requested. The result for an example must depend on it alone.
template <class Body>
void for_examples(std::size_t n, std::size_t threads, std::size_t most, Interrupt& interrupt,
                  Body&& body) {
  std::vector<Workspace> workspace(std::max<std::size_t>(threads, 1));
  const std::size_t grain = grain_of(n, threads, most);
  parallel_for((n + grain - 1) / grain, threads, [&](std::size_t task, std::size_t thread) {
    for (std::size_t i = task * grain; i < std::min(n, (task + 1) * grain); ++i) {
      if (interrupt.requested()) return;
      body(i, workspace[thread]);
    }
  });
}

}  // namespace structlearn
