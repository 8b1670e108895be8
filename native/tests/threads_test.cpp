// Training, labelling and structures on several threads, for ThreadSanitizer: `make test-threads`.
// The answers are compared with those of one thread, and a race ends the program.
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "learners/dual_ascent.hpp"
#include "structures/examples.hpp"
#include "tests/learners/online_test.hpp"
#include "tests/learners/quasi_newton_test.hpp"
#include "tests/learners/working_sets_test.hpp"
#include "tests/library/library_test.hpp"
#include "tests/problem/problem_test.hpp"
#include "tests/structures/trees/trees_test.hpp"
#include "tests/tasks/segments/segment_text_test.hpp"
#include "tests/tasks/tagging/integer_perceptron_test.hpp"
#include "tests/tasks/tagging/tagger_test.hpp"

namespace test {

// One model, a labeller on each thread, as files are labelled.
inline void test_shared_model() {
  Draw draw(21);
  for (int trial = 0; trial < 20; ++trial) {
    context = "shared model " + std::to_string(trial);
    const RandomModel random(draw, draw.chance(0.5));
    const LabelOptions options{.targets = {2}, .columns = 3, .wanted = {.confidence = true}};
    std::vector<std::string> texts;
    for (int piece = 0; piece < 24; ++piece) texts.push_back(random_text(draw, 4, '\t'));
    const auto label = [&](const std::string& text) {
      Labeller labeller(random.model->features(), readers_of(*random.model), random.names,
                        Format::kColumns, options);
      std::string out;
      labeller.label(text, 0, out);
      return out;
    };
    std::vector<std::string> found(texts.size());
    structlearn::parallel_for(texts.size(), 8,
                              [&](std::size_t i, std::size_t) { found[i] = label(texts[i]); });
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK(found[i] == label(texts[i]));
  }
}

// A model of the C library, asked by several threads; some of them fail, and read why.
inline void test_shared_handle() {
  for (const std::string& file : {tagger_file(), crfsuite_model_file()}) {
    context = "shared handle";
    structlearn_model* model = nullptr;
    CHECK(open_file(file, &model) == STRUCTLEARN_OK);
    const auto ask = [&](std::size_t i) {
      const std::string word = "w" + std::to_string(i % 7);
      std::vector<const char*> words{"fish", word.c_str(), "w=sleep", "sleep"};
      if (i % 5 == 0) words[i % 4] = "\xff";
      return asked_of(model, words, 1 + i % 3);
    };
    std::vector<Asked> found(300);
    structlearn::parallel_for(found.size(), 8,
                              [&](std::size_t i, std::size_t) { found[i] = ask(i); });
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].whole && found[i] == ask(i));
    structlearn_close(model);
  }
}

// One structure asked by several threads, as batches are.
inline void check_shared(const Structure& structure, const std::vector<Example>& examples) {
  const auto ask = [&](std::size_t threads) {
    std::vector<double> values(200);
    std::vector<Output> best(values.size());
    std::vector<std::vector<double>> mu(values.size());
    std::vector<std::vector<Output>> drawn(values.size());
    std::vector<std::vector<std::pair<double, Output>>> ranked(values.size());
    Interrupt interrupt;
    for_examples(values.size(), threads, 4, interrupt, [&](std::size_t i, Workspace& ws) {
      const Example& e = examples[i % examples.size()];
      values[i] = structure.argmax(e.layout, e.scores(), best[i], ws);
      values[i] += infer_with(structure, e, e.theta, 1.0, &mu[i], ws);
      ranked[i] = structure.kbest(e.layout, e.scores(), 3, ws);
      drawn[i] = structure.sample(e.layout, e.scores(), 1.0, 2, i, ws);
    });
    return std::tuple(values, best, mu, ranked, drawn);
  };
  CHECK(ask(1) == ask(8));
}

inline void test_shared_structures() {
  context = "shared chain";
  const Tagging data;
  const RowScorer scorer(data.blocks, Tagging::N, Tagging::weights);
  const std::vector<double> w = random_weights(5);
  std::vector<Example> chains(Tagging::N);
  for (std::size_t i = 0; i < Tagging::N; ++i) {
    chains[i].layout = scorer.layout(i);
    chains[i].theta.resize(chains[i].layout.parts);
    scorer.score(i, chains[i].layout, w.data(), 1.0, chains[i].theta.data());
  }
  check_shared(Chain(), chains);

  Draw draw(23);
  for (const bool projective : {false, true}) {
    context = projective ? "shared projective trees" : "shared arborescences";
    std::vector<Example> trees;
    for (std::size_t n = 1; n <= 4; ++n) {
      trees.push_back(make_trees({n, 2, projective, false, false}, draw, 1.0, 0.0));
    }
    check_shared(Arborescence(projective, false), trees);
  }
}

// So many examples that eight steps are chosen at a time, and so many features that each thread
// has weights of its own to move.
using ManyTaggings = TaggingOf<100, 256>;

inline void check_dual_ascent(const ManyTaggings& data) {
  const Problem problem = data.problem(data.hamming());
  std::vector<std::int64_t> part_ptr{0}, order;
  for (std::size_t i = 0; i < ManyTaggings::N; ++i) {
    const auto parts = static_cast<std::int64_t>(problem.scorer().layout(i).parts);
    part_ptr.push_back(part_ptr.back() + parts);
    order.push_back(static_cast<std::int64_t>(i));
  }
  const auto run = [&](std::size_t threads) {
    const auto parts = static_cast<std::size_t>(part_ptr.back());
    std::vector<double> w(ManyTaggings::weights, 0.0), mean = w, theta(parts, 0.0), mu = theta;
    std::vector<double> entropy(ManyTaggings::N, 0.0), gap = entropy, damping(ManyTaggings::N, 1.0);
    std::vector<double> longest(ManyTaggings::N, 1.0);
    std::vector<std::uint8_t> visited(ManyTaggings::N, 0);
    AscentState state{w, mean, part_ptr, theta, mu, entropy, gap, damping, longest, visited};
    Interrupt interrupt;
    for (int pass = 0; pass < 5; ++pass) {
      dual_ascent_pass(problem, order, AscentSettings{}, state, threads, interrupt);
    }
    return w;
  };
  CHECK(run(1) == run(4));
}

inline void test_dual_ascent_on_threads() {
  context = "dual ascent, dense rows";
  ManyTaggings data;
  check_dual_ascent(data);

  context = "dual ascent, sparse rows";
  constexpr std::size_t kOfRow = 10;
  Draw draw(22);
  data.indices.clear();
  for (std::size_t row = 0; row < data.indptr.size(); ++row) {
    data.indptr[row] = static_cast<std::int64_t>(row * kOfRow);
    for (std::size_t j = 0; j < kOfRow; ++j) {  // one of each ten features
      data.indices.push_back(static_cast<std::int32_t>(j * 10 + draw.below(10)));
    }
  }
  data.rebuild(FeatureRows::Kind::kSparse);
  check_dual_ascent(data);
}

}  // namespace test

int main() {
  test::test_threads();
  test::test_team();
  test::test_losses();
  test::test_partial_labels();
  test::test_online();
  test::test_quasi_newton();
  test::test_orthants();
  test::test_working_sets();
  test::test_integer_perceptron();
  test::test_segment_texts();
  test::test_dual_ascent_on_threads();
  test::test_shared_model();
  test::test_shared_handle();
  test::test_shared_structures();
  std::printf("%zu checks, %d failed\n", test::checks, test::failures);
  return test::failures == 0 ? 0 : 1;
}
