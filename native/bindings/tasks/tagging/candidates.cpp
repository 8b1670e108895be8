// Learning of taggers whose tokens have a few candidate labels each.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"
#include "bindings/structures/native_structure.hpp"
#include "structures/chains/chain.hpp"
#include "structures/chains/constrained_sequence.hpp"
#include "structures/examples.hpp"
#include "tasks/tagging/candidate_scorer.hpp"

namespace structlearn::python {
namespace {

template <class T>
using Array = Input<T, nb::ndim<1>>;
using History = std::tuple<Array<std::uint64_t>, Array<std::uint32_t>, Array<std::uint32_t>>;
// Of label pairs: sentences, features of each pair, and the rows of pairs by feature.
using Pairs = std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<std::int32_t>,
                         Array<std::uint32_t>, Array<std::uint32_t>>;

template <class T>
std::span<const T> span(const Array<T>& a) {
  return {a.data(), a.size()};
}

TokenFeatures token_features(const Array<std::int64_t>& sentence, const Array<std::int64_t>& begin,
                             const Array<std::int32_t>& feature,
                             const std::optional<Array<double>>& value, std::size_t features) {
  TokenFeatures t{span(sentence), span(begin), feature.data(), value ? value->data() : nullptr};
  if (begin.size() == 0 || sentence.size() == 0 ||
      static_cast<std::size_t>(t.begin.back()) != feature.size() ||
      static_cast<std::size_t>(t.sentence.back()) != t.tokens() ||
      (value && value->size() != feature.size())) {
    throw std::invalid_argument("the features of the tokens do not fit together");
  }
  for (const std::int32_t f : span(feature)) {
    if (f < 0 || static_cast<std::size_t>(f) >= features) {
      throw std::invalid_argument("a feature that does not exist");
    }
  }
  return t;
}

void check_rows(const Array<std::uint32_t>& row_ptr, const Array<std::uint32_t>& column,
                std::size_t labels) {
  const auto rows = span(row_ptr);
  const auto columns = span(column);
  if (rows.empty() || rows.back() != columns.size() || !std::is_sorted(rows.begin(), rows.end())) {
    throw std::invalid_argument("rows and columns do not fit together");
  }
  if (std::any_of(columns.begin(), columns.end(), [&](std::uint32_t k) { return k >= labels; })) {
    throw std::invalid_argument("a label that does not exist");
  }
}

void check_candidates(const Array<std::uint16_t>& candidates, std::size_t tokens, std::size_t width,
                      std::size_t labels) {
  if (width == 0 || width > 255 || width > labels || candidates.size() != tokens * width) {
    throw std::invalid_argument("the number of candidates");
  }
  for (const Candidate k : span(candidates)) {
    if (k >= labels) throw std::invalid_argument("a candidate that does not exist");
  }
}

std::unique_ptr<PyProblem> candidate_problem(
    nb::object structure, Array<std::int64_t> sentence, Array<std::int64_t> begin,
    Array<std::int32_t> feature, std::optional<Array<double>> value,
    Array<std::uint16_t> candidates, std::size_t width, std::size_t labels,
    Array<std::uint32_t> row_ptr, Array<std::uint32_t> column, std::vector<History> windows,
    std::optional<Pairs> pairs, Array<std::uint8_t> forbidden) {
  check_rows(row_ptr, column, labels);
  const TokenFeatures tokens = token_features(sentence, begin, feature, value, row_ptr.size() - 1);
  check_candidates(candidates, tokens.tokens(), width, labels);
  const std::size_t start = column.size(), end = start + labels;
  std::size_t weights = end + labels;
  std::vector<CandidateScorer::Windows> read;
  for (const auto& [history, rows, columns] : windows) {
    check_rows(rows, columns, labels);
    if (history.size() + 1 != rows.size()) throw std::invalid_argument("a history without a row");
    read.push_back({HistoryIndex(span(history)),
                    IndexedRows(span(rows), columns.data(), weights, labels, width)});
    weights += columns.size();
  }
  std::optional<PairFeatures> of_pairs;
  if (pairs) {
    const auto& [sites, first, features, rows, columns] = *pairs;
    if (read.size() != 1 || sites.size() != sentence.size()) {
      throw std::invalid_argument("features of label pairs need order 1");
    }
    check_rows(rows, columns, labels * labels);
    of_pairs = PairFeatures{token_features(sites, first, features, {}, rows.size() - 1), span(rows),
                            columns.data(), weights};
    weights += columns.size();
    for (std::size_t i = 0; i + 1 < sites.size(); ++i) {
      const std::int64_t L = tokens.sentence[i + 1] - tokens.sentence[i];
      if (sites.data()[i + 1] - sites.data()[i] != std::max<std::int64_t>(L - 1, 0)) {
        throw std::invalid_argument("one pair less than tokens in each sentence");
      }
    }
  }
  auto scorer = std::make_shared<CandidateScorer>(
      tokens, span(candidates), width, labels,
      IndexedRows(span(row_ptr), column.data(), 0, labels, width), start, end, std::move(read),
      of_pairs, ForbiddenLabels(span(forbidden), labels), weights);
  const auto& native = nb::cast<NativeStructure&>(structure).structure;
  if (dynamic_cast<const ConstrainedSequence*>(native.get()) != nullptr) scorer->name_labels();
  auto oracle = std::make_shared<StructureOracle>(native);
  auto made = std::make_unique<PyProblem>(structure, scorer, oracle, Gold{}, Cost{}, nb::none());
  made->native = oracle;
  made->label_ptr = scorer->sentences();
  for (nb::handle kept :
       {nb::cast(sentence), nb::cast(begin), nb::cast(feature), nb::cast(candidates),
        nb::cast(row_ptr), nb::cast(column), nb::cast(forbidden)}) {
    made->keep.push_back(nb::borrow(kept));
  }
  if (pairs) {
    std::apply([&](const auto&... kept) { (made->keep.push_back(nb::cast(kept)), ...); }, *pairs);
  }
  if (value) made->keep.push_back(nb::cast(*value));
  for (const auto& [history, rows, columns] : windows) {
    made->keep.push_back(nb::cast(rows));
    made->keep.push_back(nb::cast(columns));
  }
  return made;
}

// The best labels of every token by the scores of a problem of single labels, in sequences that are
// not forbidden; the gold label and that of one best sequence are among them.
nb::object best_candidates(const PyProblem& self, Array<double> w, std::size_t width,
                           Array<std::int32_t> gold, Array<std::uint8_t> bits,
                           std::size_t threads) {
  const double* weights = self.weights(w);
  const Scorer& scorer = self.problem->scorer();
  std::vector<std::size_t> first{0};
  for (std::size_t i = 0; i < scorer.examples(); ++i) {
    const Layout layout = scorer.layout(i);
    if (width > layout.block[Chain::kLabel].outcomes || width > 255) {
      throw std::invalid_argument("more candidates than labels");
    }
    first.push_back(first.back() + layout.block[Chain::kLabel].sites);
  }
  const ForbiddenLabels forbidden(
      span(bits), first.size() > 1 ? scorer.layout(0).block[Chain::kLabel].outcomes : 0);
  if (gold.size() != first.back()) throw std::invalid_argument("one gold label for each token");
  std::vector<Candidate> out(first.back() * width);
  interruptible([&](Interrupt& interrupt) {
    for_examples(scorer.examples(), threads, 16, interrupt, [&](std::size_t i, Workspace& ws) {
      enum Scratch { kTheta };
      const Layout layout = scorer.layout(i);
      const Block& label = layout.block[Chain::kLabel];
      double* theta = ws.real(kTheta, layout.parts);
      scorer.score(i, layout, weights, 1.0, theta);
      const auto path = forbidden.spread(label.sites, theta + label.offset);
      for (std::size_t t = 0; t < label.sites; ++t) {
        best_labels(theta + label.offset + t * label.outcomes, label.outcomes, width,
                    {gold.data()[first[i] + t], path[t]}, out.data() + (first[i] + t) * width);
      }
    });
  });
  return nb::cast(to_numpy(std::move(out)));
}

}  // namespace

void bind_candidates(nb::module_& m) {
  m.def("candidate_problem", &candidate_problem, nb::arg("structure"), nb::arg("sentence"),
        nb::arg("begin"), nb::arg("feature"), nb::arg("value").none(), nb::arg("candidates"),
        nb::arg("width"), nb::arg("labels"), nb::arg("row_ptr"), nb::arg("column"),
        nb::arg("windows"), nb::arg("pairs").none(), nb::arg("forbidden"));
  m.def("best_candidates", &best_candidates, nb::arg("problem"), nb::arg("w"), nb::arg("width"),
        nb::arg("gold"), nb::arg("forbidden"), nb::arg("threads"));
  m.def(
      "candidate_pairs",
      [](Array<std::int64_t> sentence, Array<std::int64_t> begin, Array<std::int32_t> feature,
         Array<std::uint16_t> candidates, std::size_t width, Array<std::uint32_t> row_ptr,
         Array<std::uint32_t> column, std::size_t labels, std::size_t fill) {
        check_rows(row_ptr, column, labels);
        const TokenFeatures tokens =
            token_features(sentence, begin, feature, {}, row_ptr.size() - 1);
        check_candidates(candidates, tokens.tokens(), width, labels);
        LabelRows rows = candidate_pairs(tokens, span(candidates), width, span(row_ptr),
                                         span(column), labels, fill);
        return nb::make_tuple(to_numpy(std::move(rows.row_ptr)), to_numpy(std::move(rows.column)));
      },
      nb::arg("sentence"), nb::arg("begin"), nb::arg("feature"), nb::arg("candidates"),
      nb::arg("width"), nb::arg("row_ptr"), nb::arg("column"), nb::arg("labels"), nb::arg("fill"));
}

}  // namespace structlearn::python
