// Dual points of the structural SVM and the solvers over them, for Python.
#include "learners/working_sets.hpp"

#include <string>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"
#include "learners/frank_wolfe.hpp"
#include "learners/interior_point.hpp"
#include "learners/restricted_program.hpp"
#include "learners/restricted_qp.hpp"

namespace structlearn::python {
namespace {

using Vector = Input<double, nb::ndim<1>>;
using OutVector = InOut<double, nb::ndim<1>>;
using Integers = Input<std::int64_t, nb::ndim<1>>;

void check_size(std::size_t size, std::size_t wanted, const char* what) {
  if (size != wanted) {
    throw std::invalid_argument(std::string(what) + " must have " + std::to_string(wanted) +
                                " entries, not " + std::to_string(size));
  }
}

nb::dict survey(WorkingSets& sets, Vector w, double violation, bool products, std::size_t threads) {
  check_size(w.size(), sets.problem().weights(), "w");
  Survey found = interruptible([&](Interrupt& interrupt) {
    return sets.survey(w.data(), violation, products, threads, interrupt);
  });
  nb::dict result;
  result["loss"] = to_numpy(std::move(found.loss));
  result["slack"] = to_numpy(std::move(found.slack));
  result["gap"] = to_numpy(std::move(found.gap));
  result["added"] = to_numpy(std::move(found.added));
  return result;
}

// The cone of the weights, if there is one, with the multipliers that follow.
ConePoint read_cone(nb::object cone, const OutVector& multipliers) {
  if (cone.is_none()) return {};
  const WeightCone& given = nb::cast<const WeightCone&>(cone);
  check_size(multipliers.size(), given.rows(), "multipliers");
  return {&given, multipliers.data()};
}

nb::dict frank_wolfe(WorkingSets& sets, OutVector w, OutVector gap, Integers order,
                     nb::dict options, nb::object cone, OutVector multipliers) {
  check_size(w.size(), sets.problem().weights(), "w");
  check_size(gap.size(), sets.size(), "gap");
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order.data()[k] < 0 || static_cast<std::size_t>(order.data()[k]) >= sets.size()) {
      throw std::invalid_argument("the order names an example that does not exist");
    }
  }
  FrankWolfeSettings settings;
  settings.steps = nb::cast<std::size_t>(options["steps"]);
  settings.inner = nb::cast<double>(options["inner"]);
  settings.cached_share = nb::cast<double>(options["cached_share"]);
  settings.patience = nb::cast<std::uint32_t>(options["patience"]);
  settings.cone = read_cone(cone, multipliers);
  const FrankWolfeReport report = interruptible(
      [&](Interrupt& interrupt) {
        return frank_wolfe_pass(sets, {order.data(), order.size()}, settings, {w.data(), w.size()},
                                {gap.data(), gap.size()}, interrupt);
      },
      OnInterrupt::kReturn);
  nb::dict result;
  result["visits"] = report.visits;
  result["oracle_calls"] = report.oracle_calls;
  result["updates"] = report.updates;
  result["loss"] = report.loss;
  result["gap"] = report.gap;
  result["complete"] = report.complete;
  return result;
}

nb::dict solve_sets(WorkingSets& sets, OutVector w, double gap, double share,
                    std::size_t most_passes, nb::object cone, OutVector multipliers) {
  check_size(w.size(), sets.problem().weights(), "w");
  const ConePoint point = read_cone(cone, multipliers);
  const RestrictedReport report = interruptible([&](Interrupt& interrupt) {
    return solve_restricted(sets, w.data(), {gap, share}, most_passes, point, interrupt);
  });
  nb::dict result;
  result["gap"] = report.gap;
  result["solved"] = report.solved;
  result["passes"] = report.passes;
  result["newton_steps"] = report.newton_steps;
  return result;
}

// The joint constraint of the mean outputs that solve the restricted problem, by Newton steps
// alone, which need no products: its cost, with `gradient` and the solution's weights in place.
// None where that would take too much memory.
nb::object mean_constraint(WorkingSets& sets, OutVector w, OutVector gradient, double gap,
                           double share, nb::object cone) {
  check_size(w.size(), sets.problem().weights(), "w");
  check_size(gradient.size(), sets.problem().weights(), "gradient");
  const WeightCone* bounds = cone.is_none() ? nullptr : &nb::cast<const WeightCone&>(cone);
  bool possible = false;
  double cost = 0.0;
  interruptible([&](Interrupt& interrupt) {
    std::vector<double> multipliers(bounds == nullptr ? 0 : bounds->rows());
    const ConePoint point{bounds, multipliers.data()};
    const RestrictedProgram program(sets, point);
    if (program.small_enough()) {
      const BlockSolution found = program.solve({gap, share}, interrupt);
      possible = !found.w.empty();
      if (possible) {
        program.take(found, sets, w.data(), point);
        cost = sets.release(gradient.data());
      }
    }
  });
  return possible ? nb::cast(cost) : nb::none();
}

// Everything, as flat arrays. The products follow from the rest, up to the last bit.
nb::dict dump_sets(const WorkingSets& sets) {
  std::vector<std::int64_t> atom_ptr(1, 0), part_ptr(1, 0), idle;
  std::vector<std::uint32_t> part;
  std::vector<double> value, cost, alpha, rest, product;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const WorkingSet& set = sets.set(i);
    for (std::size_t a = 0; a < set.atoms.size(); ++a) {
      const Atom& atom = set.atoms[a];
      part.insert(part.end(), atom.difference.index.begin(), atom.difference.index.end());
      value.insert(value.end(), atom.difference.value.begin(), atom.difference.value.end());
      part_ptr.push_back(static_cast<std::int64_t>(part.size()));
      cost.push_back(atom.cost);
      alpha.push_back(set.alpha[a]);
      idle.push_back(atom.idle);
      if (set.gram.size() == set.atoms.size()) {
        const auto row = set.gram.row(a);
        product.insert(product.end(), row.begin(), row.end());
      }
    }
    atom_ptr.push_back(static_cast<std::int64_t>(cost.size()));
    rest.push_back(set.rest);
  }
  nb::dict result;
  result["atom_ptr"] = to_numpy(std::move(atom_ptr));
  result["part_ptr"] = to_numpy(std::move(part_ptr));
  result["part"] = to_numpy(std::move(part));
  result["value"] = to_numpy(std::move(value));
  result["cost"] = to_numpy(std::move(cost));
  result["alpha"] = to_numpy(std::move(alpha));
  result["idle"] = to_numpy(std::move(idle));
  result["rest"] = to_numpy(std::move(rest));
  result["product"] = to_numpy(std::move(product));
  return result;
}

void load_sets(WorkingSets& sets, nb::dict from) {
  const auto atom_ptr = nb::cast<Integers>(from["atom_ptr"], false);
  const auto part_ptr = nb::cast<Integers>(from["part_ptr"], false);
  const auto idle = nb::cast<Integers>(from["idle"], false);
  const auto part = nb::cast<Input<std::uint32_t, nb::ndim<1>>>(from["part"], false);
  const auto value = nb::cast<Vector>(from["value"], false);
  const auto cost = nb::cast<Vector>(from["cost"], false);
  const auto alpha = nb::cast<Vector>(from["alpha"], false);
  const auto rest = nb::cast<Vector>(from["rest"], false);
  const auto product = nb::cast<Vector>(from["product"], false);
  check_size(atom_ptr.size(), sets.size() + 1, "atom_ptr");
  check_size(rest.size(), sets.size(), "rest");
  const std::size_t atoms = cost.size();
  check_size(alpha.size(), atoms, "alpha");
  check_size(idle.size(), atoms, "idle");
  check_size(part_ptr.size(), atoms + 1, "part_ptr");
  check_size(value.size(), part.size(), "value");
  const auto ascending = [](const Integers& ptr, std::size_t end) {
    bool good = ptr.data()[0] == 0 && ptr.data()[ptr.size() - 1] == static_cast<std::int64_t>(end);
    for (std::size_t k = 1; k < ptr.size(); ++k) good = good && ptr.data()[k] >= ptr.data()[k - 1];
    return good;
  };
  if (!ascending(atom_ptr, atoms) || !ascending(part_ptr, part.size())) {
    throw std::invalid_argument("the pointers of the saved outputs do not ascend to their end");
  }
  std::size_t products = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto n = static_cast<std::size_t>(atom_ptr.data()[i + 1] - atom_ptr.data()[i]);
    products += n * (n + 1) / 2;
  }
  const bool has_products = product.size() > 0;
  if (has_products) check_size(product.size(), products, "product");
  const double* next = product.data();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    WorkingSet& set = sets.set(i);
    const std::size_t parts = sets.problem().scorer().layout(i).parts;
    set.atoms.clear();
    set.alpha.clear();
    set.gram = Gram();
    set.rest = rest.data()[i];
    for (std::int64_t a = atom_ptr.data()[i]; a < atom_ptr.data()[i + 1]; ++a) {
      Atom atom;
      const std::int64_t begin = part_ptr.data()[a], end = part_ptr.data()[a + 1];
      atom.difference.index.assign(part.data() + begin, part.data() + end);
      atom.difference.value.assign(value.data() + begin, value.data() + end);
      for (const std::uint32_t j : atom.difference.index) {
        if (j >= parts) throw std::invalid_argument("a part that does not exist");
      }
      atom.cost = cost.data()[a];
      atom.idle = static_cast<std::uint32_t>(idle.data()[a]);
      const std::size_t n = has_products ? set.atoms.size() + 1 : 0;
      sets.restore(i, std::move(atom), alpha.data()[a], {next, n});
      next += n;
    }
  }
}

// max b'a - 1/2 a'Ga over the simplex, from alpha (in place); returns (what is left for the origin,
// the spread of the gradients).
nb::tuple simplex(Input<double, nb::ndim<2>> gram, Vector b, double origin, OutVector alpha,
                  double tolerance) {
  const std::size_t n = b.size();
  check_size(alpha.size(), n, "alpha");
  if (gram.shape(0) != n || gram.shape(1) != n) {
    throw std::invalid_argument("gram must have a row and a column an entry of b");
  }
  Gram packed;
  double rest = 1.0;
  for (std::size_t a = 0; a < n; ++a) {
    packed.grow({gram.data() + a * n, a + 1});
    rest -= alpha.data()[a];
  }
  rest = rest < 0.0 ? 0.0 : rest;
  std::vector<double> gradient(n);
  SimplexPoint point{{alpha.data(), n}, &rest, gradient, origin};
  const double spread = solve_simplex(packed, {b.data(), n}, point, tolerance, 200);
  return nb::make_tuple(rest, spread);
}

// The program of joint constraints, cost + <v, w>, by an interior-point method; None where that
// would take too much memory.
nb::object joint_program(Integers ptr, Integers column, Vector value, Vector cost, double gold,
                         std::size_t weights, nb::object cone, double gap, double share) {
  const std::size_t n = cost.size();
  check_size(ptr.size(), n + 1, "ptr");
  check_size(value.size(), column.size(), "value");
  BlockProgram program;
  program.columns = weights;
  std::vector<std::pair<std::size_t, double>> entries;
  for (std::size_t a = 0; a < n; ++a) {
    entries.clear();
    const std::int64_t begin = ptr.data()[a], end = ptr.data()[a + 1];
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) > column.size()) {
      throw std::invalid_argument("the pointers of the constraints do not ascend to their end");
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const auto j = static_cast<std::size_t>(column.data()[k]);
      if (j >= weights) throw std::invalid_argument("a weight that does not exist");
      entries.emplace_back(j, value.data()[k]);
    }
    program.add_row(entries);
    program.cost.push_back(cost.data()[a]);
  }
  program.end_block(gold, 1.0);
  const WeightCone* bounds = cone.is_none() ? nullptr : &nb::cast<const WeightCone&>(cone);
  BlockSolution found;
  std::vector<std::size_t> kept;
  bool possible = false;
  interruptible([&](Interrupt& interrupt) {
    if (bounds != nullptr) add_cone(program, *bounds);
    kept = program.compact();
    possible = program.small_enough();
    if (possible) found = solve_blocks(program, {gap, share}, interrupt);
  });
  if (!possible || found.w.empty()) return nb::none();
  std::vector<double> w(weights, 0.0);
  for (std::size_t j = 0; j < kept.size(); ++j) w[kept[j]] = found.w[j];
  if (bounds != nullptr) bounds->project(w.data());
  found.b.resize(n);
  return nb::make_tuple(to_numpy(std::move(found.b)), found.rest[0], to_numpy(std::move(w)),
                        found.gap);
}

}  // namespace

void bind_working_sets(nb::module_& m) {
  nb::class_<WeightCone>(m, "WeightCone")
      .def(
          "__init__",
          [](WeightCone* self, Integers ptr, Integers index, Vector value, std::size_t weights) {
            const std::size_t n = index.size();
            check_size(value.size(), n, "value");
            bool good = ptr.size() > 0 && ptr.data()[0] == 0 &&
                        ptr.data()[ptr.size() - 1] == static_cast<std::int64_t>(n);
            for (std::size_t r = 1; good && r < ptr.size(); ++r) {
              good = ptr.data()[r] > ptr.data()[r - 1];
            }
            std::vector<unsigned char> used(weights, 0);
            for (std::size_t k = 0; good && k < n; ++k) {
              const std::int64_t j = index.data()[k];
              good = j >= 0 && static_cast<std::size_t>(j) < weights && value.data()[k] != 0.0 &&
                     used[static_cast<std::size_t>(j)]++ == 0;
            }
            if (!good) throw std::invalid_argument("rows of a cone share no weight, and have some");
            new (self)
                WeightCone({ptr.data(), ptr.data() + ptr.size()}, {index.data(), index.data() + n},
                           {value.data(), value.data() + n});
          },
          nb::arg("ptr"), nb::arg("index"), nb::arg("value"), nb::arg("weights"))
      .def_prop_ro("rows", &WeightCone::rows);
  nb::class_<WorkingSets>(m, "WorkingSets")
      .def(
          "__init__",
          [](WorkingSets* self, const PyProblem& problem, double C, double margin,
             std::size_t most) { new (self) WorkingSets(*problem.problem, C, margin, most); },
          nb::arg("problem"), nb::arg("C"), nb::arg("margin"), nb::arg("most"),
          nb::keep_alive<1, 2>())
      .def("survey", &survey, nb::arg("w"), nb::arg("violation"), nb::arg("products"),
           nb::arg("threads"))
      .def(
          "dual",
          [](const WorkingSets& s, Vector w) {
            check_size(w.size(), s.problem().weights(), "w");
            return s.dual(w.data());
          },
          nb::arg("w"))
      .def(
          "bound",
          [](const WorkingSets& s, nb::object cone, OutVector multipliers) {
            return s.bound(read_cone(cone, multipliers));
          },
          nb::arg("cone").none(), nb::arg("multipliers"))
      .def(
          "weights",
          [](const WorkingSets& s, OutVector w) {
            check_size(w.size(), s.problem().weights(), "w");
            s.weights(w.data());
          },
          nb::arg("w"))
      .def(
          "best_multiple",
          [](const WorkingSets& s, Vector w) {
            check_size(w.size(), s.problem().weights(), "w");
            const auto [multiple, value] = s.best_multiple(w.data());
            return nb::make_tuple(multiple, value);
          },
          nb::arg("w"))
      .def(
          "cached",
          [](const WorkingSets& s, Vector w, OutVector gradient) {
            check_size(w.size(), s.problem().weights(), "w");
            check_size(gradient.size(), s.problem().weights(), "gradient");
            nb::gil_scoped_release release;
            return s.cached(w.data(), gradient.data());
          },
          nb::arg("w"), nb::arg("gradient"))
      .def("frank_wolfe", &frank_wolfe, nb::arg("w"), nb::arg("gap"), nb::arg("order"),
           nb::arg("options"), nb::arg("cone").none(), nb::arg("multipliers"))
      .def("solve", &solve_sets, nb::arg("w"), nb::arg("gap"), nb::arg("share"),
           nb::arg("most_passes"), nb::arg("cone").none(), nb::arg("multipliers"))
      .def("mean_constraint", &mean_constraint, nb::arg("w"), nb::arg("gradient"), nb::arg("gap"),
           nb::arg("share"), nb::arg("cone").none())
      .def("dump", &dump_sets)
      .def("load", &load_sets, nb::arg("state"));
  m.def(
      "gap_sampled_order",
      [](Vector gap, double uniform, std::uint64_t random) {
        auto order = gap_sampled_order({gap.data(), gap.size()}, uniform, random);
        return nb::make_tuple(to_numpy(std::move(order)), random);
      },
      nb::arg("gap"), nb::arg("uniform"), nb::arg("random"));
  m.def("joint_program", &joint_program, nb::arg("ptr"), nb::arg("column"), nb::arg("value"),
        nb::arg("cost"), nb::arg("gold"), nb::arg("weights"), nb::arg("cone").none(),
        nb::arg("gap"), nb::arg("share"));
  m.def("simplex", &simplex, nb::arg("gram"), nb::arg("b"), nb::arg("origin"), nb::arg("alpha"),
        nb::arg("tolerance"));
}

}  // namespace structlearn::python
