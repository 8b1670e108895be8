// The vector work of L-BFGS and OWL-QN, for Python. Arrays are used in place.
#include "learners/quasi_newton.hpp"

#include <nanobind/nanobind.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"

namespace structlearn::python {
namespace {

using Vector = Input<double, nb::ndim<1>>;
using Target = InOut<double, nb::ndim<1>>;

template <class... Arrays>
std::size_t common_size(const Vector& first, const Arrays&... others) {
  if (((others.size() != first.size()) || ...)) {
    throw std::invalid_argument("the vectors differ in length");
  }
  return first.size();
}

template <class... Arrays>
void check_size(const CurvatureMemory& memory, const Arrays&... arrays) {
  if (((arrays.size() != memory.size()) || ...)) {
    throw std::invalid_argument("the memory is for vectors of " + std::to_string(memory.size()) +
                                " numbers");
  }
}

template <class T>
std::vector<T> read(nb::dict state, const char* name) {
  const auto array = nb::cast<Input<T, nb::ndim<1>>>(state[name], false);
  return {array.data(), array.data() + array.size()};
}

nb::dict dump_memory(const CurvatureMemory& memory) {
  CurvatureMemory::Dump found = memory.dump();
  nb::dict state;
  state["order"] = to_numpy(std::move(found.order));
  state["history"] = to_numpy(std::move(found.history));
  state["sy"] = to_numpy(std::move(found.sy));
  state["yy"] = to_numpy(std::move(found.yy));
  state["vs"] = to_numpy(std::move(found.vs));
  state["vy"] = to_numpy(std::move(found.vy));
  return state;
}

void load_memory(CurvatureMemory& memory, nb::dict state) {
  memory.load({read<std::int64_t>(state, "order"), read<float>(state, "history"),
               read<double>(state, "sy"), read<double>(state, "yy"), read<double>(state, "vs"),
               read<double>(state, "vy")});
}

}  // namespace

void bind_quasi_newton(nb::module_& m) {
  nb::class_<CurvatureMemory>(m, "CurvatureMemory")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("n"), nb::arg("pairs"))
      .def_prop_ro("pairs", &CurvatureMemory::pairs)
      .def("forget", &CurvatureMemory::forget)
      .def("dump", &dump_memory)
      .def("load", &load_memory, nb::arg("state"))
      .def(
          "remember",
          [](CurvatureMemory& memory, Vector w, Vector w_before, Vector g, Vector g_before,
             Vector v, std::size_t threads) {
            check_size(memory, w, w_before, g, g_before, v);
            nb::gil_scoped_release release;
            return memory.remember(w.data(), w_before.data(), g.data(), g_before.data(), v.data(),
                                   threads);
          },
          nb::arg("w"), nb::arg("w_before"), nb::arg("g"), nb::arg("g_before"), nb::arg("v"),
          nb::arg("threads"))
      .def(
          "direction",
          [](const CurvatureMemory& memory, Vector v, Target d, bool aligned, std::size_t threads) {
            check_size(memory, v, d);
            nb::gil_scoped_release release;
            return memory.direction(v.data(), d.data(), aligned, threads);
          },
          nb::arg("v"), nb::arg("d"), nb::arg("aligned"), nb::arg("threads"));
  m.def(
      "advance",
      [](Vector w, Vector d, double step, Target out, std::size_t threads) {
        const std::size_t n = common_size(w, d, out);
        nb::gil_scoped_release release;
        advance(w.data(), d.data(), step, n, out.data(), threads);
      },
      nb::arg("w"), nb::arg("d"), nb::arg("step"), nb::arg("out"), nb::arg("threads"));
  m.def(
      "advance_in_orthant",
      [](Vector w, Vector d, Vector v, double step, Target out, std::size_t threads) {
        const std::size_t n = common_size(w, d, v, out);
        nb::gil_scoped_release release;
        advance_in_orthant(w.data(), d.data(), v.data(), step, n, out.data(), threads);
      },
      nb::arg("w"), nb::arg("d"), nb::arg("v"), nb::arg("step"), nb::arg("out"),
      nb::arg("threads"));
  m.def(
      "finish_gradient",
      [](Vector w, Vector d, double C, Target g, std::size_t threads) {
        const std::size_t n = common_size(w, d, g);
        SmoothPoint point;
        {
          nb::gil_scoped_release release;
          point = finish_gradient(w.data(), d.data(), C, n, g.data(), threads);
        }
        return nb::make_tuple(point.squared_weights, point.squared_gradient, point.squared_dual,
                              point.slope);
      },
      nb::arg("w"), nb::arg("d"), nb::arg("C"), nb::arg("g"), nb::arg("threads"));
  m.def(
      "finish_pseudo_gradient",
      [](Vector w, Vector w_before, Vector v_before, double C, double l1, Target g, Target v,
         std::size_t threads) {
        const std::size_t n = common_size(w, w_before, v_before, g, v);
        SparsePoint point;
        {
          nb::gil_scoped_release release;
          point = finish_pseudo_gradient(w.data(), w_before.data(), v_before.data(), C, l1, n,
                                         g.data(), v.data(), threads);
        }
        return nb::make_tuple(point.squared_weights, point.absolute_weights, point.squared_pseudo,
                              point.decrease, point.gap);
      },
      nb::arg("w"), nb::arg("w_before"), nb::arg("v_before"), nb::arg("C"), nb::arg("l1"),
      nb::arg("g"), nb::arg("v"), nb::arg("threads"));
}

}  // namespace structlearn::python
