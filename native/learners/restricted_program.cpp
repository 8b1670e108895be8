#include "learners/restricted_program.hpp"

#include <algorithm>
#include <utility>

namespace structlearn {
namespace {

// Entries of all vectors together.
constexpr std::size_t kMostInRows = 30'000'000;

}  // namespace

std::vector<std::size_t> add_cone(BlockProgram& program, const WeightCone& cone) {
  std::vector<unsigned char> used(program.columns, 0);
  for (const std::uint32_t j : program.rows.column) used[j] = 1;
  std::vector<std::size_t> rows;
  std::vector<std::pair<std::size_t, double>> entries;
  for (std::size_t r = 0; r < cone.rows(); ++r) {
    entries.clear();
    bool any = false;
    cone.each(r, [&](std::size_t j, double x) {
      any = any || used[j];
      entries.emplace_back(j, -x);
    });
    if (!any) continue;
    program.add_row(entries);
    rows.push_back(r);
  }
  return rows;
}

RestrictedProgram::RestrictedProgram(const WorkingSets& sets, const ConePoint& cone) {
  program_.columns = sets.problem().weights();
  EntryMerger merge(program_.columns);
  WeightEntries entries;
  const Scorer& scorer = sets.problem().scorer();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const WorkingSet& set = sets.set(i);
    if (sets.scale(i) == 0.0 || set.atoms.empty()) continue;
    const Layout layout = scorer.layout(i);
    for (const Atom& atom : set.atoms) {
      entries.clear();
      scorer.gather(i, layout, atom.difference, entries);
      merge(entries);
      program_.add_row(entries);
      program_.cost.push_back(atom.cost);
    }
    program_.end_block(set.gold_cost, sets.scale(i));
    example_.push_back(i);
    too_large_ = program_.rows.value.size() > kMostInRows;
    if (too_large_) return;
  }
  if (cone.cone != nullptr) cone_row_ = add_cone(program_, *cone.cone);
  weight_ = program_.compact();
}

double RestrictedProgram::passes_a_step() const {
  // A pass scores all outputs, chooses among them and moves the weights.
  const double pass = 6.0 * static_cast<double>(program_.rows.value.size()) +
                      50.0 * static_cast<double>(program_.rows.size());
  return program_.work() / std::max(1.0, pass);
}

void RestrictedProgram::take(const BlockSolution& found, WorkingSets& sets, double* w,
                             const ConePoint& cone) const {
  for (std::size_t k = 0; k < example_.size(); ++k) {
    WorkingSet& set = sets.set(example_[k]);
    const double* b = found.b.data() + program_.block[k];
    double sum = found.rest[k];
    for (std::size_t a = 0; a < set.atoms.size(); ++a) sum += b[a];
    set.rest = found.rest[k] / sum;
    for (std::size_t a = 0; a < set.atoms.size(); ++a) set.alpha[a] = b[a] / sum;
  }
  std::fill(w, w + sets.problem().weights(), 0.0);
  for (std::size_t j = 0; j < weight_.size(); ++j) w[weight_[j]] = found.w[j];
  if (cone.cone == nullptr) return;
  std::fill(cone.multiplier, cone.multiplier + cone.cone->rows(), 0.0);
  for (std::size_t k = 0; k < cone_row_.size(); ++k) {
    cone.multiplier[cone_row_[k]] = found.b[program_.block.back() + k];
  }
  cone.cone->project(w);  // inside by the hair's breadth that it asks for
}

}  // namespace structlearn
