#include "bindings/structures/scores.hpp"

#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

#include "bindings/array_view.hpp"
#include "numeric/kernels.hpp"

namespace structlearn::python {
namespace {

using Doubles = ArrayView<double>;

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

// The same for a block of a structure, which may leave sites unread.
void check_block(const Structure& structure, const Layout& layout, const BlockName& spec,
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
  const bool listed = !out.layout.topology.empty() && a.ndim() == 1;  // those of the topology
  bool square = listed || labelled || a.ndim() == spec.node_axes;
  std::size_t sites = listed ? a.shape(0) : 1;
  for (std::size_t i = 0; square && !listed && i < spec.node_axes; ++i) {
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
  if (look) check_block(*s.structure, out.layout, spec, a.data(), example);
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
  if (look) check_block(*s.structure, out.layout, spec, a.data(), example);
  out.looked_at[spec.block] = look;
  out.scores.block[spec.block] = a.data();
}

const char* key_text(nb::handle key) {
  const char* name = PyUnicode_AsUTF8(key.ptr());
  if (name == nullptr) throw nb::python_error();
  return name;
}

const BlockName& find_block(const NativeStructure& s, nb::handle key) {
  const char* name = key_text(key);
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

// What is given by block, and what is said of the topology.
struct Given {
  std::array<nb::handle, kMaxBlocks> block{};
  nb::handle topology;

  Given(const NativeStructure& s, nb::dict scores) {
    for (auto [key, value] : scores) {
      const bool is_topology = !s.topology.empty() && s.topology == key_text(key);
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

}  // namespace

void check_values(const double* x, std::size_t n, const std::string& name, std::ptrdiff_t example) {
  if (!kernels().all_scores(x, n)) {
    throw std::invalid_argument(where(example) + name +
                                " contains NaN or +inf; scores are finite, or -inf to forbid");
  }
}

[[noreturn]] void nothing_legal(std::ptrdiff_t example) {
  throw Infeasible(where(example) + "no legal output is left: every output scores -inf");
}

void check_sum(double value, std::ptrdiff_t example) {
  if (value == kMinusInfinity) nothing_legal(example);
  if (!(value < std::numeric_limits<double>::infinity())) {
    throw std::invalid_argument(where(example) +
                                "the scores are too large: sums of them are not finite");
  }
}

Parsed parse(const NativeStructure& s, nb::dict scores, std::ptrdiff_t example) {
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

void check_example(const NativeStructure& s, const Parsed& p, std::size_t example) {
  for (const BlockName& b : s.blocks) {
    if (p.scores.block[b.block] != nullptr && !p.looked_at[b.block]) {
      check_block(*s.structure, p.layout, b, p.scores.block[b.block],
                  static_cast<std::ptrdiff_t>(example));
    }
  }
}

Marginals outputs(const NativeStructure& s, nb::dict outs, bool by_position,
                  std::ptrdiff_t example) {
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

}  // namespace structlearn::python
