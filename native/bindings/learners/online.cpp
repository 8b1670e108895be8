// Passes of the online learners, for Python. The state's vectors are used in place.
#include "learners/online.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"
#include "numeric/pcg64.hpp"

namespace structlearn::python {
namespace {

template <class Choice>
Choice choose(nb::dict from, const char* key, const std::map<std::string, Choice>& choices) {
  const std::string name = nb::cast<std::string>(from[key]);
  const auto found = choices.find(name);
  if (found == choices.end()) {
    throw std::invalid_argument("there is no " + std::string(key) + " '" + name + "'");
  }
  return found->second;
}

double number(nb::dict from, const char* key) {
  return nb::cast<double>(from[key]);
}

OnlineSettings read_settings(nb::dict given) {
  OnlineSettings s;
  s.step = choose<Step>(given, "step",
                        {{"unit", Step::kUnit},
                         {"constant", Step::kConstant},
                         {"decaying", Step::kDecaying},
                         {"passive-aggressive", Step::kPassiveAggressive},
                         {"passive-aggressive squared", Step::kPassiveAggressiveSquared},
                         {"adagrad", Step::kAdaGrad},
                         {"arow", Step::kArow}});
  s.margin = number(given, "margin");
  s.temperature = number(given, "temperature");
  s.C = number(given, "C");
  s.rate = number(given, "rate");
  s.delta = number(given, "delta");
  s.least = number(given, "least");
  s.average = nb::cast<bool>(given["average"]);
  s.added = choose<AddedCost>(given, "added",
                              {{"", AddedCost::kNothing},
                               {"counted", AddedCost::kCounted},
                               {"one", AddedCost::kOne},
                               {"root", AddedCost::kRoot},
                               {"whole", AddedCost::kWhole}});
  s.beam.width = nb::cast<std::size_t>(given["beam"]);
  s.beam.update_at = choose<UpdateAt>(given, "update_at",
                                      {{"early", UpdateAt::kEarly},
                                       {"max-violation", UpdateAt::kMaxViolation},
                                       {"end", UpdateAt::kEnd}});
  if (!given["cone"].is_none()) s.cone = &nb::cast<const WeightCone&>(given["cone"]);
  return s;
}

template <class Real>
std::span<Real> vector(nb::dict state, const char* key, std::size_t n, bool needed) {
  const auto array = nb::cast<InOut<Real, nb::ndim<1>>>(state[key], false);
  if (needed ? array.size() != n : array.size() != n && array.size() != 0) {
    throw std::invalid_argument("the problem has " + std::to_string(n) + " weights, the state's " +
                                key + " " + std::to_string(array.size()));
  }
  return {array.data(), array.size()};
}

template <class Real>
nb::dict epoch_of(const PyProblem& self, Input<std::int64_t, nb::ndim<1>> order, nb::dict settings,
                  nb::dict state) {
  const Problem& problem = *self.problem;
  const OnlineSettings s = read_settings(settings);
  OnlineState<Real> o;
  o.v = vector<Real>(state, "v", problem.weights(), true);
  o.behind = vector<Real>(state, "behind", problem.weights(), s.average);
  o.squares = vector<Real>(state, "squares", problem.weights(), s.step >= Step::kAdaGrad);
  o.scale = number(state, "scale");
  o.ahead = number(state, "ahead");
  o.total = number(state, "total");
  o.steps = number(state, "steps");
  o.cost = number(state, "cost");
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order.data()[i] < 0 || static_cast<std::size_t>(order.data()[i]) >= problem.examples()) {
      throw std::invalid_argument("the order names an example that does not exist");
    }
  }
  const EpochReport report = interruptible(
      [&](Interrupt& interrupt) {
        return online_epoch(problem, {order.data(), order.size()}, s, o, interrupt);
      },
      OnInterrupt::kReturn);
  state["scale"] = o.scale;
  state["ahead"] = o.ahead;
  state["total"] = o.total;
  state["steps"] = o.steps;
  state["cost"] = o.cost;
  nb::dict result;
  result["seen"] = report.seen;
  result["updates"] = report.updates;
  result["invalid"] = report.invalid;
  result["loss"] = report.loss;
  result["cost"] = report.cost;
  result["complete"] = report.complete;
  return result;
}

// Weights of 32 bits where the state's are.
nb::dict online_pass(const PyProblem& self, Input<std::int64_t, nb::ndim<1>> order,
                     nb::dict settings, nb::dict state) {
  const auto v = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(state["v"], false);
  return v.dtype() == nb::dtype<float>() ? epoch_of<float>(self, order, settings, state)
                                         : epoch_of<double>(self, order, settings, state);
}

}  // namespace

void bind_online(nb::module_& m) {
  m.def("online_pass", &online_pass, nb::arg("problem"), nb::arg("order"), nb::arg("settings"),
        nb::arg("state"));

  // Of weights that NumPy is not needed for.
  m.def(
      "added",
      [](nb::handle a, nb::handle b) {
        const Bytes first(a), second(b);
        const auto x = first.as<double>("weights"), y = second.as<double>("weights");
        if (x.size() != y.size()) throw std::invalid_argument("weights of another problem");
        std::vector<double> sum(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + y[i];
        return to_view(std::move(sum));
      },
      nb::arg("first"), nb::arg("second"));
  m.def(
      "divided",
      [](nb::handle weights, double by) {
        const Bytes bytes(weights);
        const auto x = bytes.as<double>("weights");
        std::vector<double> parts(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) parts[i] = x[i] / by;
        return to_view(std::move(parts));
      },
      nb::arg("weights"), nb::arg("by"));

  nb::class_<Pcg64>(m, "Pcg64")
      .def(nb::init<std::uint64_t>(), nb::arg("seed"))
      .def(
          "permutation",
          [](Pcg64& self, std::size_t n) {
            std::vector<std::int64_t> order(n);
            self.permute(order);
            return to_view(std::move(order));
          },
          nb::arg("n"))
      .def_prop_rw(
          "state",
          [](const Pcg64& self) {
            const Pcg64::State s = self.state();
            return nb::make_tuple(s.high, s.low, s.increment_high, s.increment_low, s.has_half,
                                  s.half);
          },
          [](Pcg64& self, const std::tuple<std::uint64_t, std::uint64_t, std::uint64_t,
                                           std::uint64_t, bool, std::uint32_t>& s) {
            self.set_state({std::get<0>(s), std::get<1>(s), std::get<2>(s), std::get<3>(s),
                            std::get<4>(s), std::get<5>(s)});
          });
}

}  // namespace structlearn::python
