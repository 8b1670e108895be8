// The inputs of a model, as Python asks about them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "models/reader.hpp"
#include "numeric/grain.hpp"

namespace structlearn::python {

// `owner` keeps alive what the inputs borrow: the model, the corpus, arrays.
struct PyInputs {
  PyInputs(nb::object held, std::unique_ptr<const Inputs> asked)
      : owner(std::move(held)), inputs(std::move(asked)) {}
  PyInputs(PyInputs&&) = default;
  nb::object owner;
  std::unique_ptr<const Inputs> inputs;
};

// body(input, reader, scored) for all inputs, with a reader for each thread.
template <class Body>
void for_inputs(const PyInputs& self, Purpose purpose, std::size_t threads, Body&& body) {
  const std::size_t n = self.inputs->size();
  interruptible([&](Interrupt& interrupt) {
    std::vector<std::unique_ptr<Reader>> readers(std::max<std::size_t>(threads, 1));
    const std::size_t grain = grain_of(n, threads, 64);
    parallel_for((n + grain - 1) / grain, threads, [&](std::size_t task, std::size_t thread) {
      if (!readers[thread]) readers[thread] = self.inputs->reader();
      for (std::size_t i = task * grain; i < std::min(n, (task + 1) * grain); ++i) {
        if (interrupt.requested()) return;
        body(i, *readers[thread], readers[thread]->scores(i, purpose));
      }
    });
  });
}

void check_temperature(double temperature);
// Refuses the value of an input for which no output is legal, unless the model has a makeshift.
void check_legal(const Reader& reader, double value, std::size_t input);

// Answers by the names of labels.
void bind_named_answers(nb::class_<PyInputs>& inputs);

}  // namespace structlearn::python
