// Parsers of constituents: learning and parsing. Arrays come and go as buffers.
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/problem/py_problem.hpp"
#include "tasks/constituents/grammar_reader.hpp"
#include "tasks/constituents/span_reader.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// The chart of a longer sentence would not fit the memory of an ordinary machine.
constexpr std::size_t kMostWords = 1000;

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

using SpanTuples = std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t>>;
using TaggedWords = std::pair<Words, Words>;
using Example =
    std::tuple<Words, Words, SpanTuples, std::uint32_t>;  // the last: how often it counts

std::vector<LabelledSpan> read_spans(const SpanTuples& given, std::size_t n,
                                     const TreeSizes& sizes) {
  std::vector<LabelledSpan> spans;
  for (const auto& [begin, end, label] : given) spans.push_back({begin, end, label});
  if (const char* fault = tree_fault(spans, n, sizes)) throw std::invalid_argument(fault);
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
                 const std::vector<Example>& examples, nb::object keys, std::size_t nameless)
      : keys_(copied<std::uint64_t>(keys, "keys")) {
    const TreeReader reader(tags, copied<std::uint64_t>(known, "known"));
    const TreeSizes sizes = sizes_of(labels, reader, nameless);
    std::vector<TreeInput> inputs;
    std::vector<Output> gold;
    for (const auto& [words, tag, spans, copies] : examples) {
      inputs.push_back(reader.read(words, tag));
      inputs.back().copies = copies;
      const std::size_t n = words.size();
      const auto tree = read_spans(spans, n, sizes);
      gold.push_back(tree_of_spans(tree, n));
      add_cost(tree, n);
    }
    nb::gil_scoped_release release;
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
    const auto tree = read_spans(spans, words.size(), {labels, 0, 0});
    gold.push_back(tree_of_spans(tree, words.size()));
  }
  const FeatureIndex counted = counted_features(inputs, gold);
  return nb::make_tuple(to_bytes(counted.keys()), to_bytes(counted.counts()));
}

// Learned weights, for new sentences. `names`: those of each label, by their numbers.
class PyTreeParser {
 public:
  PyTreeParser(std::vector<std::vector<std::uint32_t>> names, const Words& tags, nb::object known,
               nb::object keys, nb::object weights, std::size_t nameless)
      : reader_(tags, copied<std::uint64_t>(known, "known")), held_weights_(weights) {
    model_.sizes = sizes_of(names.size(), reader_, nameless);
    for (const auto& list : names) {
      for (const std::uint32_t name : list) {
        model_.n_names = std::max<std::size_t>(model_.n_names, name + 1);
      }
    }
    model_.names = std::move(names);
    model_.weights = held_weights_.as<float>("weights");
    const auto rows = copied<std::uint64_t>(keys, "keys");
    if (model_.weights.size() != rows.size() * model_.sizes.labels + model_.sizes.table()) {
      throw std::invalid_argument("the weights do not fit the labels, tags and features");
    }
    if (std::find(rows.begin(), rows.end(), 0) != rows.end()) {
      throw std::invalid_argument("a feature without a key");
    }
    for (const float x : model_.weights) {
      if (!std::isfinite(x)) throw std::invalid_argument("the weights are not finite");
    }
    model_.index = feature_rows(rows);
  }

  std::unique_ptr<Inputs> inputs(const std::vector<TaggedWords>& sentences) const {
    std::vector<TreeInput> read;
    for (const auto& [words, tags] : sentences) read.push_back(reader_.read(words, tags));
    return std::make_unique<SpanInputs>(model_, std::move(read));
  }

  // What a tree is scored by: (block, i, k, j, label, keys, weights) of its spans and splits, with
  // a key and a weight for each template, and (place, symbol, parent, weight) of its label pairs;
  // of the root place 3.
  nb::tuple parts(const Words& words, const Words& tags, const SpanTuples& spans) const {
    const TreeInput input = reader_.read(words, tags);
    const TreeSizes& sizes = model_.sizes;
    const std::size_t n = words.size(), R = sizes.labels;
    const auto tree = read_spans(spans, n, sizes);
    const TreeFeatures features(input.tokens);
    const float* table = model_.weights.data() + model_.index->size() * R;
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
            const std::uint32_t row = model_.index->find(key);
            weights.push_back(row == FeatureIndex::kAbsent ? 0.0 : model_.weights[row * R + label]);
          }
          sites.append(nb::make_tuple(block, i, k, j, label, nb::cast(keys), nb::cast(weights)));
        },
        [&](std::size_t place, std::size_t i, std::size_t label, std::size_t parent) {
          const std::size_t s = symbol(i, label);
          const double w = table[sizes.pair(place, s, parent)];
          pairs.append(nb::make_tuple(place, s, parent, w));
        },
        [&](std::size_t i, std::size_t label) {
          const std::size_t s = symbol(i, label);
          pairs.append(nb::make_tuple(kPlaces, s, 0, double{table[sizes.pairs() + s]}));
        });
    return nb::make_tuple(sites, pairs);
  }

 private:
  TreeReader reader_;
  Bytes held_weights_;
  SpanModel model_;
};

// A grammar counted from a treebank, for new sentences.
class PyCountedGrammar {
 public:
  // `name`: of each symbol, -1 for none; `scores`: of the binary rules, the unary rules, the roots.
  PyCountedGrammar(const Words& tags, const std::vector<std::int64_t>& name,
                   std::vector<std::array<std::uint32_t, 3>> binary,
                   std::vector<std::array<std::uint32_t, 2>> unary, nb::object scores)
      : model_{GrammarTrees(grammar(name, std::move(binary), std::move(unary))), tags.size(),
               copied<double>(scores, "scores")} {
    const Grammar& g = model_.grammar();
    for (const std::string& tag : tags) {
      tags_.emplace(tag, static_cast<std::int32_t>(tags_.size()));
    }
    if (tags_.size() != tags.size() || tags.empty() || tags.size() > g.symbols) {
      throw std::invalid_argument("the symbols of the grammar do not fit together");
    }
    bool fits = model_.scores.size() == g.binary.size() + g.unary.size() + g.symbols;
    for (const double x : model_.scores) fits = fits && x <= 0.0;
    if (!fits) throw std::invalid_argument("the probabilities of the grammar do not fit its rules");
  }

  std::unique_ptr<Inputs> inputs(const std::vector<TaggedWords>& sentences) const {
    std::vector<TagNumbers> read;
    for (const auto& [words, tags] : sentences) {
      if (words.empty() || words.size() != tags.size()) {
        throw std::invalid_argument("a sentence has at least one word, and a tag for each");
      }
      TagNumbers& row = read.emplace_back();
      for (const std::string& tag : tags) {
        const auto known = tags_.find(tag);
        row.push_back(known == tags_.end() ? -1 : known->second);
      }
    }
    return std::make_unique<GrammarInputs>(model_, std::move(read));
  }

  // The rules that derive a tree, by the numbers of their scores, repeats included; empty if none
  // do.
  std::vector<std::size_t> rules(const Words& words, const Words& tags,
                                 const SpanTuples& spans) const {
    Output y;
    for (const auto& [begin, end, label] : spans) y.insert(y.end(), {begin, end, label});
    const auto sentence = inputs({{words, tags}});
    const auto reader = sentence->reader();
    const Scored& scored = reader->scores(0, Purpose::kBest);
    if (!reader->to_structure(y)) return {};
    std::vector<std::uint32_t> parts;
    model_.trees.encode(scored.layout, y, parts);
    std::vector<std::size_t> used;
    for (const std::uint32_t part : parts) {
      const std::size_t first = scored.layout.block[GrammarTrees::kBinary].offset;
      if (part >= first) used.push_back(part - first);
    }
    return used;
  }

 private:
  static Grammar grammar(const std::vector<std::int64_t>& name,
                         std::vector<std::array<std::uint32_t, 3>> binary,
                         std::vector<std::array<std::uint32_t, 2>> unary) {
    Grammar g;
    g.symbols = name.size();
    for (const std::int64_t x : name) {
      g.name.push_back(x < 0 ? Grammar::kNameless : static_cast<std::uint32_t>(x));
      if (x >= 0) g.names = std::max(g.names, static_cast<std::size_t>(x) + 1);
    }
    g.binary = std::move(binary);
    g.unary = std::move(unary);
    check_distinct(g.binary);
    check_distinct(g.unary);
    g.close(kMaxChain);
    return g;
  }

  template <class Rule>
  static void check_distinct(std::vector<Rule> rules) {
    std::sort(rules.begin(), rules.end());
    if (std::adjacent_find(rules.begin(), rules.end()) != rules.end()) {
      throw std::invalid_argument("a rule of the grammar comes twice");
    }
  }

  static constexpr std::size_t kMaxChain = 4;  // unary rules above each other
  CountedGrammar model_;
  std::unordered_map<std::string, std::int32_t> tags_;
};

template <class Model>
PyInputs inputs_of(nb::object self, const std::vector<TaggedWords>& sentences) {
  return {self, nb::cast<const Model&>(self).inputs(sentences)};
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<PyTreeExamples>(m, "TreeExamples")
      .def(nb::init<std::size_t, const Words&, nb::object, const std::vector<Example>&, nb::object,
                    std::size_t>(),
           nb::arg("labels"), nb::arg("tags"), nb::arg("known"), nb::arg("examples"),
           nb::arg("keys"), nb::arg("nameless"))
      .def(
          "problem",
          [](nb::object self, nb::object sample_weight) {
            return nb::cast<const PyTreeExamples&>(self).problem(self, sample_weight);
          },
          nb::arg("sample_weight").none());
  nb::class_<PyTreeParser>(m, "TreeParser")
      .def(nb::init<std::vector<std::vector<std::uint32_t>>, const Words&, nb::object, nb::object,
                    nb::object, std::size_t>(),
           nb::arg("names"), nb::arg("tags"), nb::arg("known"), nb::arg("keys"), nb::arg("weights"),
           nb::arg("nameless"))
      .def("inputs", &inputs_of<PyTreeParser>, nb::arg("sentences"))
      .def("parts", &PyTreeParser::parts, nb::arg("words"), nb::arg("tags"), nb::arg("spans"));
  nb::class_<PyCountedGrammar>(m, "CountedGrammar")
      .def(nb::init<const Words&, const std::vector<std::int64_t>&,
                    std::vector<std::array<std::uint32_t, 3>>,
                    std::vector<std::array<std::uint32_t, 2>>, nb::object>(),
           nb::arg("tags"), nb::arg("name"), nb::arg("binary"), nb::arg("unary"), nb::arg("scores"))
      .def("inputs", &inputs_of<PyCountedGrammar>, nb::arg("sentences"))
      .def("rules", &PyCountedGrammar::rules, nb::arg("words"), nb::arg("tags"), nb::arg("spans"));
  m.def("word_key", &TreeTokens::word_key, nb::arg("word"));
  m.def("count_tree_features", &count_tree_features, nb::arg("labels"), nb::arg("tags"),
        nb::arg("known"), nb::arg("examples"));
}

}  // namespace structlearn::python
