#include "bindings/models/one_call.hpp"

#include <optional>
#include <utility>

#include "bindings/models/inputs.hpp"
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

nb::list OneCall::predict(nb::handle x) {
  Lease lease(*this);
  Session& session = *lease;
  const std::size_t tokens = session.read(x);
  if (tokens > 0) {
    std::optional<nb::gil_scoped_release> others;
    if (tokens > kMostSteps / steps_) others.emplace();
    Reader& reader = session.reader();
    const Scored& scored = reader.scores(0, Purpose::kBest);
    check_legal(reader, best(reader, scored, session.y).value, 0);
    reader.to_labels(session.y);
  } else {
    session.y.clear();
  }
  const auto n = static_cast<Py_ssize_t>(session.y.size());
  nb::list labels = nb::steal<nb::list>(PyList_New(n));
  if (!labels.is_valid()) throw nb::python_error();
  for (Py_ssize_t t = 0; t < n; ++t) {
    const auto label = static_cast<std::size_t>(session.y[static_cast<std::size_t>(t)]);
    PyList_SET_ITEM(labels.ptr(), t, names_[label].inc_ref().ptr());
  }
  lease.give_back();
  return labels;
}

}  // namespace structlearn::python
