// What a watched search was told, for Python.
#pragma once

#include "bindings/bindings.hpp"
#include "structures/watch.hpp"

namespace structlearn::python {

// [(kind, whole numbers, reals), ...]
inline nb::list read_steps(const Recorder& watch) {
  nb::list steps;
  for (const WatchedStep& step : watch.steps) {
    steps.append(
        nb::make_tuple(nb::str(step.kind.c_str()), to_numpy(step.nodes), to_numpy(step.values)));
  }
  return steps;
}

}  // namespace structlearn::python
