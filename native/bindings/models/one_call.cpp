#include "bindings/models/one_call.hpp"

#include <utility>

#include "bindings/models/inputs.hpp"
#include "bindings/models/named_answers.hpp"
#include "models/queries.hpp"

namespace structlearn::python {

// A session for as long as a call takes. One whose call has failed is not kept.
class OneCall::Lease {
 public:
  explicit Lease(OneCall& owner) : owner_(owner) {
    {
      const std::lock_guard<std::mutex> lock(owner.mutex_);
      if (!owner.idle_.empty()) {
        session_ = std::move(owner.idle_.back());
        owner.idle_.pop_back();
      }
    }
    if (!session_) session_ = owner.make_();
  }
  Session& operator*() const { return *session_; }
  void give_back() {
    if (session_->too_large()) return;
    const std::lock_guard<std::mutex> lock(owner_.mutex_);
    if (owner_.idle_.size() < kMostIdle) owner_.idle_.push_back(std::move(session_));
  }

 private:
  OneCall& owner_;
  std::unique_ptr<Session> session_;
};

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
  Lease lease(*this);
  Session& session = *lease;
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
  lease.give_back();
  return answer;
}

nb::object OneCall::probabilities(nb::handle x, nb::list names, double temperature, double least) {
  check_temperature(temperature);
  Lease lease(*this);
  Session& session = *lease;
  const bool read = ask(session, x, [&, n = nb::len(names)](Reader& reader) {
    const Scored& scored = reader.scores(0, Purpose::kSums);
    name_probabilities(reader, scored, temperature, 0, n, session.p);
  });
  nb::object answer = nb::none();
  if (read) answer = by_name(session.p, names, least);
  lease.give_back();
  return answer;
}

}  // namespace structlearn::python
