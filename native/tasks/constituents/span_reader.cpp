#include "tasks/constituents/span_reader.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "problem/problem.hpp"

namespace structlearn::text {
namespace {

constexpr std::size_t kMostForSums = std::size_t{4} << 30;  // of the sums over all trees

void check_sums(std::size_t n, std::size_t labels) {
  // Scores and marginals of five blocks and eight charts.
  if (18 * spans_of(n) * labels * sizeof(double) > kMostForSums) {
    throw std::invalid_argument("a sentence of " + std::to_string(n) +
                                " words: sums over its trees would take gigabytes");
  }
}

}  // namespace

const Scored& SpanReader::scores(std::size_t sentence, Purpose purpose) {
  scored_.structure = &trees_;
  scored_.layout = scorer_.layout(sentence);
  if (purpose == Purpose::kSums) check_sums(words(), model_.sizes.labels);
  theta_.resize(scored_.layout.parts);
  scorer_.score(sentence, scored_.layout, model_.weights.data(), 1.0, theta_.data());
  scored_.scores = scores_of(scored_.layout, theta_.data());
  scored_.parts = theta_.data() + scored_.layout.block[kNode].offset;
  return scored_;
}

void SpanReader::to_model(Output& y) const {
  std::vector<LabelledSpan> spans;
  trees_.spans(y, spans);
  y = row_of_spans(spans);
}

bool SpanReader::to_structure(Output& y) const {
  std::vector<LabelledSpan> spans = spans_of_row(y);
  if (tree_fault(spans, words(), model_.sizes) != nullptr) return false;
  y = tree_of_spans(spans, words());
  return true;
}

void SpanReader::to_names(std::vector<double>& p) const {
  const std::size_t R = model_.sizes.labels, N = model_.n_names;
  std::vector<double> named(p.size() / R * N, 0.0);
  for (std::size_t q = 0; q < p.size(); ++q) {
    if (p[q] == 0.0) continue;
    for (const std::uint32_t name : model_.names[q % R]) named[q / R * N + name] += p[q];
  }
  p = std::move(named);
}

std::vector<Part> SpanReader::parts(const Output& y) const {
  std::vector<Part> named;
  for (const LabelledSpan& s : spans_of_row(y)) {
    if (s.label < 0 || static_cast<std::size_t>(s.label) >= model_.names.size()) continue;
    for (const std::uint32_t name : model_.names[static_cast<std::size_t>(s.label)]) {
      named.push_back({s.begin, s.end, static_cast<std::int32_t>(name)});
    }
  }
  return named;
}

Part SpanReader::part(std::size_t site, std::size_t name) const {
  const auto [i, j] = span_of_site(words(), site);
  return {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
          static_cast<std::int32_t>(name)};
}

std::size_t SpanReader::find(const Part& part) const {
  const std::size_t n = words();
  const auto i = static_cast<std::size_t>(part.begin), j = static_cast<std::size_t>(part.end),
             name = static_cast<std::size_t>(part.label);
  if (i >= j || j > n || name >= model_.n_names) return kNowhere;
  return span_site(n, i, j) * model_.n_names + name;
}

void SpanReader::forbid(const Scored& scored, const Part& part) const {
  const std::size_t n = words(), R = model_.sizes.labels;
  const auto i = static_cast<std::size_t>(part.begin), j = static_cast<std::size_t>(part.end);
  if (i >= j || j > n) return;
  double* row = scored.parts + span_site(n, i, j) * R;
  for (std::size_t label = 0; label < R; ++label) {
    for (const std::uint32_t name : model_.names[label]) {
      if (static_cast<std::int32_t>(name) == part.label) row[label] = kMinusInfinity;
    }
  }
}

}  // namespace structlearn::text
