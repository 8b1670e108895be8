// Work on the examples of a batch, on threads and interruptible.
#pragma once

#include <vector>

#include "bindings/signals.hpp"
#include "bindings/structures/native_structure.hpp"
#include "bindings/structures/scores.hpp"
#include "structures/examples.hpp"

namespace structlearn::python {

// body(i, example, workspace) for every example of a batch.
template <class Body>
void for_batch(const NativeStructure& s, const std::vector<Parsed>& batch, std::size_t threads,
               Body&& body) {
  interruptible([&](Interrupt& interrupt) {
    for_examples(batch.size(), threads, 64, interrupt, [&](std::size_t i, Workspace& ws) {
      check_example(s, batch[i], i);
      body(i, batch[i], ws);
    });
  });
}

// One workspace a thread for single calls, so that a short call allocates nothing.
inline Workspace& local_workspace() {
  thread_local Workspace ws;
  return ws;
}

}  // namespace structlearn::python
