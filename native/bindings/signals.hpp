// Ctrl-C in native loops.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "bindings/bindings.hpp"
#include "numeric/parallel.hpp"

namespace structlearn::python {

// Looks for signals while a native loop runs. Ctrl-C ends the loop; another handler's exception
// is thrown once the loop has ended.
class Signals {
 public:
  std::function<bool()> poll() {
    return [this] {
      nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() == 0) return false;
      error_.emplace();  // takes the exception over
      return true;
    };
  }
  // Throws what a handler raised, Ctrl-C included.
  void rethrow() {
    if (error_) {
      nb::python_error error = std::move(*error_);
      error_.reset();
      throw error;
    }
  }
  void rethrow_unless_keyboard() {
    if (error_ && !error_->matches(PyExc_KeyboardInterrupt)) {
      nb::python_error error = std::move(*error_);
      error_.reset();
      throw error;
    }
  }

 private:
  std::optional<nb::python_error> error_;
};

// What Ctrl-C does to a native loop, besides ending it.
enum class OnInterrupt { kThrow, kReturn };

// body(interrupt) without the GIL; then throws what a handler raised, Ctrl-C itself unless the loop
// is one that returns what it has.
template <class Body>
auto interruptible(Body&& body, OnInterrupt then = OnInterrupt::kThrow) {
  Signals signals;
  const auto run = [&] {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    return body(interrupt);
  };
  const auto rethrow = [&] {
    if (then == OnInterrupt::kThrow) {
      signals.rethrow();
    } else {
      signals.rethrow_unless_keyboard();
    }
  };
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    rethrow();
  } else {
    auto result = run();
    rethrow();
    return result;
  }
}

}  // namespace structlearn::python
