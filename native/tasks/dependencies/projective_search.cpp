#include "tasks/dependencies/projective_search.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "structures/lazy_kbest.hpp"
#include "tasks/dependencies/part_scorer.hpp"

namespace structlearn::parsing {
namespace {

// Visits the arcs of one tree: choose(item) says in which way an item was built.
template <class Chart, class Choose, class Visit>
void walk(const Chart& chart, Choose&& choose, Visit&& visit) {
  std::vector<std::size_t> open{chart.tree()};
  while (!open.empty()) {
    const auto item = chart.item(open.back());
    open.pop_back();
    const auto way = chart.way(item, choose(item));
    if (way.arc != Parts::kNone) visit(way.arc);
    open.insert(open.end(), way.tail, way.tail + way.tails);
  }
}

// The chart as lazy_kbest.hpp reads it; behind its nodes, arcs, whose ways are their labels.
struct Forest {
  const ProjectiveChart<Maximum>& chart;
  const LabelledParts& labelled;
  const std::vector<double>& arc;

  std::uint64_t first_arc() const { return chart.tree() + 1; }
  double best(std::uint64_t v) const {
    return v < first_arc() ? chart.value(v) : arc[v - first_arc()];
  }
  std::uint32_t ways(std::uint64_t v) const {
    return static_cast<std::uint32_t>(v < first_arc() ? chart.ways(chart.item(v)) : labelled.width);
  }
  double way(std::uint64_t v, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    tails.clear();
    if (v >= first_arc()) return labelled.label[(v - first_arc()) * labelled.width + e];
    const auto found = chart.way(chart.item(v), e);
    tails.assign(found.tail, found.tail + found.tails);
    if (found.arc != Parts::kNone) tails.push_back(first_arc() + found.arc);
    return found.score;
  }
};

}  // namespace

double ProjectiveSearch::best(const Parts& parts, const PartScores& scores,
                              std::vector<std::int32_t>& heads) {
  chart_.fill(parts, scores);
  const double value = chart_.value(chart_.tree());
  if (value == kMinusInfinity) return value;
  heads.assign(static_cast<std::size_t>(parts.n) + 1, -1);
  const auto first_best = [&](const auto& item) {
    double most = kMinusInfinity;
    std::size_t found = 0;
    for (std::size_t e = 0; e < chart_.ways(item); ++e) {
      const double x = chart_.total(chart_.way(item, e));
      if (x > most) {
        most = x;
        found = e;
      }
    }
    return found;
  };
  walk(chart_, first_best, [&](std::uint32_t a) { heads[parts.word[a]] = parts.head[a]; });
  return value;
}

std::vector<std::pair<double, Output>> ProjectiveSearch::kbest(const LabelledParts& labelled,
                                                               std::size_t k) {
  const Parts& parts = labelled.parts;
  std::vector<double> arc;
  std::vector<std::uint16_t> label;
  best_labels(labelled.label, parts.arcs(), labelled.width, arc, label);
  chart_.fill(parts, {arc.data(), labelled.sibling, labelled.grand});
  const Forest forest{chart_, labelled, arc};
  const auto n = static_cast<std::size_t>(parts.n);
  return kbest_outputs(forest, chart_.tree(), k, Output(2 * n, 0),
                       [&](std::uint64_t v, std::uint32_t e, Output& y) {
                         if (v < forest.first_arc()) return;
                         const std::size_t a = v - forest.first_arc(), m = parts.word[a] - 1u;
                         y[m] = parts.head[a];
                         y[n + m] = static_cast<std::int32_t>(e);
                       });
}

double ProjectiveSums::fill(const LabelledParts& labelled, double eps) {
  const Parts& parts = *(parts_ = &labelled.parts);
  const std::size_t arcs = parts.arcs(), width = width_ = labelled.width;
  scaled_.resize(arcs + parts.siblings() + parts.grands());
  share_.resize(arcs * width);
  for (std::size_t a = 0; a < arcs; ++a) {
    scaled_[a] = softmax(labelled.label + a * width, width, eps, &share_[a * width]) / eps;
  }
  double* const sibling = scaled_.data() + arcs;
  double* const grand = sibling + parts.siblings();
  for (std::size_t j = 0; j < parts.siblings(); ++j) sibling[j] = labelled.sibling[j] / eps;
  for (std::size_t j = 0; j < parts.grands(); ++j) grand[j] = labelled.grand[j] / eps;
  chart_.fill(parts, {scaled_.data(), sibling, grand});
  return eps * chart_.value(chart_.tree());
}

// Outside, as probabilities: a way takes its share of its item's.
double ProjectiveSums::marginals(double* label, double* sibling, double* grand) {
  std::fill_n(sibling, parts_->siblings(), 0.0);
  std::fill_n(grand, parts_->grands(), 0.0);
  mass_.assign(chart_.tree() + 1, 0.0);
  mass_.back() = 1.0;
  std::vector<double> arc(parts_->arcs(), 0.0);
  double entropy = 0.0;
  for (auto v = chart_.order().rbegin(); v != chart_.order().rend(); ++v) {
    if (mass_[*v] == 0.0) continue;
    const auto item = chart_.item(*v);
    for (std::size_t e = 0; e < chart_.ways(item); ++e) {
      const auto way = chart_.way(item, e);
      const double surprise = chart_.value(*v) - chart_.total(way);
      const double m = mass_[*v] * elementary::exp(-surprise);
      if (!(m > 0.0)) continue;
      entropy += m * std::max(surprise, 0.0);
      for (std::size_t t = 0; t < way.tails; ++t) mass_[way.tail[t]] += m;
      for (std::size_t s = 0; s < way.siblings; ++s) sibling[way.sibling[s]] += m;
      if (way.grands) grand[way.grand] += m;
      if (way.arc != Parts::kNone) arc[way.arc] += m;
    }
  }
  for (std::size_t j = 0; j < share_.size(); ++j) {
    label[j] = share_[j] * arc[j / width_];
    if (label[j] > 0.0) entropy -= label[j] * elementary::log(share_[j]);
  }
  return entropy;
}

Output ProjectiveSums::draw(Random& random) const {
  const auto n = static_cast<std::size_t>(parts_->n);
  Output y(2 * n, 0);
  std::vector<double> w;
  const auto choose = [&](const auto& item) {
    w.resize(chart_.ways(item));
    return draw_softmax(w.size(), 1.0, w.data(), random,
                        [&](std::size_t e) { return chart_.total(chart_.way(item, e)); });
  };
  walk(chart_, choose, [&](std::uint32_t a) {
    const std::size_t m = parts_->word[a] - 1u;
    y[m] = parts_->head[a];
    y[n + m] = static_cast<std::int32_t>(structlearn::draw(&share_[a * width_], width_, 1, random));
  });
  return y;
}

}  // namespace structlearn::parsing
