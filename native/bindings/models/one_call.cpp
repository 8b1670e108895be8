#include "bindings/models/one_call.hpp"

#include <utility>

#include "bindings/models/inputs.hpp"
#include "bindings/models/named_answers.hpp"
#include "models/queries.hpp"

namespace structlearn::python {

template <class Body>
bool OneCall::ask(Session& session, nb::handle x, Body&& body) {
  session.y.clear();
  session.p.clear();
  const std::optional<std::size_t> tokens = session.read(x);
  if (!tokens) return false;
  if (*tokens == 0) return true;
  std::optional<nb::gil_scoped_release> others;
  if (*tokens > kBriefSteps / steps_) others.emplace();
  body(session.reader());
  return true;
}

nb::object OneCall::predict(nb::handle x) {
  std::unique_ptr<Session> taken = sessions_.take();
  Session& session = *taken;
  const bool read = ask(session, x, [&](Reader& reader) {
    const Scored& scored = reader.scores(0, Purpose::kBest);
    check_legal(reader, best(reader, scored, session.y).value, 0);
    reader.to_labels(session.y);
  });
  nb::object answer = nb::none();
  if (read) {
    const auto n = static_cast<Py_ssize_t>(session.y.size());
    answer = nb::steal(PyList_New(n));
    if (!answer.is_valid()) throw nb::python_error();
    for (Py_ssize_t t = 0; t < n; ++t) {
      const auto label = static_cast<std::size_t>(session.y[static_cast<std::size_t>(t)]);
      PyList_SET_ITEM(answer.ptr(), t, names_[label].inc_ref().ptr());
    }
  }
  if (!session.too_large()) sessions_.give_back(std::move(taken));
  return answer;
}

nb::object OneCall::probabilities(nb::handle x, nb::list names, double temperature, double least) {
  check_temperature(temperature);
  std::unique_ptr<Session> taken = sessions_.take();
  Session& session = *taken;
  const bool read = ask(session, x, [&, n = nb::len(names)](Reader& reader) {
    const Scored& scored = reader.scores(0, Purpose::kSums);
    name_probabilities(reader, scored, temperature, 0, n, session.p);
  });
  nb::object answer = nb::none();
  if (read) answer = by_name(session.p, names, least);
  if (!session.too_large()) sessions_.give_back(std::move(taken));
  return answer;
}

}  // namespace structlearn::python
