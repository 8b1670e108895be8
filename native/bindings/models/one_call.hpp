// One input in one call: what the call needs is kept for the next one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings/bindings.hpp"
#include "models/reader.hpp"

namespace structlearn::python {

// What one call works with.
class Session {
 public:
  virtual ~Session() = default;
  // Reads an input of Python's, as a list of inputs with this one would be; how many tokens it has.
  virtual std::size_t read(nb::handle x) = 0;
  // Its input 0 is what was read last.
  virtual Reader& reader() = 0;
  // Whether it has grown beyond what is worth keeping.
  virtual bool too_large() const = 0;

  Output y;
};

// Several threads may call at once: each has a session of its own while it does. There are as many
// sessions as there have been calls at once, up to a limit.
class OneCall {
 public:
  // `names`: of labels, as Python's objects. `steps`: additions for a token, roughly; long inputs
  // let other threads of Python's run meanwhile. For short ones that would cost more than it gives:
  // to get the lock back from a busy thread takes milliseconds.
  OneCall(std::function<std::unique_ptr<Session>()> make, nb::list names, std::size_t steps)
      : make_(std::move(make)), steps_(steps) {
    for (nb::handle name : names) names_.push_back(nb::borrow(name));
  }

  // The names of the best output, a list; an empty one of an input without tokens.
  nb::list predict(nb::handle x);

 private:
  class Lease;
  static constexpr std::size_t kMostIdle = 16;
  static constexpr std::size_t kMostSteps = std::size_t{1} << 18;  // a fraction of a millisecond

  std::function<std::unique_ptr<Session>()> make_;
  std::vector<nb::object> names_;
  std::size_t steps_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;
};

}  // namespace structlearn::python
