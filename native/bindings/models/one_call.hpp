// One input in one call: what the call needs is kept for the next one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bindings/bindings.hpp"
#include "models/reader.hpp"
#include "numeric/pool.hpp"

namespace structlearn::python {

// What one call works with.
class Session {
 public:
  virtual ~Session() = default;
  // Reads an input of Python's, as a list of inputs with this one would be, and returns how many
  // tokens it has; nothing where it is not plain enough, or there is something wrong with it.
  virtual std::optional<std::size_t> read(nb::handle x) = 0;
  // Its input 0 is what was read last.
  virtual Reader& reader() = 0;
  // Whether it has grown beyond what is worth keeping.
  virtual bool too_large() const = 0;

  Output y;
  std::vector<double> p;
};

class OneCall {
 public:
  // `names`: of labels, as Python's objects. `steps`: additions for a token, roughly.
  OneCall(std::function<std::unique_ptr<Session>()> make, nb::list names, std::size_t steps)
      : steps_(steps), sessions_(std::move(make)) {
    for (nb::handle name : names) names_.push_back(nb::borrow(name));
  }

  // The names of the best output, a list; an empty one of an input without tokens. None where the
  // input was not read.
  nb::object predict(nb::handle x);
  // The probabilities of the names of labels, each of which is in `names` once: a dictionary for
  // each token. Those below `least` are 0.
  nb::object probabilities(nb::handle x, nb::list names, double temperature, double least);

 private:
  // body(session, tokens) for an input that has been read and has tokens, while other threads run
  // if it is long; false if it was not read.
  template <class Body>
  bool ask(Session& session, nb::handle x, Body&& body);

  std::vector<nb::object> names_;
  std::size_t steps_;
  Pool<Session> sessions_;
};

}  // namespace structlearn::python
