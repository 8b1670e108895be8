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
#include "bindings/signals.hpp"
#include "numeric/parallel.hpp"
#include "tasks/constituents/learner.hpp"
#include "tasks/constituents/sums.hpp"

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

template <class T>
std::vector<T> copied(nb::handle buffer, const char* what) {
  const Bytes bytes(buffer);
  const auto items = bytes.as<T>(what);
  return {items.begin(), items.end()};
}

template <class T>
void check_finite(std::span<const T> values, const char* what) {
  for (const T x : values) {
    if (!std::isfinite(x)) throw std::invalid_argument(std::string(what) + " are not finite");
  }
}

using Spans = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;
using Example = std::tuple<Words, Words, Spans>;

std::vector<TreeSpan> read_tree(const Spans& given, std::size_t n, std::size_t labels) {
  std::vector<TreeSpan> spans;
  for (const auto& [begin, end, label] : given) {
    if (begin >= end || end > n || label == 0 || label >= labels) {
      throw std::invalid_argument("a span outside the sentence, or without a label");
    }
    spans.push_back({begin, end, label});
  }
  std::sort(spans.begin(), spans.end(), [](const TreeSpan& a, const TreeSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::uint32_t> open;
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

TreeWeights sizes_of(std::size_t labels, const TreeReader& reader) {
  if (labels < 2) throw std::invalid_argument("a parser has at least one label");
  TreeWeights sizes;
  sizes.labels = labels;
  sizes.tags = reader.n_tags();
  return sizes;
}

class PyTreeLearner {
 public:
  PyTreeLearner(std::size_t labels, const Words& tags, nb::object known,
                const std::vector<Example>& examples, std::size_t min_count, double cost,
                double rate, bool log_loss)
      : reader_(tags, copied<std::uint64_t>(known, "known")), n_examples_(examples.size()) {
    const TreeWeights sizes = sizes_of(labels, reader_);
    std::vector<TreeExample> read;
    for (const auto& [words, tag, spans] : examples) {
      TreeExample example{reader_.read(words, tag), {}};
      example.gold = binary_tree(read_tree(spans, words.size(), labels), words.size());
      read.push_back(std::move(example));
    }
    nb::gil_scoped_release release;
    learner_ =
        std::make_unique<TreeLearner>(sizes, std::move(read), min_count, cost, rate, log_loss);
  }

  std::pair<bool, std::size_t> epoch(nb::object order) {
    const auto numbers = copied<std::uint32_t>(order, "order");
    for (const std::uint32_t e : numbers) {
      if (e >= n_examples_) throw nb::index_error("no such sentence");
    }
    Signals signals;
    std::size_t wrong = 0;
    bool complete = false;
    {
      nb::gil_scoped_release release;
      Interrupt interrupt(signals.poll());
      complete = learner_->epoch(numbers, interrupt, &wrong);
    }
    signals.rethrow_unless_keyboard();
    return {complete, wrong};
  }

  nb::tuple average() const {
    std::vector<float> rows;
    std::vector<double> table;
    learner_->average(rows, table);
    return nb::make_tuple(to_bytes(rows), to_bytes(table));
  }

  nb::bytes keys() const { return to_bytes(learner_->keys()); }
  std::size_t features() const { return learner_->features(); }

 private:
  TreeReader reader_;
  std::size_t n_examples_;
  std::unique_ptr<TreeLearner> learner_;
};

class PyTreeParser {
 public:
  PyTreeParser(std::size_t labels, const Words& tags, nb::object known, nb::object keys,
               nb::object weights, nb::object table)
      : reader_(tags, copied<std::uint64_t>(known, "known")),
        sizes_(sizes_of(labels, reader_)),
        held_weights_(weights),
        weights_(held_weights_.as<float>("weights")),
        table_(copied<double>(table, "table")) {
    const auto rows = copied<std::uint64_t>(keys, "keys");
    if (weights_.size() != rows.size() * labels || table_.size() != sizes_.table_size()) {
      throw std::invalid_argument("the weights do not fit the labels, tags and features");
    }
    if (std::find(rows.begin(), rows.end(), 0) != rows.end()) {
      throw std::invalid_argument("a feature without a key");
    }
    check_finite(weights_, "the weights");
    check_finite(std::span<const double>(table_), "the weights of pairs");
    index_ = KeyIndex(rows);
  }

  // The spans of each sentence, outer before inner.
  nb::list parse(const std::vector<std::pair<Words, Words>>& sentences, std::size_t threads) const {
    std::vector<TreeInput> inputs;
    for (const auto& [words, tags] : sentences) inputs.push_back(reader_.read(words, tags));
    std::vector<std::vector<TreeSpan>> found(inputs.size());
    Signals signals;
    {
      nb::gil_scoped_release release;
      Interrupt interrupt(signals.poll());
      std::vector<std::unique_ptr<TreeChart>> charts(std::max<std::size_t>(threads, 1));
      parallel_for(inputs.size(), threads, [&](std::size_t s, std::size_t thread) {
        if (interrupt.requested()) return;
        if (!charts[thread]) {
          charts[thread] =
              std::make_unique<TreeChart>(sizes_, index_, weights_.data(), table_.data());
        }
        BinaryTree tree;
        charts[thread]->parse(inputs[s], tree);
        labelled_spans(tree, found[s]);
      });
    }
    signals.rethrow();
    nb::list out;
    for (const auto& spans : found) {
      nb::list one;
      for (const TreeSpan& s : spans) one.append(nb::make_tuple(s.begin, s.end, s.label));
      out.append(one);
    }
    return out;
  }

  // (score, spans) of the k best trees of a sentence.
  nb::list kbest(const Words& words, const Words& tags, std::size_t k) const {
    const TreeInput input = reader_.read(words, tags);
    std::vector<std::pair<double, BinaryTree>> found;
    {
      nb::gil_scoped_release release;
      TreeChart chart(sizes_, index_, weights_.data(), table_.data());
      found = chart.kbest(input, k);
    }
    nb::list out;
    std::vector<TreeSpan> spans;
    for (const auto& [score, tree] : found) {
      labelled_spans(tree, spans);
      nb::list one;
      for (const TreeSpan& s : spans) one.append(nb::make_tuple(s.begin, s.end, s.label));
      out.append(nb::make_tuple(score, one));
    }
    return out;
  }

  // log of the sum over all trees, and (begin, end, label, probability) of labelled spans.
  nb::tuple marginals(const Words& words, const Words& tags, double least) const {
    const TreeInput input = reader_.read(words, tags);
    const std::size_t n = words.size(), R = sizes_.labels;
    if (TreeSums::bytes(n, R) > kMostBytes) {
      throw std::invalid_argument("a sentence of " + std::to_string(n) +
                                  " words: sums over its trees would take gigabytes");
    }
    TreeSums sums(sizes_, index_, weights_.data(), table_.data());
    double total = 0.0;
    {
      nb::gil_scoped_release release;
      total = sums.inside(input);
      sums.outside(input);
    }
    nb::list out;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = n; j > i; --j) {
        for (std::size_t x = 1; x < R; ++x) {
          const double p = std::min(1.0, sums.node(i, j)[x]);
          if (p >= least && p > 0.0) out.append(nb::make_tuple(i, j, x, p));
        }
      }
    }
    return nb::make_tuple(total, out);
  }

 private:
  TreeReader reader_;
  TreeWeights sizes_;
  Bytes held_weights_;
  std::span<const float> weights_;
  std::vector<double> table_;
  KeyIndex index_;
};

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<PyTreeLearner>(m, "TreeLearner")
      .def(nb::init<std::size_t, const Words&, nb::object, const std::vector<Example>&, std::size_t,
                    double, double, bool>(),
           nb::arg("labels"), nb::arg("tags"), nb::arg("known"), nb::arg("examples"),
           nb::arg("min_count"), nb::arg("cost"), nb::arg("rate"), nb::arg("log_loss") = false)
      .def("epoch", &PyTreeLearner::epoch, nb::arg("order"))
      .def("average", &PyTreeLearner::average)
      .def("keys", &PyTreeLearner::keys)
      .def_prop_ro("n_features", &PyTreeLearner::features);
  nb::class_<PyTreeParser>(m, "TreeParser")
      .def(nb::init<std::size_t, const Words&, nb::object, nb::object, nb::object, nb::object>(),
           nb::arg("labels"), nb::arg("tags"), nb::arg("known"), nb::arg("keys"),
           nb::arg("weights"), nb::arg("table"))
      .def("parse", &PyTreeParser::parse, nb::arg("sentences"), nb::arg("threads"))
      .def("kbest", &PyTreeParser::kbest, nb::arg("words"), nb::arg("tags"), nb::arg("k"))
      .def("marginals", &PyTreeParser::marginals, nb::arg("words"), nb::arg("tags"),
           nb::arg("least"));
  m.def("word_key", &TreeTokens::word_key, nb::arg("word"));
}

}  // namespace structlearn::python
