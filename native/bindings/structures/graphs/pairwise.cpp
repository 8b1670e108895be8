// Labels on grids and graphs, for Python.
#include "structures/graphs/pairwise.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "bindings/structures/watched_steps.hpp"
#include "structures/graphs/assignment.hpp"
#include "structures/graphs/elimination_plans.hpp"
#include "structures/graphs/pair_search.hpp"
#include "structures/graphs/pair_sums.hpp"
#include "structures/graphs/standard_pairwise.hpp"

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

  // (values, whether each strength is a table): as many as one edge has, or as all have.
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

nb::tuple climb(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> start, bool swap,
                std::size_t max_cycles) {
  std::vector<std::int32_t> y = self.labels(start);
  const MoveSettings settings{swap, max_cycles};
  const MoveResult r =
      interruptible([&](Interrupt& i) { return climb_by_cuts(self.model, settings, y, &i); });
  return nb::make_tuple(to_numpy(widened(y)), self.model.score(y.data()), r.converged, r.truncated);
}

// (labels, steps), as watched_cut tells them.
nb::tuple watch_cut(const PyPairwise& self) {
  if (self.model.labels != 2) throw std::invalid_argument("a cut needs two labels");
  std::vector<std::int32_t> y;
  Recorder watch;
  if (watched_cut(self.model, y, watch).not_submodular >= 0) {
    throw std::invalid_argument("pairs that are not submodular: no cut can represent them");
  }
  return nb::make_tuple(to_numpy(widened(y)), read_steps(watch));
}

// (labels, whether they are proven to be the best, steps), as watched_branching tells them.
nb::tuple watch_branching(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> start,
                          std::size_t most_steps) {
  std::vector<std::int32_t> y = self.labels(start);
  Recorder watch;
  const bool proven = watched_branching(self.model, most_steps, y, watch);
  return nb::make_tuple(to_numpy(widened(y)), proven, read_steps(watch));
}

double score(const PyPairwise& self, Input<std::int64_t, nb::ndim<1>> y) {
  return self.model.score(self.labels(y).data());
}

// The labels that roof duality proves, -1 for the others, and an upper bound.
nb::tuple partial_labels(const PyPairwise& self) {
  if (self.model.labels != 2) throw std::invalid_argument("roof duality needs two labels");
  std::vector<std::int32_t> y;
  const double bound = interruptible([&](Interrupt& i) {
    const StandardPairwise standard(self.model);
    return standard.offset() + roof_dual(standard.model(), y, &i) / standard.scale();
  });
  return nb::make_tuple(to_numpy(widened(y)), bound);
}

// Why a method does not take a model, as Python's messages tell them apart.
const char* refusal_name(PairRefusal refusal) {
  switch (refusal) {
    case PairRefusal::kNone:
      return "";
    case PairRefusal::kNoLabel:
      return "no label";
    case PairRefusal::kTooWide:
      return "too wide";
    case PairRefusal::kNotTwoLabels:
      return "not two labels";
    case PairRefusal::kNotSubmodular:
      return "not submodular";
    case PairRefusal::kCliques:
      return "cliques";
    case PairRefusal::kNegativeClique:
      return "negative clique";
  }
  return "";
}

// For calls from Python, whose examples come back as those of a learner do.
EliminationPlans& shared_plans() {
  static EliminationPlans plans;
  return plans;
}

// (labels, value, bound, method, why it was refused, where).
nb::tuple search(const PyPairwise& self, const std::string& name, bool with_bound) {
  const auto method = pair_method(name);
  if (!method) throw std::invalid_argument("there is no method " + name);
  const PairFound found = interruptible([&](Interrupt& i) {
    return search_labels(self.model, *method, with_bound, shared_plans(), &i);
  });
  return nb::make_tuple(to_numpy(widened(found.y)), found.value, found.bound, found.method,
                        refusal_name(found.refusal), found.place);
}

// (label, scores of both groups of pairs, rewards, scale): see StandardPairwise.
nb::tuple standard(const PyPairwise& self) {
  const StandardPairwise s(self.model);
  return nb::make_tuple(to_numpy(s.label()), to_numpy(s.pairs(0)), to_numpy(s.pairs(1)),
                        to_numpy(s.reward()), s.scale());
}

double given_bound(const PyPairwise& self, double value, double bound, double given_value) {
  return StandardPairwise(self.model).given_bound(value, bound, given_value);
}

// Every node once, or None where the tables of elimination would be too large.
nb::object order(const PyPairwise& self) {
  const auto plan = shared_plans().find(self.model);
  if (plan == nullptr) return nb::none();
  auto found = elimination_order(self.model);
  return nb::cast(to_numpy(std::move(*found)));
}

nb::tuple read_sums(PairSums&& sums) {
  return nb::make_tuple(sums.value, to_numpy(std::move(sums.node)), to_numpy(std::move(sums.pair)),
                        sums.entropy);
}

// (value, (N, K) of nodes, (E, K, K) of edges, entropy), or None where there are no exact sums.
nb::object sums(const PyPairwise& self, double temperature) {
  if (!(temperature > 0.0)) throw std::invalid_argument("the temperature must be above 0");
  PairSums sums;
  bool exact = false;
  {
    nb::gil_scoped_release release;
    exact = exact_sums(self.model, temperature, shared_plans(), sums);
  }
  return exact ? nb::object(read_sums(std::move(sums))) : nb::object(nb::none());
}

nb::tuple loopy(const PyPairwise& self, double temperature, double damping) {
  if (!(temperature > 0.0)) throw std::invalid_argument("the temperature must be above 0");
  PairSums sums;
  interruptible(
      [&](Interrupt& i) { return loopy_sums(self.model, temperature, damping, sums, &i); });
  return read_sums(std::move(sums));
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
  const MessageResult r = interruptible([&](Interrupt& i) {
    return pass_messages(m, settings, y, belief.data(), with_pairs ? pairs.data() : nullptr, &i);
  });
  const double value = m.score(y.data());
  return nb::make_tuple(to_numpy(widened(y)), value, to_numpy(std::move(belief)),
                        to_numpy(std::move(pairs)), r.converged, r.rounds, r.bound);
}

// The order in which the nodes of a graph are eliminated, or None where one is too wide.
nb::object min_fill(std::size_t nodes, Input<std::int64_t, nb::ndim<2>> edges, std::size_t most) {
  if (edges.shape(1) != 2) throw std::invalid_argument("edges must have shape (E, 2)");
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges.data()[i] < 0 || static_cast<std::size_t>(edges.data()[i]) >= nodes) {
      throw std::invalid_argument("an edge to a node that does not exist");
    }
  }
  auto found = min_fill_order(nodes, edges.data(), edges.shape(0), most);
  if (!found) return nb::none();
  return nb::cast(to_numpy(std::move(*found)));
}

// (score, the column of each row, -1 where it has none).
nb::tuple assign(Input<double, nb::ndim<2>> score) {
  Output y;
  double value = 0.0;
  {
    nb::gil_scoped_release release;
    value = best_assignment(score.data(), score.shape(0), score.shape(1), y);
  }
  return nb::make_tuple(value, to_numpy(widened(y)));
}

}  // namespace

void bind_pairwise(nb::module_& m) {
  m.def("min_fill_order", &min_fill, nb::arg("nodes"), nb::arg("edges"), nb::arg("most"));
  m.def("best_assignment", &assign, nb::arg("score"));
  nb::class_<PyPairwise>(m, "Pairwise")
      .def(nb::init<Input<double, nb::ndim<2>>, std::size_t, std::size_t,
                    Input<std::int64_t, nb::ndim<2>>, nb::list, nb::object>(),
           nb::arg("label"), nb::arg("height"), nb::arg("width"), nb::arg("edges"),
           nb::arg("pairs"), nb::arg("cliques").none())
      .def("search", &search, nb::arg("method"), nb::arg("with_bound"))
      .def("standard", &standard)
      .def("given_bound", &given_bound, nb::arg("value"), nb::arg("bound"), nb::arg("given_value"))
      .def("order", &order)
      .def("sums", &sums, nb::arg("temperature"))
      .def("loopy_sums", &loopy, nb::arg("temperature"), nb::arg("damping"))
      .def("climb", &climb, nb::arg("start"), nb::arg("swap"), nb::arg("max_cycles"))
      .def("partial_labels", &partial_labels)
      .def("watch_cut", &watch_cut)
      .def("watch_branching", &watch_branching, nb::arg("start"), nb::arg("most_steps"))
      .def("messages", &messages, nb::arg("temperature"), nb::arg("reweighted"), nb::arg("damping"),
           nb::arg("max_rounds"), nb::arg("tolerance"), nb::arg("with_pairs"))
      .def("pseudo_likelihood", &pseudo, nb::arg("y"), nb::arg("temperature"))
      .def("score", &score, nb::arg("y"));
}

}  // namespace structlearn::python
