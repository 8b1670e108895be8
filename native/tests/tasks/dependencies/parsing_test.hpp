// Decoding of pairs of arcs against all trees, the exact chart among it; the search by single
// changes; pruned candidates.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "numeric/random.hpp"
#include "problem/problem.hpp"
#include "tasks/dependencies/arc_scorer.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/dependency_trees.hpp"
#include "tasks/dependencies/examples.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/pruner_scorer.hpp"
#include "tests/check.hpp"

namespace test {

// Every tree over the candidates with one root.
inline std::vector<std::vector<std::int32_t>> all_trees(const structlearn::parsing::Parts& parts,
                                                        bool projective) {
  std::vector<std::vector<std::int32_t>> found;
  const auto n = static_cast<std::size_t>(parts.n);
  std::vector<std::int32_t> heads(n + 1, -1);
  std::vector<std::uint32_t> at(n + 1, 0);
  for (std::size_t m = 1; m <= n; ++m) at[m] = parts.begin[m];
  while (true) {
    int roots = 0;
    for (std::size_t m = 1; m <= n; ++m) {
      heads[m] = parts.head[at[m]];
      roots += heads[m] == 0;
    }
    bool tree = roots == 1;
    for (std::size_t m = 1; m <= n && tree; ++m) {
      std::int32_t up = static_cast<std::int32_t>(m);
      for (std::size_t steps = 0; up != 0 && steps <= n; ++steps) {
        up = heads[static_cast<std::size_t>(up)];
      }
      tree = up == 0;
    }
    if (tree && (!projective || structlearn::parsing::is_projective(heads))) {
      found.push_back(heads);
    }
    std::size_t m = 1;
    while (m <= n && ++at[m] == parts.begin[m + 1]) {
      at[m] = parts.begin[m];
      ++m;
    }
    if (m > n) return found;
  }
}

struct ScoredParts {
  structlearn::parsing::Parts parts;
  std::vector<double> arc, sibling, grand;
  structlearn::parsing::PartScores scores() const {
    return {arc.data(), sibling.data(), grand.data()};
  }
  double score(const std::vector<std::int32_t>& heads) const {
    return parts.score(heads, scores());
  }
};

// Candidates of n words, all of them or some, and scores at random: of what kind, the seed says.
inline ScoredParts random_parts(int n, std::uint64_t seed) {
  const double share = n > 6 ? 0.35 : 0.7;  // of all arcs
  using namespace structlearn;
  using namespace structlearn::parsing;
  Random random(seed, 5);
  Candidates candidates;
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      if (h != m && ((n <= 6 && seed % 3 != 0) || random.uniform() < share)) {
        candidates.head.push_back(static_cast<std::uint16_t>(h));
      }
    }
    if (candidates.head.size() == candidates.begin.back()) {
      candidates.head.push_back(static_cast<std::uint16_t>(m - 1));
    }
    candidates.begin.push_back(static_cast<std::uint32_t>(candidates.head.size()));
  }
  ScoredParts scored;
  scored.parts.set(candidates, true);
  scored.arc.resize(scored.parts.arcs());
  scored.sibling.resize(scored.parts.siblings());
  scored.grand.resize(scored.parts.grands());
  // Whole numbers make ties.
  const auto draw = [&] {
    const double x = 6.0 * random.uniform() - 3.0;
    return seed % 4 == 0 ? std::floor(x) : x;
  };
  for (double& x : scored.arc) x = draw();
  for (double& x : scored.sibling) x = draw();
  for (double& x : scored.grand) x = draw();
  return scored;
}

inline void test_second_order_trees() {
  using namespace structlearn;
  using namespace structlearn::parsing;
  std::size_t exact = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    const int n = 1 + static_cast<int>(seed % 5);
    const bool projective = seed % 2 == 1;
    const ScoredParts scored = random_parts(n, seed);
    const Parts& parts = scored.parts;
    context = "second-order trees, seed " + std::to_string(seed);

    const auto trees = all_trees(parts, projective);
    double best = kMinusInfinity;
    for (const auto& tree : trees) best = std::max(best, scored.score(tree));
    Decoder decoder(projective, 200);
    std::vector<std::int32_t> heads;
    const Solved found = decoder.decode(parts, scored.scores(), heads);
    if (trees.empty()) {
      CHECK(found.value == kMinusInfinity);
      continue;
    }
    ++all;
    exact += found.exact;
    CHECK(std::find(trees.begin(), trees.end(), heads) != trees.end());
    CHECK_NEAR(scored.score(heads), found.value, 1e-9);
    CHECK(found.bound >= best - 1e-9);
    CHECK(found.value <= best + 1e-9);
    if (found.exact) CHECK_NEAR(found.value, best, 1e-6);
    if (projective) CHECK(found.exact);

    if (projective) continue;  // local search is for trees with crossing arcs
    LocalSearch search;
    for (const auto& tree : trees) {
      std::vector<std::int32_t> improved = tree;
      const double gain = search.improve(parts, scored.scores(), improved);
      CHECK(std::find(trees.begin(), trees.end(), improved) != trees.end());
      CHECK_NEAR(scored.score(improved) - scored.score(tree), gain, 1e-9);
    }
  }
  context = "second-order trees, proven " + std::to_string(exact) + " of " + std::to_string(all);
  // Scores at random leave a gap between bound and tree more often than those of sentences.
  CHECK(2 * exact > all);
}

// Heads with more modifiers than a machine word has bits: the gain is what the tree gains, and no
// single change makes it better.
inline void test_local_search() {
  using namespace structlearn::parsing;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    context = "local search, seed " + std::to_string(seed);
    const ScoredParts scored = random_parts(200, seed);
    const Parts& parts = scored.parts;
    TreeSearch first(false);
    first.begin(parts.n);
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      first.at(parts.head[a], parts.word[a]) = scored.arc[a];
    }
    std::vector<std::int32_t> heads;
    first.best(heads);
    const double before = scored.score(heads);
    const double gain = LocalSearch().improve(parts, scored.scores(), heads);
    const double after = scored.score(heads);
    CHECK(gain > 0.0);
    CHECK_NEAR(after - before, gain, 1e-9);
    double best = after;
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      if (parts.head[a] == 0 || heads[parts.word[a]] == 0) continue;  // the root stays
      std::vector<std::int32_t> changed = heads;
      changed[parts.word[a]] = parts.head[a];
      std::size_t up = parts.word[a], steps = 0;
      while (up != 0 && ++steps <= 200) up = static_cast<std::size_t>(changed[up]);
      if (up == 0) best = std::max(best, scored.score(changed));
    }
    CHECK_NEAR(best, after, 1e-6);
  }
}

// What is called the best tree is the best, and no tree is above the bound, in whatever unit the
// scores are, with near ties and with an offset of all arcs. Enumeration is the judge.
inline void test_second_order_certificates() {
  using namespace structlearn;
  using namespace structlearn::parsing;
  for (const double scale : {1e-12, 1e-9, 1.0, 1e6, 1e9}) {
    std::size_t exact = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const bool near_ties = seed % 4 == 0, offset = seed % 8 == 5;
      ScoredParts scored = random_parts(2 + static_cast<int>(seed % 4), seed);
      const Parts& parts = scored.parts;
      Random random(seed, 7);
      for (auto* scores : {&scored.arc, &scored.sibling, &scored.grand}) {
        for (double& x : *scores) {
          if (near_ties) x += 1e-10 * random.uniform();
          x *= scale;
        }
      }
      if (offset) {
        for (double& x : scored.arc) x += 1e8 * scale;
      }
      context = "certificates of second-order trees, scale " + std::to_string(scale) + ", seed " +
                std::to_string(seed);
      const auto trees = all_trees(parts, false);
      if (trees.empty()) continue;
      double best = kMinusInfinity;
      for (const auto& tree : trees) best = std::max(best, scored.score(tree));
      std::vector<std::int32_t> heads;
      const Solved found = Decoder(false, 200).decode(parts, scored.scores(), heads);
      const double rounding = (offset ? 1e-5 : 1e-12) * scale;
      CHECK_NEAR(scored.score(heads), found.value, rounding);
      CHECK(found.bound >= best - rounding);
      CHECK(found.bound >= found.value);
      if (found.exact) CHECK_NEAR(found.value, best, rounding);
      ++all;
      exact += found.exact;
    }
    context = "second-order trees, scale " + std::to_string(scale) + ", proven " +
              std::to_string(exact) + " of " + std::to_string(all);
    CHECK(2 * exact > all);
  }
}

// The chart for projective trees finds the best one whatever the scores: all of one size, some
// forbidden, very large, or so that all but a few parts count for nothing.
inline void test_projective_chart() {
  using namespace structlearn;
  using namespace structlearn::parsing;
  ProjectiveSearch search;  // one for all: nothing of the sentence before may stay
  ProjectiveSums sums;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const int n = seed >= 360 ? 8 : 1 + static_cast<int>(seed % 6);
    ScoredParts scored = random_parts(n, seed);
    const Parts& parts = scored.parts;
    Random random(seed, 6);
    const double forbidden = seed % 5 == 0 ? 0.3 : seed % 5 == 1 ? 0.1 : 0.0;
    const double scale = seed % 7 == 0 ? 1e6 : seed % 7 == 1 ? 0.0 : 1.0;
    for (auto* scores : {&scored.arc, &scored.sibling, &scored.grand}) {
      for (double& x : *scores) x = random.uniform() < forbidden ? kMinusInfinity : scale * x;
    }
    context = "projective chart, seed " + std::to_string(seed);
    double best = kMinusInfinity;
    for (const auto& tree : all_trees(parts, true)) best = std::max(best, scored.score(tree));
    std::vector<std::int32_t> heads{7};
    const double found = search.best(parts, scored.scores(), heads);
    if (best == kMinusInfinity) {
      CHECK(found == kMinusInfinity);
      CHECK(heads == std::vector<std::int32_t>{7});
      continue;
    }
    CHECK(is_projective(heads));
    CHECK_NEAR(found, best, 1e-9 * (1.0 + scale));
    CHECK_NEAR(scored.score(heads), best, 1e-9 * (1.0 + scale));

    // With one label of four: the sum over all trees, and the trees one by one.
    std::vector<double> theta(4 * parts.arcs(), kMinusInfinity), p(4 * parts.arcs());
    std::vector<double> siblings(parts.siblings()), grands(parts.grands());
    for (std::size_t a = 0; a < parts.arcs(); ++a) theta[4 * a + a % 4] = scored.arc[a];
    const LabelledParts labelled{parts, 4, theta.data(), scored.sibling.data(),
                                 scored.grand.data()};
    double total = 0.0, words = 0.0;
    std::size_t legal = 0;
    for (const auto& tree : all_trees(parts, true)) {
      total += std::exp((scored.score(tree) - best) / (1.0 + scale));
      legal += scored.score(tree) > kMinusInfinity;
    }
    CHECK_NEAR(sums.fill(labelled, 1.0 + scale), best + (1.0 + scale) * std::log(total),
               1e-9 * (1.0 + scale));
    CHECK(sums.marginals(p.data(), siblings.data(), grands.data()) >= 0.0);
    for (std::size_t j = 0; j < 4 * parts.arcs(); ++j) words += p[j];
    CHECK_NEAR(words, static_cast<double>(n), 1e-9);
    CHECK(search.kbest(labelled, 50).size() == std::min<std::size_t>(legal, 50));
    const Output drawn = sums.draw(random);
    std::copy(drawn.begin(), drawn.begin() + n, heads.begin() + 1);
    CHECK(is_projective(heads) && scored.score(heads) > kMinusInfinity);
  }
}

// Every query of the structure against the list of all trees with all labels.
inline void test_dependency_trees() {
  using namespace structlearn;
  using namespace structlearn::parsing;
  constexpr std::size_t kWidth = 4, kLabels = 2;  // the other two are never allowed
  Workspace ws;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    const int n = 1 + static_cast<int>(seed % 4);
    const bool projective = seed % 2 == 1, pairs = seed % 8 >= 4;
    const ScoredParts scored = random_parts(n, seed);
    Parts parts = scored.parts;
    parts.second_order = pairs;
    const DependencyTrees structure(projective, 200);
    const Layout layout = DependencyTrees::layout(parts, kWidth);
    structure.check(layout);
    context = "dependency trees, seed " + std::to_string(seed);
    Random random(seed, 8);
    std::vector<double> theta(layout.parts, kMinusInfinity);
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      for (std::size_t l = 0; l < kLabels; ++l) {
        if (seed % 5 != 0 || random.uniform() < 0.9) theta[a * kWidth + l] = 4.0 * random.uniform();
      }
    }
    if (pairs) {
      double* at = theta.data() + layout.block[DependencyTrees::kSibling].offset;
      std::copy(scored.grand.begin(), scored.grand.end(),
                std::copy(scored.sibling.begin(), scored.sibling.end(), at));
    }
    const Scores scores = scores_of(layout, theta.data());

    std::vector<std::pair<double, Output>> all;
    for (const auto& heads : all_trees(parts, projective)) {
      const std::vector<double> none(parts.arcs(), 0.0);
      const double pair_score =
          parts.score(heads, {none.data(), scored.sibling.data(), scored.grand.data()});
      for (std::size_t labels = 0; labels < (std::size_t{1} << n); ++labels) {
        Output y(heads.begin() + 1, heads.end());
        double sum = pair_score;
        for (int m = 1; m <= n; ++m) {
          const std::size_t l = labels >> (m - 1) & 1;
          y.push_back(static_cast<std::int32_t>(l));
          sum += theta[parts.find(heads[static_cast<std::size_t>(m)], m) * kWidth + l];
        }
        if (sum > kMinusInfinity) all.emplace_back(sum, y);
      }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    Output best;
    const Solved solved = structure.solve(layout, scores, best, ws);
    if (all.empty()) {
      CHECK(solved.value == kMinusInfinity);
      continue;
    }
    CHECK(solved.bound >= all[0].first - 1e-9);
    if (solved.exact) CHECK_NEAR(solved.value, all[0].first, 1e-9);
    CHECK(structure.contains(layout, best));
    std::vector<std::uint32_t> encoded;
    for (const auto& [value, y] : all) {
      encoded.clear();
      structure.encode(layout, y, encoded);
      double sum = 0.0;
      for (const std::uint32_t part : encoded) sum += theta[part];
      CHECK_NEAR(sum, value, 1e-9);
    }
    if (pairs && !projective) {
      PartVector p;
      const auto shared = std::make_shared<DependencyTrees>(false, 1);
      CHECK_THROWS(Incapable, StructureOracle(shared).infer(0, layout, theta.data(), 1.0, p, ws));
      CHECK_THROWS(Incapable, structure.kbest(layout, scores, 2, ws));
      CHECK_THROWS(Incapable, structure.sample(layout, scores, 1.0, 1, 0, ws));
      CHECK_THROWS(Incapable, structure.exact_entropy(layout, scores, 1.0, ws));
      continue;
    }
    for (const double eps : {0.4, 1.0}) {
      double total = 0.0, entropy = 0.0;
      std::vector<double> expected(layout.parts, 0.0);
      for (const auto& [value, y] : all) total += std::exp((value - all[0].first) / eps);
      for (const auto& [value, y] : all) {
        const double share = std::exp((value - all[0].first) / eps) / total;
        entropy -= share * std::log(share);
        encoded.clear();
        structure.encode(layout, y, encoded);
        for (const std::uint32_t part : encoded) expected[part] += share;
      }
      PartVector p;
      const StructureOracle oracle(std::make_shared<DependencyTrees>(projective, 1));
      CHECK_NEAR(oracle.infer(0, layout, theta.data(), eps, p, ws),
                 all[0].first + eps * std::log(total), 1e-9);
      for (std::size_t j = 0; j < layout.parts; ++j) CHECK_NEAR(p.value[j], expected[j], 1e-9);
      CHECK_NEAR(structure.infer(layout, scores, eps, {}, ws), all[0].first + eps * std::log(total),
                 1e-9);
      CHECK_NEAR(*structure.exact_entropy(layout, scores, eps, ws), entropy, 1e-9);
      // Every tree has n arcs: scores that are all larger change nothing but the value.
      std::vector<double> shifted = theta;
      for (std::size_t j = 0; j < layout.block[0].size(); ++j) shifted[j] += 1e6;
      const Scores large = scores_of(layout, shifted.data());
      CHECK_NEAR(*structure.exact_entropy(layout, large, eps, ws), entropy, 1e-7);
    }
    for (const std::size_t k : {std::size_t{1}, std::size_t{7}, all.size() + 3}) {
      const auto ranked = structure.kbest(layout, scores, k, ws);
      CHECK(ranked.size() == std::min(k, all.size()));
      for (std::size_t r = 0; r < ranked.size(); ++r) {
        CHECK_NEAR(ranked[r].first, all[r].first, 1e-9);
        CHECK(structure.contains(layout, ranked[r].second));
      }
    }
    const auto drawn = structure.sample(layout, scores, 0.5, 4, seed, ws);
    CHECK(drawn.size() == 4 && drawn == structure.sample(layout, scores, 0.5, 4, seed, ws));
    for (const Output& y : drawn) {
      CHECK(std::any_of(all.begin(), all.end(), [&](const auto& x) { return x.second == y; }));
    }
    // What is no tree here.
    Output none = best;
    none.back() = 9;
    CHECK(!structure.contains(layout, none));
    none.assign(best.size(), 0);
    CHECK(structure.contains(layout, none) == (n == 1));  // every word below the root
    none.pop_back();
    CHECK(!structure.contains(layout, none));
  }
}

// What no tag says, the place does: relations of the root stay below it.
inline void test_label_sets() {
  using namespace structlearn::parsing;
  context = "label sets";
  Sentence s;
  s.begin(3);
  for (std::size_t i = 0; i < 3; ++i) s.word(i).tag = tag_atom(std::string(1, "ABC"[i])).hash;
  LabelSets sets(3);
  CHECK(sets.find(s, 1, 2)[0] == 0b111);
  sets.add(s, 0, 1, 0);
  sets.add(s, 1, 2, 1);
  sets.add(s, 2, 1, 2);
  CHECK(sets.find(s, 1, 2)[0] == 0b010);  // as seen
  CHECK(sets.find(s, 2, 1)[0] == 0b100);
  s.word(2).tag = s.word(0).tag;
  CHECK(sets.find(s, 2, 3)[0] == 0b100);  // the same tags the other way round: by the modifier's
  s.word(2).tag = tag_atom("C").hash;
  CHECK(sets.find(s, 3, 2)[0] == 0b010);  // the modifier's tag is known
  CHECK(sets.find(s, 0, 3)[0] == 0b001);  // nothing is
  CHECK(sets.find(s, 1, 3)[0] == 0b110);
  std::vector<std::uint64_t> keys, masks;
  sets.store(keys, masks);
  const LabelSets again(3, keys, masks);
  CHECK(again.find(s, 0, 3)[0] == 0b001);
  CHECK(again.find(s, 1, 3)[0] == 0b110);
}

// Every sentence with all arcs: w of 32 and of 64 bits give the same scores, and what gather and
// scatter add up, over parts one by one and all together, is the transpose of that.
inline void test_parser_operator() {
  using namespace structlearn;
  using namespace structlearn::parsing;
  text::Corpus corpus(text::Format::kConllu);
  corpus.read(
      "1\tdogs\t_\tN\tN\t_\t2\ts\t_\t_\n2\tsee\t_\tV\tV\t_\t0\troot\t_\t_\n"
      "3\tbig\t_\tJ\tJ\t_\t4\tm\t_\t_\n4\tcats\t_\tN\tN\t_\t2\to\t_\t_\n"
      "5\tnow\t_\tR\tR\t_\t2\tm\t_\t_\n\n1\tgo\t_\tV\tV\t_\t0\troot\t_\t_\n\n");
  const LabelledTreebank treebank(
      corpus, {tag_column(corpus, kUpos), tag_column(corpus, kXpos), tag_column(corpus, kFeats)},
      false);
  constexpr unsigned kBits = 9;
  std::vector<float> none(std::size_t{1} << kBits, 0.0f), narrow(none.size());
  std::vector<double> wide(none.size());
  Random random(1, 7);
  for (std::size_t q = 0; q < wide.size(); ++q) {
    narrow[q] = static_cast<float>(random.uniform() - 0.5);
    wide[q] = narrow[q];
  }
  Pruner pruner({none.data(), none.size()}, {100, 1e-300}, false);
  for (const bool pairs : {false, true}) {
    const auto examples = std::make_shared<ParseExamples>(treebank, pruner, pairs);
    const ArcScorer arcs(examples, kBits);
    const PrunerScorer heads(treebank.trees, kBits);
    for (const Scorer* scorer :
         {static_cast<const Scorer*>(&arcs), static_cast<const Scorer*>(&heads)}) {
      for (std::size_t i = 0; i < scorer->examples(); ++i) {
        context = "the parser's operator, sentence " + std::to_string(i);
        const Layout layout = scorer->layout(i);
        std::vector<double> theta(layout.parts), other(layout.parts);
        scorer->score(i, layout, wide.data(), 0.5, theta.data());
        scorer->score(i, layout, narrow.data(), 0.5, other.data());
        PartVector all;
        all.dense = true;
        double sum = 0.0;
        for (std::size_t j = 0; j < layout.parts; ++j) {
          all.value.push_back(theta[j] == kMinusInfinity ? 0.0 : random.uniform() - 0.5);
          CHECK((theta[j] == kMinusInfinity) == (other[j] == kMinusInfinity));
          if (theta[j] == kMinusInfinity) continue;
          CHECK_NEAR(theta[j], other[j], 1e-4);
          sum += all.value[j] * theta[j];
          PartVector one;
          one.add(j, 2.0);
          CHECK_NEAR(scorer->dot(i, layout, one, wide.data()), 4.0 * theta[j], 1e-9);
        }
        CHECK_NEAR(scorer->dot(i, layout, all, wide.data()), 2.0 * sum, 1e-9);
        std::vector<double> added(wide.size(), 0.0);
        scorer->scatter(i, layout, all, 1.0, added.data());
        double product = 0.0, seen = 0.0;
        for (std::size_t q = 0; q < wide.size(); ++q) product += added[q] * wide[q];
        CHECK_NEAR(product, 2.0 * sum, 1e-9);
        // Whatever scores depend on is among the rows.
        std::vector<std::pair<std::size_t, std::size_t>> rows;
        scorer->rows(i, layout, rows);
        for (const auto& [first, count] : rows) {
          for (std::size_t q = first; q < first + count; ++q) added[q] = 0.0;
        }
        for (const double x : added) seen += x * x;
        CHECK(seen == 0.0);
        // Parts of little weight are left out, and no others.
        WeightEntries entries;
        PartVector few;
        few.add(layout.parts - 1, 1e-4);
        scorer->gather(i, layout, few, entries, 1e-3);
        CHECK(entries.empty());
      }
    }
  }
}

// Entries that meet add up in their order, by a vector or by a hash table.
inline void test_merged_entries() {
  using namespace structlearn;
  context = "merged entries";
  EntryMerger by_vector(64), by_table(SIZE_MAX);
  Random random(2, 3);
  for (std::size_t size = 0; size < 300; size += 7) {
    WeightEntries entries;
    for (std::size_t n = 0; n < size; ++n) {
      const auto q = static_cast<std::size_t>(random.uniform() * 64.0);
      entries.emplace_back(q, std::floor(3.0 * random.uniform()) - 1.0);
    }
    std::vector<double> expected(64, 0.0);
    for (const auto& [q, x] : entries) expected[q] += x;
    WeightEntries other = entries;
    by_vector(entries);
    by_table(other);
    CHECK(entries == other);
    for (const auto& [q, x] : other) {
      CHECK(x == expected[q] && x != 0.0);
      expected[q] = 0.0;
    }
    for (const double x : expected) CHECK(x == 0.0);
  }
}

}  // namespace test
