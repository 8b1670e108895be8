#include "tasks/dependencies/pruner_scorer.hpp"

#include <cmath>

#include "structures/chains/chain.hpp"
#include "tasks/dependencies/pruner.hpp"

namespace structlearn::parsing {

PrunerScorer::PrunerScorer(const Treebank& treebank, unsigned bits)
    : treebank_(treebank), weights_(std::size_t{1} << bits) {
  for (const auto& heads : treebank.heads) {
    for (std::size_t m = 1; m < heads.size(); ++m) {
      gold_part_.push_back(
          static_cast<std::uint32_t>((m - 1) * heads.size() + static_cast<std::size_t>(heads[m])));
    }
    gold_ptr_.push_back(static_cast<std::int64_t>(gold_part_.size()));
  }
}

Layout PrunerScorer::layout(std::size_t i) const {
  const auto n = static_cast<std::size_t>(treebank_.sentence[i].size());
  Layout layout;
  layout.add(Chain::kLabel, n, n + 1, true);
  return layout;
}

void PrunerScorer::score(std::size_t i, const Layout&, Weights w, double scale,
                         double* theta) const {
  const Sentence& s = treebank_.sentence[i];
  const auto run = [&](const auto* weight) {
    HeadScorer heads(Table(weight, weights_));
    for (int m = 1; m <= s.size(); ++m, theta += s.size() + 1) heads.score(s, m, scale, theta);
  };
  w.wide ? run(w.wide) : run(w.narrow);
}

void PrunerScorer::gather(std::size_t i, const Layout& layout, const PartVector& v,
                          WeightEntries& out, double least) const {
  const Sentence& s = treebank_.sentence[i];
  const Lines lines(weights_);
  const std::size_t width = layout.block[Chain::kLabel].outcomes;
  for (std::size_t n = 0; n < v.value.size(); ++n) {
    if (std::abs(v.value[n]) <= least) continue;
    const std::size_t part = v.dense ? n : v.index[n];
    const int m = static_cast<int>(part / width) + 1, h = static_cast<int>(part % width);
    if (h == m) continue;
    const std::uint32_t dd = direction_distance(h, m), d = direction_place(m > h);
    pruner_features(s, h, m, [&](std::uint64_t key) {
      out.emplace_back(lines.line(key) + place(key, dd), v.value[n]);
      out.emplace_back(lines.line(key) + place(key, d), v.value[n]);
    });
  }
}

structlearn::Gold PrunerScorer::gold() const {
  structlearn::Gold gold;
  gold.ptr = gold_ptr_;
  gold.part = gold_part_.data();
  return gold;
}

}  // namespace structlearn::parsing
