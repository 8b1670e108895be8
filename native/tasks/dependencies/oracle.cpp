#include "tasks/dependencies/oracle.hpp"

#include "tasks/dependencies/part_scorer.hpp"

namespace structlearn::parsing {

DependencyOracle::Borrowed DependencyOracle::borrow() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    return std::make_unique<Scratch>(
        Scratch{Decoder(projective_, iterations_), TreeSearch(projective_), {}, {}, {}, {}});
  }
  Borrowed scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void DependencyOracle::give_back(Borrowed scratch) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(scratch));
}

Decoded DependencyOracle::best(std::size_t i, const Layout& layout, const double* theta,
                               Scratch& scratch) const {
  const Parts& parts = examples_->parts(i);
  best_labels(theta, parts.arcs(), examples_->width(), scratch.arc, scratch.label);
  const PartScores scores{scratch.arc.data(), theta + layout.block[ParseExamples::kSibling].offset,
                          theta + layout.block[ParseExamples::kGrand].offset};
  return scratch.decoder.decode(parts, scores, scratch.heads);
}

double DependencyOracle::infer(std::size_t i, const Layout& layout, const double* theta, double eps,
                               PartVector& p, Workspace&) const {
  Borrowed scratch = borrow();
  double value;
  if (eps > 0.0) {
    value = sums(i, theta, eps, p, *scratch);
  } else {
    const Decoded found = best(i, layout, theta, *scratch);
    value = found.value;
    p.clear(false);
    if (value != kMinusInfinity) {
      if (!found.exact) ++inexact_;
      examples_->encode(i, scratch->heads, scratch->label, p.index);
      p.value.assign(p.index.size(), 1.0);
    }
  }
  give_back(std::move(scratch));
  return value;
}

double DependencyOracle::sums(std::size_t i, const double* theta, double eps, PartVector& p,
                              Scratch& scratch) const {
  const LabelledParts labelled{examples_->parts(i), examples_->width(), theta};
  p.clear(true);
  if (!examples_->second_order()) {
    return scratch.trees.labelled_sums(labelled.parts, labelled.width, theta, eps, p.value);
  }
  if (!projective_) {
    throw Incapable(
        "temperature > 0 needs a parser of order 1 or of projective trees: there are no exact sums "
        "over other trees with scores of pairs of arcs. What works at order 2 without "
        "projective=True: temperature 0");
  }
  const double value = scratch.pairs.fill(labelled, eps);
  scratch.pairs.marginals(p.value);
  return value;
}

double DependencyOracle::missed(std::size_t i, const Layout& layout, const double* theta,
                                Workspace&) const {
  Borrowed scratch = borrow();
  const Decoded found = best(i, layout, theta, *scratch);
  give_back(std::move(scratch));
  return found.exact ? 0.0 : found.bound - found.value;
}

double DependencyOracle::runner_up(std::size_t, const Layout&, const double*,
                                   std::span<const std::uint32_t>, PartVector&, Workspace&) const {
  throw Incapable(
      "a parser does not look for the second best tree, which the zero-one cost needs. What works: "
      "its own cost, of wrong heads and relations");
}

Violation DependencyOracle::violation(std::size_t, const Layout&, const double*,
                                      std::span<const std::uint32_t>, const BeamSettings&,
                                      Workspace&) const {
  throw Incapable("a parser has no beam search. What works: exact inference");
}

}  // namespace structlearn::parsing
