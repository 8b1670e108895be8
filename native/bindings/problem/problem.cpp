// Problems and the loops over them, for Python. All arrays stay Python's: the problem borrows
// their memory and keeps them alive.
#include "problem/problem.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/problem/graph_inference.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/problem/python_scorer.hpp"
#include "bindings/signals.hpp"
#include "bindings/structures/native_structure.hpp"
#include "numeric/sum_numbers.hpp"
#include "scoring/filled_rows.hpp"
#include "scoring/row_scorer.hpp"
#include "structures/examples.hpp"

namespace structlearn::python {
namespace {

// Inference by a structure that is written in Python: one call an example, the interpreter held
// unless the structure lets go of it.
class PythonOracle final : public Oracle {
 public:
  explicit PythonOracle(nb::object inference)
      : inference_(std::move(inference)),
        threads_allowed_(nb::cast<bool>(inference_.attr("threads_allowed"))) {}

  double infer(std::size_t i, const Layout& layout, const double* theta, double eps, PartVector& p,
               Workspace&) const override {
    nb::gil_scoped_acquire gil;
    return read(inference_.attr("infer")(i, copy(layout, theta), eps), layout, p);
  }

  double runner_up(std::size_t i, const Layout& layout, const double* theta,
                   std::span<const std::uint32_t> excluded, PartVector& p,
                   Workspace&) const override {
    nb::gil_scoped_acquire gil;
    std::vector<std::uint32_t> parts(excluded.begin(), excluded.end());
    nb::object found =
        inference_.attr("runner_up")(i, copy(layout, theta), to_numpy(std::move(parts)));
    if (found.is_none()) {
      p.clear(false);
      return kMinusInfinity;
    }
    return read(found, layout, p);
  }

  Violation violation(std::size_t i, const Layout& layout, const double* theta,
                      std::span<const std::uint32_t> gold, const BeamSettings& beam,
                      Workspace&) const override {
    nb::gil_scoped_acquire gil;
    std::vector<std::uint32_t> parts(gold.begin(), gold.end());
    const char* at = beam.update_at == UpdateAt::kEarly ? "early"
                     : beam.update_at == UpdateAt::kEnd ? "end"
                                                        : "max-violation";
    nb::object found = inference_.attr("violation")(i, copy(layout, theta),
                                                    to_numpy(std::move(parts)), beam.width, at);
    Violation result;
    result.amount = nb::cast<double>(found[0]);
    result.found = part_list(found[1], layout);
    result.gold = part_list(found[2], layout);
    return result;
  }

  bool threads_allowed() const override { return threads_allowed_; }

  double missed(std::size_t i, const Layout& layout, const double* theta,
                Workspace&) const override {
    nb::gil_scoped_acquire gil;
    return nb::cast<double>(inference_.attr("missed")(i, copy(layout, theta)));
  }

  Inexact inexact() const override {
    nb::gil_scoped_acquire gil;
    const nb::object count = inference_.attr("inexact");
    return {nb::cast<std::size_t>(count.attr("under")), nb::cast<std::size_t>(count.attr("over"))};
  }

 private:
  static std::vector<std::uint32_t> part_list(nb::object given, const Layout& layout) {
    const auto index = nb::cast<Input<std::uint32_t, nb::ndim<1>>>(given);
    for (std::size_t n = 0; n < index.size(); ++n) {
      if (index.data()[n] >= layout.parts)
        throw std::invalid_argument("a part that does not exist");
    }
    return {index.data(), index.data() + index.size()};
  }

  static nb::object copy(const Layout& layout, const double* theta) {
    return nb::cast(to_numpy(std::vector<double>(theta, theta + layout.parts)));
  }

  // (value, indices or None, values)
  static double read(nb::object found, const Layout& layout, PartVector& p) {
    const double value = nb::cast<double>(found[0]);
    const auto values = nb::cast<Input<double, nb::ndim<1>>>(found[2]);
    p.clear(found[1].is_none());
    p.value.assign(values.data(), values.data() + values.size());
    if (p.dense) {
      if (values.size() != layout.parts) throw std::invalid_argument("wrong number of parts");
    } else {
      const auto index = nb::cast<Input<std::uint32_t, nb::ndim<1>>>(found[1]);
      if (index.size() != values.size()) throw std::invalid_argument("wrong number of parts");
      p.index.assign(index.data(), index.data() + index.size());
      for (const std::uint32_t j : p.index) {
        if (j >= layout.parts) throw std::invalid_argument("a part that does not exist");
      }
    }
    return value;
  }

  nb::object inference_;
  bool threads_allowed_;
};

// Reads optional arrays out of a dictionary and keeps them alive.
class Arrays {
 public:
  Arrays(nb::dict from, std::vector<nb::object>& keep) : from_(std::move(from)), keep_(keep) {}

  template <class T>
  std::span<const T> get(const char* name) {
    if (!from_.contains(name)) return {};
    nb::object value = from_[name];
    if (value.is_none()) return {};
    const auto array = nb::cast<Input<T>>(value, false);
    keep_.push_back(value);
    return {array.data(), array.size()};
  }
  template <class T>
  const T* data(const char* name) {
    const auto span = get<T>(name);
    return span.empty() ? nullptr : span.data();
  }
  std::size_t number(const char* name) { return nb::cast<std::size_t>(from_[name]); }
  std::string text(const char* name) { return nb::cast<std::string>(from_[name]); }

 private:
  nb::dict from_;
  std::vector<nb::object>& keep_;
};

ScorerBlock read_block(nb::dict spec, std::vector<nb::object>& keep) {
  Arrays a(spec, keep);
  ScorerBlock block;
  const std::string kind = a.text("kind");
  if (kind == "absent") return block;
  FeatureRows& f = block.features;
  f.kind = kind == "shared"   ? FeatureRows::Kind::kShared
           : kind == "sparse" ? FeatureRows::Kind::kSparse
                              : FeatureRows::Kind::kDense;
  f.features = a.number("features");
  f.site_ptr = a.get<std::int64_t>("site_ptr");
  f.indptr = a.data<std::int64_t>("indptr");
  f.indices = a.data<std::int32_t>("indices");
  f.values = a.data<double>("values");
  WeightRows& w = block.weights;
  w.present = true;
  w.offset = a.number("offset");
  w.outcomes = a.number("outcomes");
  w.columns = a.number("columns");
  w.row_ptr = a.get<std::uint32_t>("row_ptr");
  w.column = a.data<std::uint32_t>("column");
  w.real = a.data<std::uint8_t>("real");
  w.member_ptr = a.get<std::uint32_t>("member_ptr");
  w.member = a.data<std::uint32_t>("member");
  w.mask = a.get<double>("mask");
  if (!w.mask.empty() && (w.outcomes == 0 || w.mask.size() % w.outcomes != 0)) {
    throw std::invalid_argument("a mask needs an entry for every outcome");
  }
  return block;
}

void check_pointers(const Topologies& t, std::size_t examples) {
  if (t.ptr.empty()) return;
  bool fine = t.ptr.size() == examples + 1 && t.ptr[0] == 0;
  for (std::size_t i = 0; fine && i < examples; ++i) fine = t.ptr[i] <= t.ptr[i + 1];
  if (!fine || static_cast<std::size_t>(t.ptr.back()) != t.value.size()) {
    throw std::invalid_argument("the pointers into the topologies are wrong");
  }
}

// What examples say of their own shapes comes from users: the structure looks at each.
void check_layouts(const Structure& structure, const Scorer& scorer) {
  for (std::size_t i = 0; i < scorer.examples(); ++i) {
    try {
      structure.check(scorer.layout(i));
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("example " + std::to_string(i) + ": " + e.what());
    }
  }
}

std::span<const double> read_weights(nb::object sample_weight, std::size_t examples,
                                     std::vector<nb::object>& keep) {
  if (sample_weight.is_none()) return {};
  const auto array = nb::cast<Input<double>>(sample_weight, false);
  if (array.size() != examples) {
    throw std::invalid_argument("there are " + std::to_string(examples) + " examples and " +
                                std::to_string(array.size()) + " weights of examples");
  }
  keep.push_back(sample_weight);
  return {array.data(), array.size()};
}

}  // namespace

PyProblem::PyProblem(nb::object structure, std::size_t examples, std::size_t weights,
                     nb::list blocks, nb::dict topology) {
  std::vector<ScorerBlock> read;
  for (nb::handle spec : blocks) read.push_back(read_block(nb::cast<nb::dict>(spec), keep));
  Arrays t(topology, keep);
  Topologies topologies{t.get<std::int64_t>("ptr"), t.get<std::int64_t>("value")};
  check_pointers(topologies, examples);
  const bool by_core = nb::isinstance<NativeStructure>(structure);
  if (by_core && topologies.ptr.empty()) {
    topologies.value = nb::cast<NativeStructure&>(structure).default_topology;
    keep.push_back(structure);
  }
  if (!read.empty()) label_ptr = read[0].features.site_ptr;
  scorer = std::make_shared<RowScorer>(std::move(read), examples, weights, topologies);
  const std::shared_ptr<const Oracle> oracle = inference(structure);
  if (native && !nb::cast<NativeStructure&>(structure).topology.empty()) {
    check_layouts(native->structure(), *scorer);
  }
  problem = std::make_unique<Problem>(scorer, oracle, Gold{}, Cost{}, std::span<const double>());
}

PyProblem::PyProblem(nb::object structure, nb::object given, std::size_t weights,
                     nb::list layouts) {
  auto made = std::make_shared<PythonScorer>(given, weights, layouts);
  label_ptr = made->site_ptr();
  scorer = made;
  problem = std::make_unique<Problem>(scorer, inference(structure), Gold{}, Cost{},
                                      std::span<const double>());
}

PyProblem::PyProblem(const PyProblem& bare, nb::object structure, nb::dict gold, nb::dict cost,
                     nb::object sample_weight)
    : keep(bare.keep), scorer(bare.scorer), label_ptr(bare.label_ptr) {
  Arrays g(gold, keep);
  Gold read_gold;
  read_gold.ptr = g.get<std::int64_t>("ptr");
  read_gold.part = g.data<std::uint32_t>("part");
  read_gold.value = g.data<double>("value");
  read_gold.allowed_ptr = g.get<std::int64_t>("allowed_ptr");
  read_gold.allowed = g.data<std::uint8_t>("allowed");
  Arrays c(cost, keep);
  Cost read_cost;
  read_cost.zero_one = cost.contains("zero_one");
  read_cost.delta = c.data<double>("delta");
  read_cost.label = c.data<std::int32_t>("label");
  read_cost.site_ptr = label_ptr;
  read_cost.site_weight = c.data<double>("site_weight");
  read_cost.ptr = c.get<std::int64_t>("ptr");
  read_cost.part = c.data<std::uint32_t>("part");
  read_cost.value = c.data<double>("value");
  read_cost.constant = c.data<double>("constant");
  const std::shared_ptr<const Oracle> oracle = inference(structure);
  problem = std::make_unique<Problem>(scorer, oracle, read_gold, read_cost,
                                      read_weights(sample_weight, scorer->examples(), keep));
}

std::shared_ptr<const Oracle> PyProblem::inference(nb::object structure) {
  keep.push_back(structure);
  if (nb::isinstance<GraphInference>(structure)) {
    const auto& graph = nb::cast<GraphInference&>(structure);
    const auto behind = std::make_shared<PythonOracle>(graph.behind);
    if (!graph.pairwise) return std::make_shared<MatchingOracle>(behind);
    return std::make_shared<PairwiseOracle>(behind, *graph.pairwise, *scorer);
  }
  if (!nb::isinstance<NativeStructure>(structure)) {
    return std::make_shared<PythonOracle>(structure);
  }
  native = std::make_shared<StructureOracle>(nb::cast<NativeStructure&>(structure).structure);
  return native;
}

PyProblem::PyProblem(nb::object owner, std::shared_ptr<const Scorer> made,
                     std::shared_ptr<const Oracle> oracle, Gold gold, Cost cost,
                     nb::object sample_weight)
    : scorer(std::move(made)) {
  keep.push_back(std::move(owner));
  problem = std::make_unique<Problem>(scorer, std::move(oracle), gold, cost,
                                      read_weights(sample_weight, scorer->examples(), keep));
}

namespace {

nb::tuple part_vector(const PartVector& v) {
  if (v.dense) return nb::make_tuple(nb::none(), to_numpy(v.value));
  return nb::make_tuple(to_numpy(v.index), to_numpy(v.value));
}

PartVector part_vector(std::optional<Input<std::uint32_t, nb::ndim<1>>> index,
                       Input<double, nb::ndim<1>> value, const Layout& layout) {
  PartVector v;
  v.dense = !index.has_value();
  v.value.assign(value.data(), value.data() + value.size());
  if (v.dense ? value.size() != layout.parts : value.size() != index->size()) {
    throw std::invalid_argument("the part vector does not fit the example: it has " +
                                std::to_string(layout.parts) + " parts");
  }
  if (index) {
    v.index.assign(index->data(), index->data() + index->size());
    for (const std::uint32_t j : v.index) {
      if (j >= layout.parts) throw std::invalid_argument("a part that does not exist");
    }
  }
  return v;
}

using Vector = Input<double, nb::ndim<1>>;
using OptionalIndices = std::optional<Input<std::uint32_t, nb::ndim<1>>>;

nb::tuple total(const PyProblem& self, Vector w, double margin, double eps, nb::object gradient,
                std::size_t threads) {
  const double* weights = self.weights(w);
  double* g = nullptr;
  if (!gradient.is_none()) {
    auto out = nb::cast<InOut<double, nb::ndim<1>>>(gradient, false);
    self.weights(Vector(out));
    g = out.data();
  }
  bool complete = true;
  double cost = 0.0;
  const double value = interruptible(
      [&](Interrupt& interrupt) {
        return self.problem->total(weights, margin, eps, g, threads, interrupt, &complete, &cost);
      },
      OnInterrupt::kReturn);
  return nb::make_tuple(value, complete, cost);
}

double shortfall(const PyProblem& self, Vector w, double margin, std::size_t threads) {
  const double* weights = self.weights(w);
  return interruptible([&](Interrupt& interrupt) {
    return self.problem->shortfall(weights, margin, threads, interrupt);
  });
}

// The scores of the parts of examples begin, begin + 1, ..., end - 1.
nb::list scores_between(const PyProblem& self, std::size_t begin, std::size_t end, Vector w) {
  if (begin > end || end > self.problem->examples()) {
    throw std::invalid_argument("there are no such examples");
  }
  const double* weights = self.weights(w);
  const Scorer& scorer = self.problem->scorer();
  std::vector<std::vector<double>> theta(end - begin);
  interruptible([&](Interrupt& interrupt) {
    for_examples(theta.size(), 1, 16, interrupt, [&](std::size_t i, Workspace&) {
      const Layout layout = scorer.layout(begin + i);
      theta[i].resize(layout.parts);
      scorer.score(begin + i, layout, weights, 1.0, theta[i].data());
    });
  });
  nb::list found;
  for (std::vector<double>& row : theta) found.append(to_numpy(std::move(row)));
  return found;
}

nb::tuple argmax_all(const PyProblem& self, Vector w, std::size_t threads, std::size_t beam) {
  const Oracle& oracle = self.problem->oracle();
  const auto* search =
      self.native ? dynamic_cast<const BeamSearch*>(&self.native->structure()) : nullptr;
  if (beam > 0 && !search) throw std::invalid_argument("this structure has no beam search");
  if (!oracle.threads_allowed()) threads = 1;
  const double* weights = self.weights(w);
  const std::size_t n = self.problem->examples();
  const Scorer& scorer = self.problem->scorer();
  std::vector<Output> y(n);
  std::vector<double> value(n);
  interruptible([&](Interrupt& interrupt) {
    for_examples(n, threads, 16, interrupt, [&](std::size_t i, Workspace& ws) {
      enum Scratch { kTheta };
      const Layout layout = scorer.layout(i);
      double* theta = ws.real(kTheta, layout.parts);
      scorer.score(i, layout, weights, 1.0, theta);
      const Scores scores = scores_of(layout, theta);
      value[i] = beam > 0 ? search->beam(layout, scores, beam, y[i], ws).value
                          : oracle.argmax(i, layout, theta, y[i], ws);
    });
  });
  std::vector<std::int64_t> flat, ptr(1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (value[i] == kMinusInfinity) {
      throw Infeasible("example " + std::to_string(i) +
                       ": no legal output is left: every output scores -inf");
    }
    flat.insert(flat.end(), y[i].begin(), y[i].end());
    ptr.push_back(static_cast<std::int64_t>(flat.size()));
  }
  return nb::make_tuple(to_numpy(std::move(flat)), to_numpy(std::move(ptr)));
}

// Which outcomes each feature was seen with: sparse rows, outcomes ascending, the nearly full ones
// filled up, and which of the entries are real (None: all of them).
nb::tuple observed_pairs(Input<std::int64_t, nb::ndim<1>> indptr,
                         Input<std::int32_t, nb::ndim<1>> indices,
                         Input<std::int64_t, nb::ndim<1>> rows,
                         Input<std::int64_t, nb::ndim<1>> outcomes, std::size_t n_features,
                         std::size_t n_outcomes) {
  if (rows.size() != outcomes.size()) throw std::invalid_argument("rows and outcomes differ");
  const std::size_t words = (n_outcomes + 63) / 64;
  std::vector<std::uint64_t> seen(n_features * words, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t r = rows.data()[i];
    const std::size_t k = static_cast<std::size_t>(outcomes.data()[i]);
    if (r < 0 || static_cast<std::size_t>(r) + 1 >= indptr.size() || k >= n_outcomes) {
      throw std::invalid_argument("a row or outcome that does not exist");
    }
    for (std::int64_t j = indptr.data()[r]; j < indptr.data()[r + 1]; ++j) {
      const std::size_t f = static_cast<std::size_t>(indices.data()[j]);
      if (f >= n_features) throw std::invalid_argument("a feature that does not exist");
      seen[f * words + k / 64] |= std::uint64_t{1} << (k % 64);
    }
  }
  std::vector<std::uint32_t> row_ptr(n_features + 1, 0), column;
  for (std::size_t f = 0; f < n_features; ++f) {
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t bits = seen[f * words + w]; bits != 0; bits &= bits - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(bits));
        column.push_back(static_cast<std::uint32_t>(w * 64 + k));
      }
    }
    row_ptr[f + 1] = static_cast<std::uint32_t>(column.size());
  }
  FilledRows filled = filled_rows(row_ptr, column, n_outcomes);
  if (filled.empty()) {
    return nb::make_tuple(to_numpy(std::move(row_ptr)), to_numpy(std::move(column)), nb::none());
  }
  return nb::make_tuple(to_numpy(std::move(filled.row_ptr)), to_numpy(std::move(filled.column)),
                        to_numpy(std::move(filled.real)));
}

// The parts of native outputs, example by example.
nb::tuple encode_all(const PyProblem& self, Input<std::int32_t, nb::ndim<1>> flat,
                     Input<std::int64_t, nb::ndim<1>> ptr) {
  if (!self.native) throw std::invalid_argument("the structure is not a native one");
  std::vector<std::uint32_t> parts;
  std::vector<std::int64_t> part_ptr(1, 0);
  for (std::size_t i = 0; i < self.problem->examples(); ++i) {
    const Layout layout = self.problem->scorer().layout(i);
    const std::int64_t begin = ptr.data()[i], end = ptr.data()[i + 1];
    if (end > begin) {
      try {
        self.native->structure().encode(
            layout, {flat.data() + begin, static_cast<std::size_t>(end - begin)}, parts);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument("example " + std::to_string(i) + ": " + e.what());
      }
    }
    part_ptr.push_back(static_cast<std::int64_t>(parts.size()));
  }
  return nb::make_tuple(to_numpy(std::move(part_ptr)), to_numpy(std::move(parts)));
}

}  // namespace

void bind_problem(nb::module_& m) {
  nb::class_<PyProblem>(m, "Problem")
      .def(nb::init<nb::object, std::size_t, std::size_t, nb::list, nb::dict>(),
           nb::arg("structure"), nb::arg("examples"), nb::arg("weights"), nb::arg("blocks"),
           nb::arg("topology"))
      .def(nb::init<nb::object, nb::object, std::size_t, nb::list>(), nb::arg("structure"),
           nb::arg("scorer"), nb::arg("weights"), nb::arg("layouts"))
      .def(
          "labelled",
          [](const PyProblem& s, nb::object structure, nb::dict gold, nb::dict cost,
             nb::object sample_weight) {
            return PyProblem(s, structure, gold, cost, sample_weight);
          },
          nb::arg("structure"), nb::arg("gold"), nb::arg("cost"), nb::arg("sample_weight").none())
      .def_prop_ro("n_examples", [](const PyProblem& s) { return s.problem->examples(); })
      .def_prop_ro("n_weights", [](const PyProblem& s) { return s.problem->weights(); })
      .def(
          "parts",
          [](const PyProblem& s, std::size_t i) {
            s.check_example(i);
            return s.problem->scorer().layout(i).parts;
          },
          nb::arg("i"))
      .def(
          "score",
          [](const PyProblem& s, std::size_t i, Vector w) {
            s.check_example(i);
            const Layout layout = s.problem->scorer().layout(i);
            std::vector<double> theta(layout.parts);
            s.problem->scorer().score(i, layout, s.weights(w), 1.0, theta.data());
            return to_numpy(std::move(theta));
          },
          nb::arg("i"), nb::arg("w"))
      .def("scores_between", &scores_between, nb::arg("begin"), nb::arg("end"), nb::arg("w"))
      .def(
          "infer",
          [](const PyProblem& s, std::size_t i, Vector w, double margin, double eps) {
            s.check_example(i);
            Workspace ws;
            PartVector p;
            const double value = s.problem->infer(i, s.problem->scorer().layout(i), s.weights(w),
                                                  margin, eps, p, ws);
            return nb::make_tuple(value, part_vector(p));
          },
          nb::arg("i"), nb::arg("w"), nb::arg("margin"), nb::arg("temperature"))
      .def(
          "loss",
          [](const PyProblem& s, std::size_t i, Vector w, double margin, double eps) {
            s.check_example(i);
            Workspace ws;
            PartVector r;
            const LossResult found = s.problem->loss(i, s.problem->scorer().layout(i), s.weights(w),
                                                     1.0, margin, eps, r, ws);
            return nb::make_tuple(found.loss, part_vector(r));
          },
          nb::arg("i"), nb::arg("w"), nb::arg("margin"), nb::arg("temperature"))
      .def(
          "scatter",
          [](const PyProblem& s, std::size_t i, OptionalIndices index, Vector value, double a,
             InOut<double, nb::ndim<1>> w) {
            s.check_example(i);
            s.weights(Vector(w));
            const Layout layout = s.problem->scorer().layout(i);
            s.problem->scorer().scatter(i, layout, part_vector(index, value, layout), a, w.data());
          },
          nb::arg("i"), nb::arg("index").none(), nb::arg("value"), nb::arg("a"), nb::arg("w"))
      .def(
          "sqnorm",
          [](const PyProblem& s, std::size_t i, OptionalIndices index, Vector value) {
            s.check_example(i);
            const Layout layout = s.problem->scorer().layout(i);
            return s.problem->scorer().squared_norm(i, layout, part_vector(index, value, layout));
          },
          nb::arg("i"), nb::arg("index").none(), nb::arg("value"))
      .def("total", &total, nb::arg("w"), nb::arg("margin"), nb::arg("temperature"),
           nb::arg("gradient").none(), nb::arg("threads"))
      .def("shortfall", &shortfall, nb::arg("w"), nb::arg("margin"), nb::arg("threads"))
      .def_prop_ro("inexact",
                   [](const PyProblem& s) {
                     const Inexact count = s.problem->oracle().inexact();
                     return nb::make_tuple(count.under, count.over);
                   })
      .def_prop_ro("threads_allowed",
                   [](const PyProblem& s) { return s.problem->oracle().threads_allowed(); })
      .def_prop_ro("gives_rows",
                   [](const PyProblem& s) { return s.problem->oracle().gives_rows(); })
      .def("argmax_all", &argmax_all, nb::arg("w"), nb::arg("threads"), nb::arg("beam") = 0)
      .def("encode_all", &encode_all, nb::arg("flat"), nb::arg("ptr"));
  m.def(
      "filled_rows",
      [](nb::handle row_ptr, nb::handle column, std::size_t outcomes) -> nb::object {
        const Bytes r(row_ptr), c(column);
        const auto rows = r.as<std::uint32_t>("row_ptr");
        const auto columns = c.as<std::uint32_t>("column");
        if (rows.empty() || rows.back() != columns.size() ||
            !std::is_sorted(rows.begin(), rows.end())) {
          throw std::invalid_argument("rows and columns do not fit together");
        }
        FilledRows filled = filled_rows(rows, columns, outcomes);
        if (filled.empty()) return nb::none();
        return nb::make_tuple(to_view(std::move(filled.row_ptr)), to_view(std::move(filled.column)),
                              to_view(std::move(filled.real)));
      },
      nb::arg("row_ptr"), nb::arg("column"), nb::arg("outcomes"));
  // NumPy leaves this to BLAS, whose order of additions is the processor's.
  m.def(
      "dot",
      [](Vector a, Vector b) {
        if (a.size() != b.size()) throw std::invalid_argument("vectors of different lengths");
        return inner_product(a.data(), b.data(), a.size());
      },
      nb::arg("a"), nb::arg("b"));
  m.def("observed_pairs", &observed_pairs, nb::arg("indptr"), nb::arg("indices"), nb::arg("rows"),
        nb::arg("outcomes"), nb::arg("n_features"), nb::arg("n_outcomes"));
}

}  // namespace structlearn::python
