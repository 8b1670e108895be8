#include "bindings/structures/outputs.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bindings/array_view.hpp"
#include "structures/trees/constituency.hpp"

namespace structlearn::python {
namespace {

using Integers = Input<std::int64_t, nb::ndim<1>>;

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

nb::object array_of(std::span<const std::int32_t> y) {
  nb::object array = empty_integers(y.size());
  const ArrayView<std::int64_t> out(array, "the output", true);
  std::copy(y.begin(), y.end(), out.data());
  return array;
}

// What `read` makes of many rows, one after another: row r is flat[ptr[r]..ptr[r + 1]].
template <class Read>
nb::list each_row(const Integers& flat, const Integers& ptr, Read&& read) {
  nb::list rows;
  for (std::size_t r = 0; r + 1 < ptr.size(); ++r) {
    const std::int64_t begin = ptr.data()[r], end = ptr.data()[r + 1];
    if (begin < 0 || begin > end || static_cast<std::size_t>(end) > flat.size()) {
      throw std::invalid_argument("a row that does not exist");
    }
    rows.append(read(std::span<const std::int64_t>(flat.data() + begin, flat.data() + end)));
  }
  return rows;
}

}  // namespace

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

void bind_outputs(nb::module_& m) {
  m.def(
      "spans",
      [](const NativeStructure& s, Integers flat, Integers ptr) {
        if (s.kind != OutputKind::kSpans) throw std::invalid_argument("these outputs are no spans");
        return each_row(flat, ptr, [&](auto row) { return spans<std::int64_t>(s, row); });
      },
      nb::arg("structure"), nb::arg("flat"), nb::arg("ptr"));
  m.def(
      "segments",
      [](Integers flat, Integers ptr) {
        return each_row(flat, ptr, [](auto row) { return segments<std::int64_t>(row); });
      },
      nb::arg("flat"), nb::arg("ptr"));
}

}  // namespace structlearn::python
