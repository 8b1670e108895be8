// Parsers of constituents: learning and parsing. Arrays come and go as buffers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"
#include "numeric/parallel.hpp"
#include "structures/entropy.hpp"
#include "tasks/constituents/span_scorer.hpp"
#include "tasks/constituents/span_trees.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// The chart of a longer sentence would not fit the memory of an ordinary machine.
constexpr std::size_t kMostWords = 1000;
constexpr std::size_t kMostBytes = std::size_t{4} << 30;  // of the sums over all trees

using Words = std::vector<std::string>;

// How words and tags become numbers.
class TreeReader {
 public:
  TreeReader(const Words& tags, std::vector<std::uint64_t> known) : known_(std::move(known)) {
    if (!std::is_sorted(known_.begin(), known_.end())) {
      throw std::invalid_argument("the known words are not sorted");
    }
    for (const std::string& tag : tags) {
      tags_.emplace(tag, static_cast<std::uint32_t>(tags_.size()));
    }
    if (tags_.size() != tags.size()) throw std::invalid_argument("a tag comes twice");
  }

  TreeInput read(const Words& words, const Words& tags) const {
    if (words.empty() || words.size() != tags.size()) {
      throw std::invalid_argument("a sentence has at least one word, and a tag for each");
    }
    if (words.size() > kMostWords) {
      throw std::invalid_argument("a sentence of " + std::to_string(words.size()) +
                                  " words: at most " + std::to_string(kMostWords) +
                                  " can be parsed");
    }
    TreeInput input;
    const std::vector<std::string_view> w(words.begin(), words.end()), t(tags.begin(), tags.end());
    input.tokens.assign(w, t, known_);
    for (const std::string& tag : tags) {
      const auto found = tags_.find(tag);
      input.tag.push_back(found == tags_.end() ? static_cast<std::uint32_t>(tags_.size())
                                               : found->second);
    }
    return input;
  }

  std::size_t n_tags() const { return tags_.size() + 1; }

 private:
  std::unordered_map<std::string, std::uint32_t> tags_;
  std::vector<std::uint64_t> known_;
};

using Spans = std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t>>;
using Sentence = std::pair<Words, Words>;
using Example = std::tuple<Words, Words, Spans, std::uint32_t>;  // the last: how often it counts

std::vector<LabelledSpan> read_tree(const Spans& given, std::int32_t n, std::size_t labels) {
  std::vector<LabelledSpan> spans;
  for (const auto& [begin, end, label] : given) {
    if (begin < 0 || begin >= end || end > n || label < 1 ||
        static_cast<std::size_t>(label) >= labels) {
      throw std::invalid_argument("a span outside the sentence, or without a label");
    }
    spans.push_back({begin, end, label});
  }
  std::sort(spans.begin(), spans.end(), [](const LabelledSpan& a, const LabelledSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::int32_t> open;
  for (std::size_t s = 0; s < spans.size(); ++s) {
    while (!open.empty() && open.back() <= spans[s].begin) open.pop_back();
    const bool twice =
        s > 0 && spans[s - 1].begin == spans[s].begin && spans[s - 1].end == spans[s].end;
    if (twice || (!open.empty() && open.back() < spans[s].end)) {
      throw std::invalid_argument("spans that cross or come twice");
    }
    open.push_back(spans[s].end);
  }
  if (n > 1 && (spans.empty() || spans[0].end != n || spans[0].begin != 0)) {
    throw std::invalid_argument("no span covers the whole sentence");
  }
  return spans;
}

TreeSizes sizes_of(std::size_t labels, const TreeReader& reader, std::size_t nameless) {
  if (labels < 2) throw std::invalid_argument("a parser has at least one label");
  if (nameless >= labels) throw std::invalid_argument("there is no such label without a name");
  return {labels, reader.n_tags(), nameless};
}

// Sentences with their gold trees, and all that a problem borrows.
class PyTreeExamples {
 public:
  PyTreeExamples(std::size_t labels, const Words& tags, nb::object known,
                 const std::vector<Example>& examples, std::size_t min_count, nb::object keys,
                 std::size_t nameless) {
    const TreeReader reader(tags, copied<std::uint64_t>(known, "known"));
    const TreeSizes sizes = sizes_of(labels, reader, nameless);
    std::vector<TreeInput> inputs;
    std::vector<Output> gold;
    for (const auto& [words, tag, spans, copies] : examples) {
      inputs.push_back(reader.read(words, tag));
      inputs.back().copies = copies;
      const std::size_t n = words.size();
      const auto tree = read_tree(spans, static_cast<std::int32_t>(n), labels);
      for (const LabelledSpan& s : tree) {
        if (s.end - s.begin == 1 && static_cast<std::size_t>(s.label) == nameless) {
          throw std::invalid_argument("a single word with the label of nodes without a name");
        }
      }
      gold.push_back(tree_of_spans(tree, n));
      add_cost(tree, n);
    }
    if (!keys.is_none()) keys_ = copied<std::uint64_t>(keys, "keys");
    const bool given = !keys.is_none();
    nb::gil_scoped_release release;
    if (!given) {
      FeatureIndex counted = counted_features(inputs, gold);
      if (min_count > 1) counted.keep(static_cast<std::uint32_t>(min_count));
      keys_ = counted.keys();
    }
    scorer_ = std::make_shared<SpanScorer>(sizes, feature_rows(keys_), std::move(inputs));
    for (std::size_t e = 0; e < gold.size(); ++e) {
      trees_->encode(scorer_->layout(e), gold[e], part_);
      part_ptr_.push_back(static_cast<std::int64_t>(part_.size()));
    }
    // A labelled span costs 1 unless it is in the gold tree, and one that is missing does too:
    // those that are there earn it.
    delta_.assign(labels * labels, 1.0);
    for (std::size_t x = 0; x < labels; ++x) delta_[x * labels + x] = -1.0;
    for (std::size_t x = 0; x < labels; ++x) delta_[x * labels] = 0.0;
  }

  PyProblem problem(nb::object self, nb::object sample_weight) const {
    Gold gold;
    gold.ptr = part_ptr_;
    gold.part = part_.data();
    Cost cost;
    cost.delta = delta_.data();
    cost.label = label_.data();
    cost.site_ptr = site_ptr_;
    cost.constant = constant_.data();
    return {self, scorer_, std::make_shared<StructureOracle>(trees_), gold, cost, sample_weight};
  }

  nb::bytes keys() const { return to_bytes(keys_); }
  std::size_t features() const { return keys_.size(); }

 private:
  // The gold label of every span, 0 for spans without one.
  void add_cost(const std::vector<LabelledSpan>& tree, std::size_t n) {
    const std::size_t begin = label_.size();
    label_.resize(begin + spans_of(n), 0);
    for (const LabelledSpan& s : tree) {
      label_[begin + span_site(n, static_cast<std::size_t>(s.begin),
                               static_cast<std::size_t>(s.end))] = s.label;
    }
    site_ptr_.push_back(static_cast<std::int64_t>(label_.size()));
    constant_.push_back(static_cast<double>(tree.size()));
  }

  std::shared_ptr<const SpanTrees> trees_ = std::make_shared<SpanTrees>();
  std::shared_ptr<const SpanScorer> scorer_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> part_ptr_ = {0}, site_ptr_ = {0};
  std::vector<std::uint32_t> part_;
  std::vector<std::int32_t> label_;
  std::vector<double> delta_, constant_;
};

// The keys of the features of gold trees and how often each is there, to be added up over parts of
// a treebank.
nb::tuple count_tree_features(std::size_t labels, const Words& tags, nb::object known,
                              const std::vector<Example>& examples) {
  const TreeReader reader(tags, copied<std::uint64_t>(known, "known"));
  std::vector<TreeInput> inputs;
  std::vector<Output> gold;
  for (const auto& [words, tag, spans, copies] : examples) {
    inputs.push_back(reader.read(words, tag));
    inputs.back().copies = copies;
    const auto tree = read_tree(spans, static_cast<std::int32_t>(words.size()), labels);
    gold.push_back(tree_of_spans(tree, words.size()));
  }
  const FeatureIndex counted = counted_features(inputs, gold);
  return nb::make_tuple(to_bytes(counted.keys()), to_bytes(counted.counts()));
}

// Learned weights, for new sentences.
class PyTreeParser {
 public:
  PyTreeParser(std::size_t labels, const Words& tags, nb::object known, nb::object keys,
               nb::object weights, std::size_t nameless)
      : reader_(tags, copied<std::uint64_t>(known, "known")),
        sizes_(sizes_of(labels, reader_, nameless)),
        held_weights_(weights),
        weights_(held_weights_.as<float>("weights")) {
    const auto rows = copied<std::uint64_t>(keys, "keys");
    if (weights_.size() != rows.size() * labels + sizes_.table()) {
      throw std::invalid_argument("the weights do not fit the labels, tags and features");
    }
    if (std::find(rows.begin(), rows.end(), 0) != rows.end()) {
      throw std::invalid_argument("a feature without a key");
    }
    for (const float x : weights_) {
      if (!std::isfinite(x)) throw std::invalid_argument("the weights are not finite");
    }
    index_ = feature_rows(rows);
  }

  // The spans of each sentence, outer before inner.
  nb::list parse(const std::vector<Sentence>& sentences, std::size_t threads) const {
    std::vector<Output> found(sentences.size());
    const SpanScorer scorer = score(sentences);
    Signals signals;
    {
      nb::gil_scoped_release release;
      Interrupt interrupt(signals.poll());
      std::vector<Workspace> workspaces(std::max<std::size_t>(threads, 1));
      parallel_for(sentences.size(), threads, [&](std::size_t s, std::size_t thread) {
        if (interrupt.requested()) return;
        const Scored scored(scorer, s, weights_.data(), workspaces[thread]);
        trees_.argmax(scored.layout, scored.scores, found[s], workspaces[thread]);
      });
    }
    signals.rethrow();
    nb::list out;
    for (const Output& y : found) out.append(spans_of_output(y));
    return out;
  }

  // (score, spans) of the k best trees of a sentence.
  nb::list kbest(const Words& words, const Words& tags, std::size_t k) const {
    const SpanScorer scorer = score({{words, tags}});
    std::vector<std::pair<double, Output>> found;
    {
      nb::gil_scoped_release release;
      Workspace ws;
      const Scored scored(scorer, 0, weights_.data(), ws);
      found = trees_.kbest(scored.layout, scored.scores, k, ws);
    }
    nb::list out;
    for (const auto& [value, y] : found) out.append(nb::make_tuple(value, spans_of_output(y)));
    return out;
  }

  // The spans of n trees of a sentence, drawn in proportion to exp(score).
  nb::list sample(const Words& words, const Words& tags, std::size_t n, std::uint64_t seed) const {
    const SpanScorer scorer = score({{words, tags}});
    check_sums(words.size());
    std::vector<Output> drawn;
    {
      nb::gil_scoped_release release;
      Workspace ws;
      const Scored scored(scorer, 0, weights_.data(), ws);
      drawn = trees_.sample(scored.layout, scored.scores, 1.0, n, seed, ws);
    }
    nb::list out;
    for (const Output& y : drawn) out.append(spans_of_output(y));
    return out;
  }

  double entropy(const Words& words, const Words& tags) const {
    const SpanScorer scorer = score({{words, tags}});
    check_sums(words.size());
    nb::gil_scoped_release release;
    Workspace ws;
    const Scored scored(scorer, 0, weights_.data(), ws);
    return structlearn::entropy(trees_, scored.layout, scored.scores, 1.0, ws).value;
  }

  // log of the sum over all trees, and (begin, end, label, probability) of labelled spans.
  nb::tuple marginals(const Words& words, const Words& tags, double least) const {
    const SpanScorer scorer = score({{words, tags}});
    const std::size_t n = words.size(), R = sizes_.labels;
    check_sums(n);
    PartVector p;
    double total = 0.0;
    {
      nb::gil_scoped_release release;
      Workspace ws;
      const Scored scored(scorer, 0, weights_.data(), ws);
      total = StructureOracle(std::make_shared<SpanTrees>())
                  .infer(0, scored.layout, scored.scores.block[kNode], 1.0, p, ws);
    }
    nb::list out;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = n; j > i; --j) {
        for (std::size_t x = 1; x < R; ++x) {
          const double q = std::min(1.0, p.value[span_site(n, i, j) * R + x]);
          if (q >= least && q > 0.0) out.append(nb::make_tuple(i, j, x, q));
        }
      }
    }
    return nb::make_tuple(total, out);
  }

  // What a tree is scored by: (block, i, k, j, label, keys, weights) of its spans and splits, with
  // a key and a weight for each template, and (place, symbol, parent, weight) of its label pairs;
  // of the root place 3.
  nb::tuple parts(const Words& words, const Words& tags, const Spans& spans) const {
    const TreeInput input = reader_.read(words, tags);
    const std::size_t n = words.size(), R = sizes_.labels;
    const auto tree = read_tree(spans, static_cast<std::int32_t>(n), R);
    const TreeFeatures features(input.tokens);
    const float* table = weights_.data() + index_->size() * R;
    nb::list sites, pairs;
    std::vector<std::uint64_t> keys;
    std::vector<double> weights;
    const auto symbol = [&](std::size_t i, std::size_t label) {
      return label == 0 ? R + input.tag[i] : label;
    };
    walk_tree_parts(
        n, tree_of_spans(tree, n),
        [&](std::size_t block, std::size_t i, std::size_t k, std::size_t j, std::size_t label) {
          keys.clear();
          weights.clear();
          site_features(features, block, i, k, j, keys);
          for (const std::uint64_t key : keys) {
            const std::uint32_t row = index_->find(key);
            weights.push_back(row == FeatureIndex::kAbsent ? 0.0 : weights_[row * R + label]);
          }
          sites.append(nb::make_tuple(block, i, k, j, label, nb::cast(keys), nb::cast(weights)));
        },
        [&](std::size_t place, std::size_t i, std::size_t label, std::size_t parent) {
          const std::size_t s = symbol(i, label);
          const double w = table[sizes_.pair(place, s, parent)];
          pairs.append(nb::make_tuple(place, s, parent, w));
        },
        [&](std::size_t i, std::size_t label) {
          const std::size_t s = symbol(i, label);
          pairs.append(nb::make_tuple(kPlaces, s, 0, double{table[sizes_.pairs() + s]}));
        });
    return nb::make_tuple(sites, pairs);
  }

 private:
  // A sentence with its scores, which lie in the workspace.
  struct Scored {
    Scored(const SpanScorer& scorer, std::size_t s, const float* weights, Workspace& ws)
        : layout(scorer.layout(s)) {
      enum Scratch { kTheta };
      double* theta = ws.real(kTheta, layout.parts);
      scorer.score(s, layout, weights, 1.0, theta);
      scores = scores_of(layout, theta);
    }
    Layout layout;
    Scores scores;
  };

  void check_sums(std::size_t n) const {
    // Scores and marginals of five blocks and eight charts.
    if (18 * text::spans_of(n) * sizes_.labels * sizeof(double) > kMostBytes) {
      throw std::invalid_argument("a sentence of " + std::to_string(n) +
                                  " words: sums over its trees would take gigabytes");
    }
  }

  SpanScorer score(const std::vector<Sentence>& sentences) const {
    std::vector<TreeInput> inputs;
    for (const auto& [words, tags] : sentences) inputs.push_back(reader_.read(words, tags));
    return {sizes_, index_, std::move(inputs)};
  }

  nb::list spans_of_output(const Output& y) const {
    std::vector<LabelledSpan> spans;
    trees_.spans(y, spans);
    nb::list out;
    for (const LabelledSpan& s : spans) out.append(nb::make_tuple(s.begin, s.end, s.label));
    return out;
  }

  TreeReader reader_;
  TreeSizes sizes_;
  Bytes held_weights_;
  std::span<const float> weights_;
  std::shared_ptr<const FeatureIndex> index_;
  SpanTrees trees_;
};

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<PyTreeExamples>(m, "TreeExamples")
      .def(nb::init<std::size_t, const Words&, nb::object, const std::vector<Example>&, std::size_t,
                    nb::object, std::size_t>(),
           nb::arg("labels"), nb::arg("tags"), nb::arg("known"), nb::arg("examples"),
           nb::arg("min_count"), nb::arg("keys").none(), nb::arg("nameless"))
      .def(
          "problem",
          [](nb::object self, nb::object sample_weight) {
            return nb::cast<const PyTreeExamples&>(self).problem(self, sample_weight);
          },
          nb::arg("sample_weight").none())
      .def("keys", &PyTreeExamples::keys)
      .def_prop_ro("n_features", &PyTreeExamples::features);
  nb::class_<PyTreeParser>(m, "TreeParser")
      .def(nb::init<std::size_t, const Words&, nb::object, nb::object, nb::object, std::size_t>(),
           nb::arg("labels"), nb::arg("tags"), nb::arg("known"), nb::arg("keys"),
           nb::arg("weights"), nb::arg("nameless"))
      .def("parse", &PyTreeParser::parse, nb::arg("sentences"), nb::arg("threads"))
      .def("kbest", &PyTreeParser::kbest, nb::arg("words"), nb::arg("tags"), nb::arg("k"))
      .def("sample", &PyTreeParser::sample, nb::arg("words"), nb::arg("tags"), nb::arg("n"),
           nb::arg("seed"))
      .def("parts", &PyTreeParser::parts, nb::arg("words"), nb::arg("tags"), nb::arg("spans"))
      .def("entropy", &PyTreeParser::entropy, nb::arg("words"), nb::arg("tags"))
      .def("marginals", &PyTreeParser::marginals, nb::arg("words"), nb::arg("tags"),
           nb::arg("least"));
  m.def("word_key", &TreeTokens::word_key, nb::arg("word"));
  m.def("count_tree_features", &count_tree_features, nb::arg("labels"), nb::arg("tags"),
        nb::arg("known"), nb::arg("examples"));
}

}  // namespace structlearn::python
