// Labels on grids and graphs, for Python.
#include "structures/graphs/pairwise.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "structures/graphs/elimination.hpp"

namespace structlearn::python {
namespace {

using Reals = Input<double, nb::ndim<1>>;
using Integers = Input<std::int64_t, nb::ndim<1>>;

// Holds the arrays that the model borrows.
class PyPairwise {
 public:
  PyPairwise(Input<double, nb::ndim<2>> label, std::size_t height, std::size_t width,
             Input<std::int64_t, nb::ndim<2>> edges, nb::list pairs, nb::object cliques)
      : label_(label), edges_(edges) {
    model.nodes = label.shape(0);
    model.labels = label.shape(1);
    model.label = label.data();
    if (model.nodes == 0 || model.labels == 0) throw std::invalid_argument("there are no labels");
    if (height > 0) {
      if (width == 0 || height * width != model.nodes) throw std::invalid_argument("a wrong shape");
      model.height = height;
      model.width = width;
      model.pairs[0].count = height * (width - 1);
      model.pairs[1].count = (height - 1) * width;
    } else {
      if (edges.shape(1) != 2) throw std::invalid_argument("edges must have shape (E, 2)");
      const auto n = static_cast<std::int64_t>(model.nodes);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges.data()[i] < 0 || edges.data()[i] >= n) {
          throw std::invalid_argument("edge " + std::to_string(i / 2) + " has the node " +
                                      std::to_string(edges.data()[i]) + ", there are " +
                                      std::to_string(n));
        }
      }
      model.ends = edges.data();
      model.pairs[0].count = edges.shape(0);
    }
    model.n_edges = model.pairs[0].count + model.pairs[1].count;
    if (model.n_edges >= (std::size_t{1} << 30) || model.nodes >= (std::size_t{1} << 30)) {
      throw std::invalid_argument("too many nodes or edges");
    }
    if (nb::len(pairs) > 2) throw std::invalid_argument("too many groups of edges");
    for (std::size_t g = 0; g < nb::len(pairs); ++g) set_pairs(model.pairs[g], pairs[g]);
    if (!cliques.is_none()) set_cliques(cliques);
  }

  Pairwise model;

  std::vector<std::int32_t> labels(const Input<std::int64_t, nb::ndim<1>>& y) const {
    if (y.size() != model.nodes) throw std::invalid_argument("a label a node is needed");
    std::vector<std::int32_t> found(model.nodes);
    for (std::size_t v = 0; v < model.nodes; ++v) {
      const std::int64_t k = y.data()[v];
      if (k < 0 || k >= static_cast<std::int64_t>(model.labels)) {
        throw std::invalid_argument("no such label");
      }
      found[v] = static_cast<std::int32_t>(k);
    }
    return found;
  }

 private:
  // (start, members, rewards, slacks).
  void set_cliques(nb::object given) {
    if (model.height > 0) throw std::invalid_argument("a grid has no cliques");
    starts_ = nb::cast<Integers>(given[0]);
    members_ = nb::cast<Integers>(given[1]);
    const auto reward = nb::cast<Reals>(given[2]);
    const auto slack = nb::cast<Reals>(given[3]);
    if (starts_.size() == 0) throw std::invalid_argument("cliques without a start");
    const std::size_t count = starts_.size() - 1;
    bool right = starts_.data()[0] == 0 && reward.size() == count * model.labels &&
                 slack.size() == count &&
                 starts_.data()[count] == static_cast<std::int64_t>(members_.size());
    for (std::size_t c = 0; right && c < count; ++c) {
      const auto size = static_cast<double>(starts_.data()[c + 1] - starts_.data()[c]);
      right = size > 0.0 &&
              (slack.data()[c] == 1.0 || (slack.data()[c] > 1.0 && 2.0 * slack.data()[c] <= size));
    }
    for (std::size_t i = 0; right && i < members_.size(); ++i) {
      right =
          members_.data()[i] >= 0 && members_.data()[i] < static_cast<std::int64_t>(model.nodes);
    }
    if (!right) throw std::invalid_argument("cliques that do not fit the nodes");
    model.cliques = {count, starts_.data(), members_.data(), reward.data(), slack.data()};
    held_.push_back(reward);
    held_.push_back(slack);
  }

  // (values, is it a table a strength): as many as one edge has, or as all have.
  void set_pairs(PairScores& s, nb::handle given) {
    if (given.is_none()) return;
    const auto values = nb::cast<Reals>(given[0]);
    const bool table = nb::cast<bool>(given[1]);
    const bool anchored = nb::cast<bool>(given[2]);
    const std::size_t one = table ? model.labels * model.labels : 1;
    if (values.size() != one * (anchored ? s.count : 1)) {
      throw std::invalid_argument("pair scores of a wrong size");
    }
    s.step = anchored ? one : 0;
    (table ? s.table : s.strength) = values.data();
    held_.push_back(values);
  }

  Integers starts_, members_;
  Input<double, nb::ndim<2>> label_;
  Input<std::int64_t, nb::ndim<2>> edges_;
  std::vector<Reals> held_;
};

std::vector<std::int64_t> widened(const std::vector<std::int32_t>& y) {
  return {y.begin(), y.end()};
}

// Runs body without the interpreter, Ctrl-C still heard.
template <class Body>
auto undisturbed(Body&& body) {
  Signals signals;
  const auto result = [&] {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    return body(&interrupt);
  }();
  signals.rethrow();
  return result;
}

// Without a value where none is wanted and it cannot be -inf: NaN.
nb::tuple cut(const PyPairwise& self, bool with_value) {
  if (self.model.labels != 2) throw std::invalid_argument("a cut needs two labels");
  std::vector<std::int32_t> y;
  const CutResult r = undisturbed([&](Interrupt* i) { return binary_cut(self.model, y, i); });
  double value = std::numeric_limits<double>::quiet_NaN();
  if (r.not_submodular < 0 && (with_value || self.model.anything_forbidden())) {
    value = self.model.score(y.data());
  }
  return nb::make_tuple(to_numpy(widened(y)), value, r.not_submodular);
}

nb::tuple climb(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> start, bool swap,
                std::size_t max_cycles) {
  std::vector<std::int32_t> y = self.labels(start);
  const MoveSettings settings{swap, max_cycles};
  const MoveResult r =
      undisturbed([&](Interrupt* i) { return climb_by_cuts(self.model, settings, y, i); });
  return nb::make_tuple(to_numpy(widened(y)), self.model.score(y.data()), r.converged, r.truncated);
}

double score(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> y) {
  return self.model.score(self.labels(y).data());
}

nb::tuple roof(const PyPairwise& self) {
  if (self.model.labels != 2) throw std::invalid_argument("roof duality needs two labels");
  std::vector<std::int32_t> y;
  const double bound = undisturbed([&](Interrupt* i) { return roof_dual(self.model, y, i); });
  return nb::make_tuple(to_numpy(widened(y)), bound);
}

// Value, conditionals (N, K) and counts of pairs (E, K, K); see pseudo_likelihood.
nb::tuple pseudo(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> given,
                 double temperature) {
  const Pairwise& m = self.model;
  if (!(temperature > 0.0)) throw std::invalid_argument("the temperature must be above 0");
  if (m.cliques.count > 0) throw std::invalid_argument("cliques have no pseudo-likelihood");
  const std::vector<std::int32_t> y = self.labels(given);
  std::vector<double> node(m.nodes * m.labels), pair(m.n_edges * m.labels * m.labels);
  double value = 0.0;
  {
    nb::gil_scoped_release release;
    value = pseudo_likelihood(m, y.data(), temperature, node.data(), pair.data());
  }
  return nb::make_tuple(value, to_numpy(std::move(node)), to_numpy(std::move(pair)));
}

nb::tuple messages(const PyPairwise& self, double temperature, bool reweighted, double damping,
                   std::size_t max_rounds, double tolerance, bool with_pairs) {
  const MessageSettings settings{temperature, reweighted, damping, max_rounds, tolerance};
  const Pairwise& m = self.model;
  std::vector<std::int32_t> y;
  std::vector<double> belief(m.nodes * m.labels);
  std::vector<double> pairs(with_pairs ? m.n_edges * m.labels * m.labels : 0);
  const MessageResult r = undisturbed([&](Interrupt* i) {
    return pass_messages(m, settings, y, belief.data(), with_pairs ? pairs.data() : nullptr, i);
  });
  const double value = m.score(y.data());
  return nb::make_tuple(to_numpy(widened(y)), value, to_numpy(std::move(belief)),
                        to_numpy(std::move(pairs)), r.converged, r.rounds, r.bound);
}

// The scores of an elimination, checked.
void check_scores(const Elimination& self, const Input<double, nb::ndim<2>>& label,
                  const Input<double, nb::ndim<3>>& table) {
  const std::size_t K = self.labels();
  if (label.shape(0) != self.nodes() || label.shape(1) != K || table.shape(0) != self.edges() ||
      table.shape(1) != K || table.shape(2) != K) {
    throw std::invalid_argument("scores that do not fit the order of elimination");
  }
}

nb::tuple best(const Elimination& self, Input<double, nb::ndim<2>> label,
               Input<double, nb::ndim<3>> table) {
  check_scores(self, label, table);
  std::vector<std::int64_t> y(self.nodes());
  double value = 0.0;
  {
    nb::gil_scoped_release release;
    value = self.best(label.data(), table.data(), y.data());
  }
  return nb::make_tuple(value, to_numpy(std::move(y)));
}

nb::tuple sums(const Elimination& self, Input<double, nb::ndim<2>> label,
               Input<double, nb::ndim<3>> table, double temperature) {
  check_scores(self, label, table);
  const std::size_t K = self.labels();
  std::vector<double> node(self.nodes() * K), edge(self.edges() * K * K);
  double value = 0.0, entropy = 0.0;
  {
    nb::gil_scoped_release release;
    value = self.sums(label.data(), table.data(), temperature, node.data(), edge.data(), &entropy);
  }
  return nb::make_tuple(value, to_numpy(std::move(node)), to_numpy(std::move(edge)), entropy);
}

}  // namespace

void bind_pairwise(nb::module_& m) {
  nb::class_<Elimination>(m, "Elimination")
      .def(
          "__init__",
          [](Elimination* self, std::size_t nodes, std::size_t labels,
             Input<std::int64_t, nb::ndim<2>> edges, Integers order) {
            std::vector<unsigned char> seen(nodes, 0);
            bool right = labels > 0 && edges.shape(1) == 2 && order.size() == nodes;
            const auto known = [nodes](std::int64_t v) {
              return v >= 0 && static_cast<std::size_t>(v) < nodes;
            };
            for (std::size_t k = 0; right && k < order.size(); ++k) {
              const std::int64_t v = order.data()[k];
              right = known(v) && seen[static_cast<std::size_t>(v)]++ == 0;
            }
            for (std::size_t e = 0; right && e < edges.shape(0); ++e) {
              const std::int64_t p = edges.data()[2 * e], q = edges.data()[2 * e + 1];
              right = known(p) && known(q) && p != q;
            }
            if (!right) throw std::invalid_argument("an order of elimination has every node once");
            new (self) Elimination(nodes, labels, {edges.data(), edges.data() + edges.size()},
                                   {order.data(), order.data() + order.size()});
          },
          nb::arg("nodes"), nb::arg("labels"), nb::arg("edges"), nb::arg("order"))
      .def("best", &best, nb::arg("label"), nb::arg("table"))
      .def("sums", &sums, nb::arg("label"), nb::arg("table"), nb::arg("temperature"));
  nb::class_<PyPairwise>(m, "Pairwise")
      .def(nb::init<Input<double, nb::ndim<2>>, std::size_t, std::size_t,
                    Input<std::int64_t, nb::ndim<2>>, nb::list, nb::object>(),
           nb::arg("label"), nb::arg("height"), nb::arg("width"), nb::arg("edges"),
           nb::arg("pairs"), nb::arg("cliques").none())
      .def("cut", &cut, nb::arg("with_value") = true)
      .def("climb", &climb, nb::arg("start"), nb::arg("swap"), nb::arg("max_cycles"))
      .def("roof_dual", &roof)
      .def("messages", &messages, nb::arg("temperature"), nb::arg("reweighted"), nb::arg("damping"),
           nb::arg("max_rounds"), nb::arg("tolerance"), nb::arg("with_pairs"))
      .def("pseudo_likelihood", &pseudo, nb::arg("y"), nb::arg("temperature"))
      .def("score", &score, nb::arg("y"));
}

}  // namespace structlearn::python
