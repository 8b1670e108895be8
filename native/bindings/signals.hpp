// Ctrl-C in native loops.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "bindings/bindings.hpp"

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

}  // namespace structlearn::python
