#include "models/string_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {

void check_size(std::span<const double> table, std::size_t size, const std::string& name) {
  if (!table.empty() && table.size() != size) {
    throw std::invalid_argument(name + " has " + std::to_string(table.size()) + " scores, not " +
                                std::to_string(size));
  }
  for (const double x : table) {
    if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) {
      throw std::invalid_argument(name + " has a score that is neither finite nor -inf");
    }
  }
}

}  // namespace

StringChain::StringChain(StringChainWeights weights) : weights_(weights) {
  const StringChainWeights& w = weights_;
  if (w.labels == 0) throw std::invalid_argument("a model without labels");
  if (w.order > Chain::kMaxOrder) throw std::invalid_argument("the order is too high");
  if (w.row_ptr.size() != w.features + 1 || w.row_ptr.front() != 0 ||
      w.row_ptr.back() != w.weight.size() || w.column.size() != w.weight.size() ||
      !std::is_sorted(w.row_ptr.begin(), w.row_ptr.end())) {
    throw std::invalid_argument("the weights of features do not fit together");
  }
  for (std::size_t f = 0; f < w.features; ++f) {
    const std::uint32_t begin = w.row_ptr[f], end = w.row_ptr[f + 1];
    for (std::uint32_t q = begin; q < end; ++q) {
      if (w.column[q] >= w.labels || (q > begin && w.column[q] <= w.column[q - 1])) {
        throw std::invalid_argument("the labels of a feature are not in order");
      }
    }
  }
  if (!std::all_of(w.weight.begin(), w.weight.end(), [](double x) { return std::isfinite(x); })) {
    throw std::invalid_argument("the weights must be finite");
  }
  check_size(w.mask, w.labels, "mask");
  check_size(w.start, w.labels, "start");
  check_size(w.end, w.labels, "end");
  std::size_t size = w.labels;
  for (std::size_t m = 1; m <= Chain::kMaxOrder; ++m) {
    if (size > (std::size_t{1} << 40) / w.labels) size = 0;  // larger than any table
    size *= w.labels;
    check_size(w.transition[m - 1], size, "transition" + std::to_string(m));
    const bool empty = w.transition[m - 1].empty();
    if (m == w.order ? empty : m > w.order && !empty) {
      throw std::invalid_argument("the highest transition is not that of the order");
    }
  }
}

StringChainReader::StringChainReader(const StringChain& model, const text::NamedRows& rows)
    : model_(model), rows_(rows) {}

const Scored& StringChainReader::scores(std::size_t example, Purpose) {
  const StringChainWeights& w = model_.weights();
  const std::size_t first = rows_.first[example], L = rows_.tokens(example), K = w.labels;
  if (theta_.size() < L * K) theta_.resize(L * K);
  const auto score_site = kernels().score_site;
  for (std::size_t t = 0; t < L; ++t) {
    const std::size_t begin = rows_.begin(first + t), n = rows_.end[first + t] - begin;
    double* theta = theta_.data() + t * K;
    score_site(rows_.id.data() + begin, rows_.value.empty() ? nullptr : rows_.value.data() + begin,
               n, w.row_ptr.data(), w.column.data(), w.weight.data(), theta, K);
    for (std::size_t k = 0; k < w.mask.size(); ++k) theta[k] += w.mask[k];
  }
  scored_.structure = &chain_;
  scored_.layout = {};
  scored_.scores = {};
  const auto add = [&](std::size_t block, std::span<const double> table) {
    if (table.empty()) return;
    scored_.layout.add(block, 1, table.size(), false);
    scored_.scores.block[block] = table.data();
  };
  scored_.layout.add(Chain::kLabel, L, K, true);
  scored_.scores.block[Chain::kLabel] = scored_.parts = theta_.data();
  add(Chain::kStart, w.start);
  add(Chain::kEnd, w.end);
  for (std::size_t m = 1; m <= w.order; ++m) add(Chain::transition(m), w.transition[m - 1]);
  return scored_;
}

bool StringChainReader::to_structure(Output& y) const {
  const auto K = static_cast<std::int32_t>(model_.labels());
  return y.size() == scored_.layout.block[Chain::kLabel].sites &&
         std::all_of(y.begin(), y.end(), [K](std::int32_t k) { return 0 <= k && k < K; });
}

std::vector<Part> StringChainReader::parts(const Output& y) const {
  std::vector<Part> labelled;
  for (std::size_t t = 0; t < y.size(); ++t)
    labelled.push_back(part(t, static_cast<std::size_t>(y[t])));
  return labelled;
}

Part StringChainReader::part(std::size_t token, std::size_t label) const {
  const auto at = static_cast<std::int32_t>(token);
  return {at, at + 1, static_cast<std::int32_t>(label)};
}

std::size_t StringChainReader::find(const Part& part) const {
  const auto token = static_cast<std::size_t>(part.begin), K = model_.labels();
  const auto label = static_cast<std::size_t>(part.label);
  if (token >= scored_.layout.block[Chain::kLabel].sites || label >= K) return kNowhere;
  return token * K + label;
}

}  // namespace structlearn
