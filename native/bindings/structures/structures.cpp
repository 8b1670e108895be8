// Structures and the hypergraph engine, for Python. The checks of shapes and values are here, so
// that a call on a short sentence stays in the microseconds.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "bindings/array_view.hpp"
#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "bindings/structures/native_structure.hpp"
#include "numeric/grain.hpp"
#include "numeric/kernels.hpp"
#include "numeric/parallel.hpp"
#include "structures/chains/chain.hpp"
#include "structures/chains/semimarkov.hpp"
#include "structures/hypergraph.hpp"
#include "structures/multiclass.hpp"
#include "structures/trees/arborescence.hpp"
#include "structures/trees/constituency.hpp"
#include "structures/trees/grammar_trees.hpp"
#include "structures/trees/spanning_tree.hpp"
#include "structures/trees/tree.hpp"

namespace structlearn::python {
namespace {

using Doubles = ArrayView<double>;

struct Parsed {
  Layout layout;
  Scores scores;
  std::array<bool, kMaxBlocks> looked_at{};  // whose values have been checked
};

std::string shape_text(const Doubles& a) {
  std::string text = "(";
  for (std::size_t i = 0; i < a.ndim(); ++i) {
    text += (i ? ", " : "") + std::to_string(a.shape(i));
  }
  return text + (a.ndim() == 1 ? ",)" : ")");
}

std::string where(std::ptrdiff_t example) {
  return example < 0 ? "" : "example " + std::to_string(example) + ": ";
}

// NaN and +inf have no meaning as a score; -inf forbids.
void check_values(const double* x, std::size_t n, const std::string& name, std::ptrdiff_t example) {
  if (!kernels().all_scores(x, n)) {
    throw std::invalid_argument(where(example) + name +
                                " contains NaN or +inf; scores are finite, or -inf to forbid");
  }
}

// The same for a block of a structure, which may leave sites unread.
void check_values(const Structure& structure, const Layout& layout, const BlockName& spec,
                  const double* x, std::ptrdiff_t example) {
  const Block& block = layout.block[spec.block];
  if (structure.scores_are_valid(layout, spec.block, x)) return;
  for (std::size_t s = 0; s < block.sites; ++s) {
    if (structure.reads(layout, spec.block, s)) {
      check_values(x + s * block.outcomes, block.outcomes, spec.name, example);
    }
  }
}

// A block over pairs or triples of nodes.
void add_node_block(const NativeStructure& s, const BlockName& spec, const Doubles& a,
                    std::ptrdiff_t example, Parsed& out, bool look) {
  const bool labelled = a.ndim() == spec.node_axes + 1 && spec.outcome_rank == 1;
  bool square = labelled || a.ndim() == spec.node_axes;
  std::size_t sites = 1;
  for (std::size_t i = 0; square && i < spec.node_axes; ++i) {
    square = a.shape(i) == a.shape(0);
    sites *= a.shape(i);
  }
  if (!square) {
    std::string axes = "N";
    for (std::size_t i = 1; i < spec.node_axes; ++i) axes += ", N";
    throw std::invalid_argument(where(example) + spec.name + " has shape " + shape_text(a) +
                                ", expected (" + axes + ")" +
                                (spec.outcome_rank ? " or (" + axes + ", labels)" : ""));
  }
  // Anchored: with labels.
  out.layout.add(spec.block, sites, labelled ? a.shape(spec.node_axes) : 1, labelled);
  if (look) check_values(*s.structure, out.layout, spec, a.data(), example);
  out.looked_at[spec.block] = look;
  out.scores.block[spec.block] = a.data();
}

void add_block(const NativeStructure& s, const BlockName& spec, const Doubles& a,
               std::ptrdiff_t example, Parsed& out, bool look = true) {
  if (spec.node_axes) return add_node_block(s, spec, a, example, out, look);
  const std::size_t site_axes = spec.width ? 2 : 1;
  const bool shared = spec.may_be_shared && a.ndim() == spec.outcome_rank;
  const bool anchored = spec.may_be_anchored && a.ndim() == spec.outcome_rank + site_axes;
  const std::size_t width = spec.width == kEveryEnd && anchored ? a.shape(0) + 1 : spec.width;
  bool square = shared || (anchored && (!width || a.shape(1) == width));
  std::size_t outcomes = 1;
  for (std::size_t i = a.ndim() - spec.outcome_rank; square && i < a.ndim(); ++i) {
    square = a.shape(i) == a.shape(a.ndim() - 1);
    outcomes *= a.shape(i);
  }
  if (!square) {
    std::string wanted, K = "(K";
    for (std::size_t i = 1; i < spec.outcome_rank; ++i) K += ", K";
    K += spec.outcome_rank == 1 ? ",)" : ")";
    if (spec.may_be_shared) wanted = K;
    if (spec.may_be_anchored) {
      wanted += std::string(wanted.empty() ? "" : " or ") + "(positions, " +
                (spec.width == kEveryEnd ? "positions + 1, "
                 : spec.width            ? std::to_string(spec.width) + ", "
                                         : "") +
                K.substr(1);
      if (wanted.size() > 2 && wanted.substr(wanted.size() - 2) == ",)") {
        wanted.replace(wanted.size() - 2, 2, ")");
      }
    }
    throw std::invalid_argument(where(example) + spec.name + " has shape " + shape_text(a) +
                                ", expected " + wanted);
  }
  const std::size_t positions = anchored ? a.shape(0) : 1;
  out.layout.add(spec.block, width ? positions * width : positions, outcomes, anchored);
  if (look) check_values(*s.structure, out.layout, spec, a.data(), example);
  out.looked_at[spec.block] = look;
  out.scores.block[spec.block] = a.data();
}

const char* text_of(nb::handle key) {
  const char* name = PyUnicode_AsUTF8(key.ptr());
  if (name == nullptr) throw nb::python_error();
  return name;
}

const BlockName& find_block(const NativeStructure& s, nb::handle key) {
  const char* name = text_of(key);
  for (const BlockName& b : s.blocks) {
    if (b.name == name) return b;
  }
  std::string known;
  for (const BlockName& b : s.blocks) known += (known.empty() ? "" : ", ") + b.name;
  throw std::invalid_argument("there is no score block '" + std::string(name) +
                              "' here; the blocks are " + known);
}

void check(const NativeStructure& s, const Parsed& p, std::ptrdiff_t example) {
  try {
    s.structure->check(p.layout);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(where(example) + e.what());
  }
}

[[noreturn]] void nothing_legal(std::ptrdiff_t example) {
  throw Infeasible(where(example) + "no legal output is left: every output scores -inf");
}

// Refuses a sum over no output at all, and one that is beyond the numbers there are.
void check_sum(double value, std::ptrdiff_t example) {
  if (value == kMinusInfinity) nothing_legal(example);
  if (!(value < std::numeric_limits<double>::infinity())) {
    throw std::invalid_argument(where(example) +
                                "the scores are too large: sums of them are not finite");
  }
}

// What is given by block, and what is said of the topology.
struct Given {
  std::array<nb::handle, kMaxBlocks> block{};
  nb::handle topology;

  Given(const NativeStructure& s, nb::dict scores) {
    for (auto [key, value] : scores) {
      const bool is_topology = !s.topology.empty() && s.topology == text_of(key);
      nb::handle& place = is_topology ? topology : block[find_block(s, key).block];
      if (!value.is_none()) place = value;
    }
  }
};

std::span<const std::int64_t> read_topology(const NativeStructure& s, nb::handle value) {
  if (!value.is_valid()) return s.default_topology;
  const ArrayView<std::int64_t> array(value, s.topology.c_str());
  return {array.data(), array.size()};
}

// Blocks in the order of the structure, so that flat part vectors agree everywhere.
Parsed parse(const NativeStructure& s, nb::dict scores, std::ptrdiff_t example = -1) {
  Parsed out;
  const Given given(s, scores);
  out.layout.topology = read_topology(s, given.topology);
  for (const BlockName& b : s.blocks) {
    if (const nb::handle value = given.block[b.block]; value.is_valid()) {
      add_block(s, b, Doubles(value, b.name.c_str()), example, out);
    }
  }
  check(s, out, example);
  return out;
}

// A batch: each block a list, one array an example, or one array for all. The values in lists are
// looked at just before they are used, by `check_example`: what is read twice in a row is read from
// memory once.
std::vector<Parsed> parse_batch(const NativeStructure& s, nb::dict scores, std::size_t n) {
  std::vector<Parsed> out(n);
  const Given given(s, scores);
  for (std::size_t i = 0; i < n; ++i) {
    const bool each = given.topology.is_valid() && PyList_Check(given.topology.ptr());
    out[i].layout.topology = read_topology(
        s, each ? nb::handle(PyList_GET_ITEM(given.topology.ptr(), static_cast<Py_ssize_t>(i)))
                : given.topology);
  }
  for (const BlockName& b : s.blocks) {
    const nb::handle value = given.block[b.block];
    if (!value.is_valid()) continue;
    if (!PyList_Check(value.ptr())) {
      Parsed once;
      add_block(s, b, Doubles(value, b.name.c_str()), -1, once);
      const Block& block = once.layout.block[b.block];
      for (Parsed& p : out) {
        p.layout.add(b.block, block.sites, block.outcomes, block.anchored);
        p.scores.block[b.block] = once.scores.block[b.block];
        p.looked_at[b.block] = true;
      }
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const nb::handle item = PyList_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(i));
      add_block(s, b, Doubles(item, b.name.c_str()), static_cast<std::ptrdiff_t>(i), out[i], false);
    }
  }
  for (std::size_t i = 0; i < n; ++i) check(s, out[i], static_cast<std::ptrdiff_t>(i));
  return out;
}

// Throws std::invalid_argument for a score that is none.
void check_example(const NativeStructure& s, const Parsed& p, std::size_t example) {
  for (const BlockName& b : s.blocks) {
    if (p.scores.block[b.block] != nullptr && !p.looked_at[b.block]) {
      check_values(*s.structure, p.layout, b, p.scores.block[b.block],
                   static_cast<std::ptrdiff_t>(example));
    }
  }
}

Marginals outputs(const NativeStructure& s, nb::dict outs, bool by_position,
                  std::ptrdiff_t example = -1) {
  Marginals m;
  m.by_position = by_position;
  for (auto [key, value] : outs) {
    const nb::handle item =
        example < 0 ? nb::handle(value)
                    : nb::handle(PyList_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(example)));
    m.block[find_block(s, key).block] = Doubles(item, "the output", true).data();
  }
  return m;
}

// One workspace a thread for single calls, so that a short call allocates nothing.
Workspace& local_workspace() {
  thread_local Workspace ws;
  return ws;
}

// numpy.empty(n, int64): NumPy's own allocation is the cheapest way to a small array.
nb::object empty_integers(std::size_t n) {
  // Held for the life of the process.
  static PyObject* const empty =
      nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  static PyObject* const dtype =
      nb::object(nb::module_::import_("numpy").attr("dtype")("int64")).release().ptr();
  nb::object size = nb::steal(PyLong_FromSize_t(n));
  PyObject* const arguments[] = {size.ptr(), dtype};
  PyObject* const array = PyObject_Vectorcall(empty, arguments, 2, nullptr);
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

// The segments (start, end, label), end exclusive, of a row with a label where one starts.
template <class Integer>
nb::list segments(std::span<const Integer> y) {
  nb::list found;
  for (std::size_t i = 0; i < y.size();) {
    std::size_t j = i + 1;
    while (j < y.size() && y[j] < 0) ++j;
    // By hand: a sentence has dozens of them, and this is the larger part of a call.
    nb::object segment = nb::steal(PyTuple_New(3));
    if (!segment.is_valid()) throw nb::python_error();
    PyTuple_SET_ITEM(segment.ptr(), 0, PyLong_FromSize_t(i));
    PyTuple_SET_ITEM(segment.ptr(), 1, PyLong_FromSize_t(j));
    PyTuple_SET_ITEM(segment.ptr(), 2, PyLong_FromLongLong(y[i]));
    found.append(segment);
    i = j;
  }
  return found;
}

// Those of many rows, one after another: row r is flat[ptr[r]..ptr[r + 1]].
nb::list segments_of_rows(Input<std::int64_t, nb::ndim<1>> flat,
                          Input<std::int64_t, nb::ndim<1>> ptr) {
  nb::list rows;
  for (std::size_t r = 0; r + 1 < ptr.size(); ++r) {
    const std::int64_t begin = ptr.data()[r], end = ptr.data()[r + 1];
    if (begin < 0 || begin > end || static_cast<std::size_t>(end) > flat.size()) {
      throw std::invalid_argument("a row that does not exist");
    }
    rows.append(segments<std::int64_t>({flat.data() + begin, flat.data() + end}));
  }
  return rows;
}

// The spans (begin, end, label), end exclusive, of a row of a structure that has such outputs.
template <class Integer>
nb::list spans(const NativeStructure& s, std::span<const Integer> y) {
  const auto& reader = dynamic_cast<const SpanOutputs&>(*s.structure);
  thread_local std::vector<LabelledSpan> found;
  if constexpr (std::is_same_v<Integer, std::int32_t>) {
    reader.spans(y, found);
  } else {
    reader.spans(std::vector<std::int32_t>(y.begin(), y.end()), found);
  }
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(found.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < found.size(); ++i) {
    nb::object span = nb::steal(PyTuple_New(3));
    if (!span.is_valid()) throw nb::python_error();
    PyTuple_SET_ITEM(span.ptr(), 0, PyLong_FromLong(found[i].begin));
    PyTuple_SET_ITEM(span.ptr(), 1, PyLong_FromLong(found[i].end));
    PyTuple_SET_ITEM(span.ptr(), 2, PyLong_FromLong(found[i].label));
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), span.release().ptr());
  }
  return list;
}

// Those of many rows, one after another: row r is flat[ptr[r]..ptr[r + 1]].
nb::list spans_of_rows(const NativeStructure& s, Input<std::int64_t, nb::ndim<1>> flat,
                       Input<std::int64_t, nb::ndim<1>> ptr) {
  if (s.kind != OutputKind::kSpans) throw std::invalid_argument("these outputs are no spans");
  nb::list rows;
  for (std::size_t r = 0; r + 1 < ptr.size(); ++r) {
    const std::int64_t begin = ptr.data()[r], end = ptr.data()[r + 1];
    if (begin < 0 || begin > end || static_cast<std::size_t>(end) > flat.size()) {
      throw std::invalid_argument("a row that does not exist");
    }
    rows.append(spans<std::int64_t>(s, {flat.data() + begin, flat.data() + end}));
  }
  return rows;
}

nb::object array_of(std::span<const std::int32_t> y) {
  nb::object array = empty_integers(y.size());
  const ArrayView<std::int64_t> out(array, "the output", true);
  std::copy(y.begin(), y.end(), out.data());
  return array;
}

nb::object to_python(const NativeStructure& s, const Layout& layout, const Output& y) {
  if (s.kind == OutputKind::kNumber) return nb::int_(y[0]);
  if (s.kind == OutputKind::kSegments) return segments<std::int32_t>(y);
  if (s.kind == OutputKind::kSpans) return spans<std::int32_t>(s, y);
  if (s.kind == OutputKind::kHeads && layout.block[0].anchored) {
    const bool several = layout.block[0].outcomes > 1;
    const std::size_t n = several ? y.size() / 2 : y.size();
    const Output none(several ? 0 : n, 0);
    const std::span<const std::int32_t> row(y);
    return nb::make_tuple(array_of(row.first(n)), array_of(several ? row.subspan(n) : none));
  }
  return array_of(y);
}

// The best output of one example, and its score into ws.
double best_output(const NativeStructure& s, const Parsed& p, Workspace& ws) {
  const double value = s.structure->argmax(p.layout, p.scores, ws.other, ws);
  if (value == kMinusInfinity) nothing_legal(-1);
  return value;
}

nb::object argmax(const NativeStructure& s, nb::dict scores) {
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  best_output(s, p, ws);
  return to_python(s, p.layout, ws.other);
}

nb::tuple solve(const NativeStructure& s, nb::dict scores) {
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  const double value = best_output(s, p, ws);
  return nb::make_tuple(to_python(s, p.layout, ws.other), value);
}

nb::tuple beam(const NativeStructure& s, nb::dict scores, std::size_t width) {
  const auto* search = dynamic_cast<const BeamSearch*>(s.structure.get());
  if (search == nullptr) throw std::invalid_argument("this structure has no beam search");
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  const BeamOutput found = [&] {
    nb::gil_scoped_release release;
    return search->beam(p.layout, p.scores, width, ws.other, ws);
  }();
  if (found.value == kMinusInfinity) nothing_legal(-1);
  return nb::make_tuple(to_python(s, p.layout, ws.other), found.value, found.pruned);
}

auto argmax_batch(const NativeStructure& s, nb::dict scores, std::size_t n, std::size_t threads) {
  const std::vector<Parsed> batch = parse_batch(s, scores, n);
  std::vector<Output> y(n);
  std::vector<double> value(n);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    std::vector<Workspace> ws(std::max<std::size_t>(threads, 1));
    const std::size_t grain = grain_of(n, threads, 64), tasks = (n + grain - 1) / grain;
    parallel_for(tasks, threads, [&](std::size_t task, std::size_t thread) {
      for (std::size_t i = task * grain; i < std::min(n, (task + 1) * grain); ++i) {
        if (interrupt.requested()) return;
        check_example(s, batch[i], i);
        value[i] = s.structure->argmax(batch[i].layout, batch[i].scores, y[i], ws[thread]);
      }
    });
  }
  signals.rethrow();
  std::vector<std::int64_t> flat, ptr(1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (value[i] == kMinusInfinity) nothing_legal(static_cast<std::ptrdiff_t>(i));
    flat.insert(flat.end(), y[i].begin(), y[i].end());
    ptr.push_back(static_cast<std::int64_t>(flat.size()));
  }
  return nb::make_tuple(to_numpy(std::move(flat)), to_numpy(std::move(ptr)),
                        to_numpy(std::move(value)));
}

double infer(const NativeStructure& s, nb::dict scores, nb::dict outs, double eps,
             bool by_position) {
  const Parsed p = parse(s, scores);
  const Marginals m = outputs(s, outs, by_position);
  const double value = s.structure->infer(p.layout, p.scores, eps, m, local_workspace());
  check_sum(value, -1);
  return value;
}

auto infer_batch(const NativeStructure& s, nb::dict scores, nb::dict outs, std::size_t n,
                 double eps, bool by_position, std::size_t threads) {
  const std::vector<Parsed> batch = parse_batch(s, scores, n);
  std::vector<Marginals> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = outputs(s, outs, by_position, static_cast<std::ptrdiff_t>(i));
  }
  std::vector<double> value(n);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    std::vector<Workspace> ws(std::max<std::size_t>(threads, 1));
    parallel_for(n, threads, [&](std::size_t i, std::size_t thread) {
      if (interrupt.requested()) return;
      check_example(s, batch[i], i);
      value[i] = s.structure->infer(batch[i].layout, batch[i].scores, eps, out[i], ws[thread]);
    });
  }
  signals.rethrow();
  for (std::size_t i = 0; i < n; ++i) check_sum(value[i], static_cast<std::ptrdiff_t>(i));
  return to_numpy(std::move(value));
}

nb::list kbest(const NativeStructure& s, nb::dict scores, std::size_t n) {
  const Parsed p = parse(s, scores);
  nb::list result;
  for (auto& [value, y] : s.structure->kbest(p.layout, p.scores, n, local_workspace())) {
    result.append(nb::make_tuple(value, to_python(s, p.layout, y)));
  }
  if (nb::len(result) == 0) nothing_legal(-1);
  return result;
}

nb::list kbest_batch(const NativeStructure& s, nb::dict scores, std::size_t size, std::size_t n,
                     std::size_t threads) {
  const std::vector<Parsed> batch = parse_batch(s, scores, size);
  std::vector<std::vector<std::pair<double, Output>>> found(size);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    std::vector<Workspace> ws(std::max<std::size_t>(threads, 1));
    parallel_for(size, threads, [&](std::size_t i, std::size_t thread) {
      if (interrupt.requested()) return;
      check_example(s, batch[i], i);
      found[i] = s.structure->kbest(batch[i].layout, batch[i].scores, n, ws[thread]);
    });
  }
  signals.rethrow();
  nb::list results;
  for (std::size_t i = 0; i < size; ++i) {
    if (found[i].empty()) nothing_legal(static_cast<std::ptrdiff_t>(i));
    nb::list result;
    for (auto& [value, y] : found[i]) {
      result.append(nb::make_tuple(value, to_python(s, batch[i].layout, y)));
    }
    results.append(result);
  }
  return results;
}

auto sample(const NativeStructure& s, nb::dict scores, std::size_t n, double eps,
            std::uint64_t seed) {
  const Parsed p = parse(s, scores);
  std::vector<std::int64_t> flat;
  const auto drawn = [&] {
    nb::gil_scoped_release release;
    return s.structure->sample(p.layout, p.scores, eps, n, seed, local_workspace());
  }();
  if (drawn.empty() && n > 0) nothing_legal(-1);
  for (const Output& y : drawn) flat.insert(flat.end(), y.begin(), y.end());
  return to_numpy(std::move(flat));
}

NativeStructure make_chain(std::size_t order) {
  if (order > Chain::kMaxOrder) {
    throw std::invalid_argument("order must be at most " + std::to_string(Chain::kMaxOrder));
  }
  NativeStructure s{std::make_shared<Chain>(),
                    {{"label", Chain::kLabel, 1, false, true},
                     {"start", Chain::kStart, 1, true, false},
                     {"end", Chain::kEnd, 1, true, false}}};
  for (std::size_t j = 1; j <= order; ++j) {
    s.blocks.push_back({j == order ? "transition" : "transition" + std::to_string(j),
                        Chain::transition(j), j + 1, true, true});
  }
  return s;
}

NativeStructure make_multiclass() {
  return {std::make_shared<Multiclass>(), {{"label", 0, 1, true, false}}, OutputKind::kNumber};
}

NativeStructure make_semimarkov(std::size_t max_length) {
  return {std::make_shared<SemiMarkov>(max_length),
          {{"segment", SemiMarkov::kSegment, 1, false, true, max_length},
           {"start", SemiMarkov::kStart, 1, true, false},
           {"end", SemiMarkov::kEnd, 1, true, false},
           {"transition", SemiMarkov::kTransition, 2, true, true}},
          OutputKind::kSegments};
}

NativeStructure make_arborescence(bool projective, bool single_root) {
  return {std::make_shared<Arborescence>(projective, single_root),
          {{"arc", Arborescence::kArc, 1, false, true, 0, 2},
           {"sibling", Arborescence::kSibling, 0, false, true, 0, 3}},
          OutputKind::kHeads};
}

NativeStructure make_spanning_tree() {
  return {std::make_shared<SpanningTree>(), {{"edge", SpanningTree::kEdge, 0, false, true, 0, 2}}};
}

NativeStructure make_constituency() {
  return {std::make_shared<Constituency>(),
          {{"span", Constituency::kSpan, 1, false, true, kEveryEnd}},
          OutputKind::kSpans};
}

NativeStructure make_tree(Input<std::int64_t, nb::ndim<1>> parents) {
  return {std::make_shared<Tree>(),
          {{"label", Tree::kLabel, 1, false, true}, {"edge", Tree::kEdge, 2, true, true}},
          OutputKind::kArray,
          "parents",
          {parents.data(), parents.data() + parents.size()}};
}

using Indices = Input<std::uint32_t, nb::ndim<1>>;
std::vector<std::uint32_t> to_vector(const Indices& a) {
  return {a.data(), a.data() + a.size()};
}

NativeStructure make_grammar_trees(std::size_t symbols, Input<std::uint32_t, nb::ndim<2>> binary,
                                   Input<std::uint32_t, nb::ndim<2>> unary, Indices chain_ptr,
                                   Indices chain_rule) {
  Grammar grammar;
  grammar.symbols = symbols;
  if (binary.shape(1) != 3 || unary.shape(1) != 2) {
    throw std::invalid_argument("rules are rows: (parent, left, right) and (parent, child)");
  }
  grammar.binary.resize(binary.shape(0));
  std::copy(binary.data(), binary.data() + binary.size(),
            grammar.binary.empty() ? nullptr : grammar.binary[0].data());
  grammar.unary.resize(unary.shape(0));
  std::copy(unary.data(), unary.data() + unary.size(),
            grammar.unary.empty() ? nullptr : grammar.unary[0].data());
  grammar.chain_ptr = to_vector(chain_ptr);
  grammar.chain_rule = to_vector(chain_rule);
  return {std::make_shared<GrammarTrees>(std::move(grammar)),
          {{"word", GrammarTrees::kWord, 1, false, true},
           {"span", GrammarTrees::kSpan, 1, false, true, kEveryEnd},
           {"binary", GrammarTrees::kBinary, 1, true, false},
           {"unary", GrammarTrees::kUnary, 1, true, false},
           {"root", GrammarTrees::kRoot, 1, true, false}},
          OutputKind::kSpans};
}

const double* scores_for(const Hypergraph& h, const Input<double, nb::ndim<1>>& theta) {
  if (theta.size() != h.parts()) {
    throw std::invalid_argument("theta has " + std::to_string(theta.size()) +
                                " scores, the hypergraph has " + std::to_string(h.parts()) +
                                " parts");
  }
  check_values(theta.data(), theta.size(), "theta", -1);
  return theta.data();
}

}  // namespace

void bind_structures(nb::module_& m) {
  nb::exception<Infeasible>(m, "InfeasibleError", PyExc_ValueError);
  m.def("kernels", [] { return std::string(kernels().name); }, "The instruction set in use.");
  m.def(
      "use_kernels", [](const char* name) { return use_kernels(name); }, nb::arg("name"),
      "Choose an instruction set: 'baseline', 'avx2' or 'avx512'; False where it is not there.");

  nb::class_<NativeStructure>(m, "NativeStructure")
      .def(
          "check", [](const NativeStructure& s, nb::dict scores) { parse(s, scores); },
          nb::arg("scores"))
      .def("argmax", &argmax, nb::arg("scores"))
      .def("solve", &solve, nb::arg("scores"))
      .def("beam", &beam, nb::arg("scores"), nb::arg("width"))
      .def("argmax_batch", &argmax_batch, nb::arg("scores"), nb::arg("n"), nb::arg("threads"))
      .def("infer", &infer, nb::arg("scores"), nb::arg("outs"), nb::arg("temperature"),
           nb::arg("by_position"))
      .def("infer_batch", &infer_batch, nb::arg("scores"), nb::arg("outs"), nb::arg("n"),
           nb::arg("temperature"), nb::arg("by_position"), nb::arg("threads"))
      .def("kbest", &kbest, nb::arg("scores"), nb::arg("n"))
      .def("kbest_batch", &kbest_batch, nb::arg("scores"), nb::arg("size"), nb::arg("n"),
           nb::arg("threads"))
      .def("sample", &sample, nb::arg("scores"), nb::arg("n"), nb::arg("temperature"),
           nb::arg("seed"));
  m.def("chain", &make_chain, nb::arg("order"));
  m.def("multiclass", &make_multiclass);
  m.def("semimarkov", &make_semimarkov, nb::arg("max_length"));
  m.def("arborescence", &make_arborescence, nb::arg("projective"), nb::arg("single_root"));
  m.def("spanning_tree", &make_spanning_tree);
  m.def("constituency", &make_constituency);
  m.def("grammar_trees", &make_grammar_trees, nb::arg("symbols"), nb::arg("binary"),
        nb::arg("unary"), nb::arg("chain_ptr"), nb::arg("chain_rule"));
  m.def("spans", &spans_of_rows, nb::arg("structure"), nb::arg("flat"), nb::arg("ptr"));
  m.def("tree", &make_tree, nb::arg("parents"));
  m.def("segments", &segments_of_rows, nb::arg("flat"), nb::arg("ptr"));

  nb::class_<Hypergraph>(m, "Hypergraph")
      .def(
          "__init__",
          [](Hypergraph* self, std::size_t nodes, std::size_t parts, Indices head, Indices tail_ptr,
             Indices tail, Indices part_ptr, Indices part) {
            new (self) Hypergraph(nodes, parts, to_vector(head), to_vector(tail_ptr),
                                  to_vector(tail), to_vector(part_ptr), to_vector(part));
          },
          nb::arg("nodes"), nb::arg("parts"), nb::arg("head"), nb::arg("tail_ptr"), nb::arg("tail"),
          nb::arg("part_ptr"), nb::arg("part"))
      .def(
          "best",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta) {
            Hypergraph::Edges edges;
            const double value = h.best(scores_for(h, theta), edges);
            return nb::make_tuple(value, to_numpy(edges), to_numpy(h.parts_of(edges)));
          },
          nb::arg("theta"))
      .def(
          "infer",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, double eps) {
            std::vector<double> p(h.parts());
            const double value = h.infer(scores_for(h, theta), eps, p.data());
            return nb::make_tuple(value, to_numpy(std::move(p)));
          },
          nb::arg("theta"), nb::arg("temperature"))
      .def(
          "entropy",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, double eps) {
            return h.entropy(scores_for(h, theta), eps);
          },
          nb::arg("theta"), nb::arg("temperature"))
      .def(
          "kbest",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, std::size_t n) {
            nb::list result;
            for (const auto& [value, edges] : h.kbest(scores_for(h, theta), n)) {
              result.append(nb::make_tuple(value, to_numpy(edges), to_numpy(h.parts_of(edges))));
            }
            return result;
          },
          nb::arg("theta"), nb::arg("n"))
      .def(
          "sample",
          [](const Hypergraph& h, Input<double, nb::ndim<1>> theta, std::size_t n, double eps,
             std::uint64_t seed) {
            nb::list result;
            for (const auto& edges : h.sample(scores_for(h, theta), eps, n, seed)) {
              result.append(nb::make_tuple(to_numpy(edges), to_numpy(h.parts_of(edges))));
            }
            return result;
          },
          nb::arg("theta"), nb::arg("n"), nb::arg("temperature"), nb::arg("seed"));
}

}  // namespace structlearn::python
