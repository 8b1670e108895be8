#include "tasks/dependencies/dependency_trees.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/softmax.hpp"
#include "structures/trees/arc_scores.hpp"
#include "structures/trees/edmonds.hpp"
#include "structures/trees/eisner.hpp"
#include "structures/trees/kbest_trees.hpp"
#include "structures/trees/matrix_tree.hpp"
#include "structures/trees/projective_sums.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/part_scorer.hpp"

namespace structlearn::parsing {
namespace {

const Parts& parts_of(const Layout& layout) {
  return static_cast<const Parts&>(*layout.shape);
}

LabelledParts labelled(const Layout& layout, const Scores& scores) {
  return {parts_of(layout), layout.block[DependencyTrees::kArc].outcomes,
          scores.block[DependencyTrees::kArc], scores.block[DependencyTrees::kSibling],
          scores.block[DependencyTrees::kGrand]};
}

}  // namespace

struct DependencyTrees::Scratch {
  Decoder decoder;
  ProjectiveSearch search;
  ProjectiveSums sums;
  std::vector<double> best, share;      // of each arc: the score of its best label; by label
  std::vector<double> dense, marginal;  // of all arcs, -inf or 0 where there is none
  std::vector<std::uint16_t> label;
  std::vector<std::int32_t> heads;

  // The scores of arcs without their labels, made by of(arc), as a matrix of n + 1 rows.
  template <class Of>
  const double* spread(const Parts& parts, Of&& of) {
    const auto width = static_cast<std::size_t>(parts.n) + 1;
    dense.assign(width * width, kMinusInfinity);
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      dense[parts.head[a] * width + parts.word[a]] = of(a);
    }
    return dense.data();
  }
  // Those summed over labels, of which each has its share.
  const double* summed(const LabelledParts& given, double eps, double* shares) {
    return spread(given.parts, [&](std::size_t a) {
      return softmax(given.label + a * given.width, given.width, eps, shares + a * given.width);
    });
  }
};

class DependencyTrees::Borrowed {
 public:
  explicit Borrowed(const DependencyTrees& trees) : trees_(trees) {
    const std::lock_guard<std::mutex> lock(trees.mutex_);
    if (trees.free_.empty()) {
      scratch_.reset(new Scratch{
          Decoder(trees.projective_, trees.iterations_), {}, {}, {}, {}, {}, {}, {}, {}});
      return;
    }
    scratch_ = std::move(trees.free_.back());
    trees.free_.pop_back();
  }
  Borrowed(const Borrowed&) = delete;
  ~Borrowed() {
    const std::lock_guard<std::mutex> lock(trees_.mutex_);
    trees_.free_.push_back(std::move(scratch_));
  }
  Scratch* operator->() const { return scratch_.get(); }

 private:
  const DependencyTrees& trees_;
  std::unique_ptr<Scratch> scratch_;
};

DependencyTrees::DependencyTrees(bool projective, int iterations)
    : projective_(projective), iterations_(iterations) {}
DependencyTrees::~DependencyTrees() = default;

Layout DependencyTrees::layout(const Parts& parts, std::size_t width) {
  Layout layout;
  layout.add(kArc, parts.arcs(), width, true);
  if (parts.second_order) {
    layout.add(kSibling, parts.siblings(), 1, true);
    layout.add(kGrand, parts.grands(), 1, true);
  }
  layout.shape = std::shared_ptr<const Shape>(std::shared_ptr<void>(), &parts);
  return layout;
}

void DependencyTrees::check(const Layout& layout) const {
  const auto* parts = dynamic_cast<const Parts*>(layout.shape.get());
  if (parts == nullptr || layout.block[kArc].sites != parts->arcs() ||
      layout.block[kSibling].size() != parts->siblings() ||
      layout.block[kGrand].size() != parts->grands()) {
    throw std::invalid_argument("the blocks are not those of the sentence's parts");
  }
}

bool DependencyTrees::contains(const Layout& layout, std::span<const std::int32_t> y) const {
  const Parts& parts = parts_of(layout);
  const auto n = static_cast<std::size_t>(parts.n), width = layout.block[kArc].outcomes;
  if (y.size() != 2 * n) return false;
  std::vector<std::int32_t> heads(n + 1, -1);
  for (std::size_t m = 1; m <= n; ++m) {
    heads[m] = y[m - 1];
    const std::int32_t label = y[n + m - 1];
    if (label < 0 || static_cast<std::size_t>(label) >= width) return false;
    if (parts.find(heads[m], static_cast<int>(m)) == Parts::kNone) return false;
  }
  return is_tree(heads) && (!projective_ || is_projective(heads));
}

double DependencyTrees::argmax(const Layout& layout, const Scores& scores, Output& y,
                               Workspace& ws) const {
  return solve(layout, scores, y, ws).value;
}

Solved DependencyTrees::solve(const Layout& layout, const Scores& scores, Output& y,
                              Workspace&) const {
  const LabelledParts given = labelled(layout, scores);
  const Parts& parts = given.parts;
  const Borrowed scratch(*this);
  best_labels(given.label, parts.arcs(), given.width, scratch->best, scratch->label);
  const Solved solved = scratch->decoder.decode(
      parts, {scratch->best.data(), given.sibling, given.grand}, scratch->heads);
  y.clear();
  if (solved.value == kMinusInfinity) return solved;
  y.assign(scratch->heads.begin() + 1, scratch->heads.end());
  for (int m = 1; m <= parts.n; ++m) {
    y.push_back(scratch->label[parts.find(y[static_cast<std::size_t>(m) - 1], m)]);
  }
  return solved;
}

void DependencyTrees::check_sums(const Parts& parts) const {
  if (parts.second_order && !projective_) {
    throw Incapable(
        "temperature > 0 needs a parser of order 1 or of projective trees: there are no exact sums "
        "over other trees with scores of pairs of arcs. What works at order 2 without "
        "projective=True: temperature 0");
  }
}

double DependencyTrees::infer(const Layout& layout, const Scores& scores, double eps,
                              const Marginals& out, Workspace&) const {
  const LabelledParts given = labelled(layout, scores);
  const Parts& parts = given.parts;
  check_sums(parts);
  const Borrowed scratch(*this);
  double* const p = out.block[kArc];
  if (parts.second_order) {
    const double value = scratch->sums.fill(given, eps);
    if (p != nullptr) scratch->sums.marginals(p, out.block[kSibling], out.block[kGrand]);
    return value;
  }
  scratch->share.resize(layout.block[kArc].size());
  double* const share = p == nullptr ? scratch->share.data() : p;
  const double* arc = scratch->summed(given, eps, share);
  const auto n = static_cast<std::size_t>(parts.n), width = n + 1;
  scratch->marginal.assign(width * width, 0.0);
  double* const marginal = p == nullptr ? nullptr : scratch->marginal.data();
  const double value = projective_ ? sum_projective(arc, nullptr, n, true, eps, marginal, nullptr)
                                   : sum_arborescences(arc, n, true, eps, marginal);
  for (std::size_t a = 0; a < parts.arcs() && p != nullptr; ++a) {
    const double mass = marginal[parts.head[a] * width + parts.word[a]];
    for (std::size_t j = a * given.width; j < (a + 1) * given.width; ++j) p[j] *= mass;
  }
  return value;
}

std::optional<double> DependencyTrees::exact_entropy(const Layout& layout, const Scores& scores,
                                                     double eps, Workspace&) const {
  const LabelledParts given = labelled(layout, scores);
  const Parts& parts = given.parts;
  check_sums(parts);
  const Borrowed scratch(*this);
  if (parts.second_order) {
    scratch->sums.fill(given, eps);
    std::vector<double> p(layout.parts);
    return scratch->sums.marginals(p.data(), p.data() + layout.block[kSibling].offset,
                                   p.data() + layout.block[kGrand].offset);
  }
  best_labels(given.label, parts.arcs(), given.width, scratch->best, scratch->label);
  const double* arc = scratch->spread(parts, [&](std::size_t a) { return scratch->best[a]; });
  const auto n = static_cast<std::size_t>(parts.n), width = n + 1;
  std::vector<Open> labels(width * width);
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    if (scratch->best[a] == kMinusInfinity) continue;
    labels[parts.head[a] * width + parts.word[a]] =
        openness_of_labels(given.label + a * given.width, given.width, eps);
  }
  return projective_ ? entropy_of_projective(arc, nullptr, labels.data(), n, true, eps)
                     : entropy_of_arborescences(arc, labels.data(), n, true, eps);
}

void DependencyTrees::encode(const Layout& layout, std::span<const std::int32_t> y,
                             std::vector<std::uint32_t>& out) const {
  const Parts& parts = parts_of(layout);
  const auto n = static_cast<std::size_t>(parts.n);
  if (y.size() != 2 * n) throw std::invalid_argument("a tree has a head and a label a word");
  const auto add = [&](std::size_t part) { out.push_back(static_cast<std::uint32_t>(part)); };
  std::vector<std::int32_t> heads(n + 1, -1);
  for (std::size_t m = 1; m <= n; ++m) {
    const std::uint32_t a = parts.find(heads[m] = y[m - 1], static_cast<int>(m));
    if (a == Parts::kNone) throw std::invalid_argument("the tree has an arc that was left out");
    add(a * layout.block[kArc].outcomes + static_cast<std::size_t>(y[n + m - 1]));
  }
  if (!parts.second_order) return;
  const std::size_t sibling = layout.block[kSibling].offset, grand = layout.block[kGrand].offset;
  parts.for_second_order(
      heads, [&](int, int, int, std::size_t j) { add(sibling + j); },
      [&](int, int, int, std::size_t j) { add(grand + j); });
}

std::vector<std::pair<double, Output>> DependencyTrees::kbest(const Layout& layout,
                                                              const Scores& scores, std::size_t k,
                                                              Workspace& ws) const {
  const LabelledParts given = labelled(layout, scores);
  const Parts& parts = given.parts;
  check_sums(parts);
  const Borrowed scratch(*this);
  if (parts.second_order) return scratch->search.kbest(given, k);
  best_labels(given.label, parts.arcs(), given.width, scratch->best, scratch->label);
  const double* arc = scratch->spread(parts, [&](std::size_t a) { return scratch->best[a]; });
  const auto n = static_cast<std::size_t>(parts.n), width = n + 1;
  std::vector<double> dense(width * width * given.width, kMinusInfinity);
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    std::copy_n(given.label + a * given.width, given.width,
                &dense[(parts.head[a] * width + parts.word[a]) * given.width]);
  }
  const ArcScores arcs{dense.data(), arc, n, given.width};
  if (projective_) return kbest_projective(arcs, nullptr, true, k, ws);
  return kbest_trees(arcs, k, [&](const double* some, std::int32_t* heads) {
    return best_arborescence(some, n, true, heads, ws);
  });
}

std::vector<Output> DependencyTrees::sample(const Layout& layout, const Scores& scores, double eps,
                                            std::size_t count, std::uint64_t seed,
                                            Workspace&) const {
  const LabelledParts given = labelled(layout, scores);
  const Parts& parts = given.parts;
  check_sums(parts);
  const Borrowed scratch(*this);
  std::vector<Output> drawn;
  if (parts.second_order) {
    if (scratch->sums.fill(given, eps) == kMinusInfinity) return drawn;
    for (std::size_t s = 0; s < count; ++s) {
      Random random(seed, s);
      drawn.push_back(scratch->sums.draw(random));
    }
    return drawn;
  }
  scratch->share.resize(layout.block[kArc].size());
  const double* arc = scratch->summed(given, eps, scratch->share.data());
  const auto n = static_cast<std::size_t>(parts.n);
  drawn = projective_ ? draw_projective(arc, nullptr, n, true, eps, count, seed)
                      : draw_arborescences(arc, n, true, eps, count, seed);
  for (std::size_t s = 0; s < drawn.size(); ++s) {
    Random random(~seed, s);
    for (int m = 1; m <= parts.n; ++m) {
      const std::uint32_t a = parts.find(drawn[s][static_cast<std::size_t>(m) - 1], m);
      const double* share = &scratch->share[a * given.width];
      drawn[s].push_back(static_cast<std::int32_t>(draw(share, given.width, 1, random)));
    }
  }
  return drawn;
}

}  // namespace structlearn::parsing
