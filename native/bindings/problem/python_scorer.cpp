#include "bindings/problem/python_scorer.hpp"

#include <stdexcept>
#include <string>

namespace structlearn::python {
namespace {

// What a method of the scorer returned, which must have this many values.
Input<double, nb::ndim<1>> values_of(nb::object found, std::size_t n, const char* method,
                                     std::size_t example) {
  Input<double, nb::ndim<1>> values;
  if (!nb::try_cast(found, values, false) || values.size() != n) {
    throw std::invalid_argument("example " + std::to_string(example) + ": the scorer's " + method +
                                " must return an array of " + std::to_string(n) +
                                " numbers of 64 bits");
  }
  return values;
}

}  // namespace

PythonScorer::PythonScorer(nb::object scorer, std::size_t weights, nb::list layouts)
    : scorer_(std::move(scorer)), weights_(weights), site_ptr_(1, 0) {
  for (nb::handle blocks : layouts) {
    Layout layout;
    std::size_t b = 0;
    for (nb::handle block : nb::cast<nb::list>(blocks)) {
      if (b == kMaxBlocks) throw std::invalid_argument("an example has too many blocks");
      layout.add(b++, nb::cast<std::size_t>(block[0]), nb::cast<std::size_t>(block[1]), true);
    }
    if (layout.parts > UINT32_MAX) throw std::invalid_argument("an example has too many parts");
    layouts_.push_back(layout);
    site_ptr_.push_back(site_ptr_.back() + static_cast<std::int64_t>(layout.block[0].sites));
  }
}

void PythonScorer::score(std::size_t i, const Layout& layout, Weights w, double scale,
                         double* theta) const {
  nb::gil_scoped_acquire gil;
  std::vector<double> copy(weights_);
  for (std::size_t q = 0; q < weights_; ++q) {
    copy[q] = w.wide != nullptr ? w.wide[q] : static_cast<double>(w.narrow[q]);
  }
  const auto found =
      values_of(scorer_.attr("score")(i, to_numpy(std::move(copy))), layout.parts, "score", i);
  for (std::size_t j = 0; j < layout.parts; ++j) theta[j] = scale * found.data()[j];
}

void PythonScorer::gather(std::size_t i, const Layout&, const PartVector& v, WeightEntries& out,
                          double) const {
  nb::gil_scoped_acquire gil;
  nb::object index = v.dense ? nb::none() : nb::cast(to_numpy(std::vector(v.index)));
  const auto found = values_of(scorer_.attr("gather")(i, index, to_numpy(std::vector(v.value))),
                               weights_, "gather", i);
  for (std::size_t q = 0; q < weights_; ++q) {
    if (found.data()[q] != 0.0) out.emplace_back(q, found.data()[q]);
  }
}

}  // namespace structlearn::python
