// Corpora, features, taggers. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "bindings.hpp"
#include "buffers.hpp"
#include "labelling.hpp"
#include "signals.hpp"
#include "structlearn/integer_perceptron.hpp"
#include "structlearn/random.hpp"
#include "structlearn/text/functions.hpp"
#include "structlearn/text/labeller.hpp"
#include "structlearn/text/lexicon.hpp"
#include "structlearn/text/model.hpp"
#include "structlearn/text/vocabulary.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// -- features -----------------------------------------------------------------------------------

StringFunction then(StringFunction first, StringFunction second) {
  if (!first) return second;
  return [first = std::move(first), second = std::move(second)](std::string_view s,
                                                                std::vector<std::string>& out) {
    std::vector<std::string> between;
    first(s, between);
    for (const std::string& b : between) second(b, out);
  };
}

std::shared_ptr<nb::object> held_object(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            nb::gil_scoped_acquire gil;
            delete held;
          }};
}

std::function<void(std::string_view, float*)> python_vectors(nb::object call, std::size_t width) {
  auto held = held_object(std::move(call));
  return [held, width](std::string_view s, float* out) {
    nb::gil_scoped_acquire gil;
    const Bytes bytes((*held)(text_of(s)));
    const auto numbers = bytes.as<float>("a vector");
    if (numbers.size() != width) throw std::invalid_argument("a vector of another length");
    std::copy(numbers.begin(), numbers.end(), out);
  };
}

// Calls Python for each distinct string: None or "" is no value, a string one, a list several.
StringFunction python_function(nb::object call) {
  auto held = held_object(std::move(call));
  return [held](std::string_view s, std::vector<std::string>& out) {
    nb::gil_scoped_acquire gil;
    const nb::object value = (*held)(text_of(s));
    const auto add = [&](nb::handle v) {
      if (!nb::isinstance<nb::str>(v)) {
        throw nb::type_error("a feature function must return a string, a list of strings or None");
      }
      auto text = nb::cast<std::string>(v);
      if (!text.empty()) out.push_back(std::move(text));
    };
    if (value.is_none()) return;
    if (nb::isinstance<nb::str>(value)) {
      add(value);
    } else if (!nb::isinstance<nb::iterable>(value)) {
      add(value);  // says what is wrong
    } else {
      for (nb::handle v : value) add(v);
    }
  };
}

// Calls Python for each sentence, with its tokens as tuples of cells; a value, a list of values or
// None a token comes back.
std::function<void(const Corpus&, std::size_t, std::vector<std::vector<std::string>>&)>
sentence_function(nb::object call) {
  auto held = held_object(std::move(call));
  return [held](const Corpus& corpus, std::size_t sentence,
                std::vector<std::vector<std::string>>& out) {
    nb::gil_scoped_acquire gil;
    nb::list tokens;
    for (std::size_t t = corpus.sentence(sentence); t < corpus.sentence(sentence + 1); ++t) {
      nb::list cells;
      for (const Column& column : corpus.columns()) {
        cells.append(text_of(column.strings[column.cell[t]]));
      }
      tokens.append(nb::tuple(cells));
    }
    const nb::object values = (*held)(tokens);
    if (nb::len(values) != out.size()) {
      throw nb::value_error("a sentence function must return one entry a token");
    }
    std::size_t t = 0;
    for (nb::handle value : values) {
      if (nb::isinstance<nb::str>(value)) {
        out[t].push_back(nb::cast<std::string>(value));
      } else if (!value.is_none()) {
        for (nb::handle v : value) out[t].push_back(nb::cast<std::string>(v));
      }
      ++t;
    }
  };
}

StringFunction named_function(const std::string& name, std::size_t n) {
  using Strings = std::vector<std::string>;
  if (name == "lower") {
    return [](std::string_view s, Strings& out) { out.push_back(text::lower(s)); };
  }
  if (name == "prefix" || name == "suffix") {
    const auto take = name == "prefix" ? &text::prefix : &text::suffix;
    return [take, n](std::string_view s, Strings& out) {
      std::string_view piece;
      if (take(s, n, piece)) out.emplace_back(piece);
    };
  }
  if (name == "shape") {
    return [n](std::string_view s, Strings& out) { out.push_back(text::shape(s, n != 0)); };
  }
  if (name == "digits") {
    return [](std::string_view s, Strings& out) { out.push_back(text::digits(s)); };
  }
  if (name == "ngrams") {
    return [n](std::string_view s, Strings& out) { text::ngrams(s, n, out); };
  }
  throw std::invalid_argument("there is no feature function '" + name + "'");
}

Attribute read_attribute(nb::dict spec) {
  Attribute a;
  const auto kind = nb::cast<std::string>(spec["kind"]);
  if (spec.contains("column")) a.column = nb::cast<std::size_t>(spec["column"]);
  if (kind == "first") {
    a.kind = Attribute::Kind::kFirst;
  } else if (kind == "last") {
    a.kind = Attribute::Kind::kLast;
  } else if (kind == "constant") {
    a.kind = Attribute::Kind::kConstant;
  } else if (kind == "sentence") {
    a.kind = Attribute::Kind::kSentence;
    a.sentence_function = sentence_function(spec["function"]);
  } else if (kind == "gazetteer") {
    a.kind = Attribute::Kind::kGazetteer;
    if (nb::cast<bool>(spec["lower"])) a.function = named_function("lower", 0);
    auto phrases = std::make_shared<Gazetteer>();
    for (nb::handle entry : nb::cast<nb::list>(spec["phrases"])) {
      const auto [words, name] = nb::cast<std::pair<std::vector<std::string>, std::string>>(entry);
      phrases->add({words.begin(), words.end()}, name);
    }
    a.gazetteer = std::move(phrases);
  } else if (kind == "vector") {
    a.kind = Attribute::Kind::kVector;
    if (nb::cast<bool>(spec["lower"])) a.function = named_function("lower", 0);
    a.width = nb::cast<std::size_t>(spec["width"]);
    if (spec.contains("function")) {
      a.vector_function = python_vectors(spec["function"], a.width);
      return a;
    }
    auto table = std::make_shared<VectorTable>();
    for (const auto& name : nb::cast<std::vector<std::string>>(spec["names"])) {
      table->names.add(name);
    }
    const Bytes values(spec["values"]);
    const auto numbers = values.as<float>("vectors");
    table->values.assign(numbers.begin(), numbers.end());
    table->width = a.width;
    if (table->values.size() != table->width * table->names.size()) {
      throw std::invalid_argument("as many vectors as names are needed, and no name twice");
    }
    a.vectors = std::move(table);
  } else if (kind == "string" || kind == "lexicon") {
    if (kind == "lexicon") {
      a.kind = Attribute::Kind::kLexicon;
      a.lexicon = nb::cast<std::shared_ptr<Lexicon>>(spec["lexicon"]);
    }
    for (nb::handle step : nb::cast<nb::list>(spec["functions"])) {
      if (nb::isinstance<nb::tuple>(step)) {
        const auto [name, n] = nb::cast<std::pair<std::string, std::size_t>>(step);
        a.function = then(std::move(a.function), named_function(name, n));
        a.multiple = a.multiple || name == "ngrams";
      } else {
        a.function = then(std::move(a.function), python_function(nb::borrow(step)));
        a.multiple = true;
      }
    }
  } else {
    throw std::invalid_argument("there is no attribute kind '" + kind + "'");
  }
  return a;
}

// The labels of words in a corpus: words by a column's strings, through functions.
std::shared_ptr<Lexicon> make_lexicon(const Corpus& corpus, std::size_t column, nb::list functions,
                                      std::size_t target, const std::string& unknown, bool types) {
  nb::dict spec;
  spec["kind"] = "string";
  spec["column"] = column;
  spec["functions"] = functions;
  const Attribute attribute = read_attribute(spec);
  const Column& words = corpus.columns()[column];
  const Column& labels = corpus.columns()[target];
  std::vector<std::uint64_t> hash;
  std::vector<std::string> found;
  for (std::uint32_t s = 0; s < words.strings.size(); ++s) {
    found.clear();
    if (attribute.function) attribute.function(words.strings[s], found);
    const std::uint64_t h = !attribute.function ? words.strings.hash(s)
                            : found.empty()     ? 0
                                                : hash_string(found[0]);
    hash.push_back(attribute.function && found.empty() ? 0 : h == 0 ? 1 : h);
  }
  // Label names, and the number of the one that each label counts as.
  StringTable names;
  std::vector<std::uint32_t> name_of;
  for (std::uint32_t k = 0; k < labels.strings.size(); ++k) {
    const std::string_view label = labels.strings[k];
    const ChunkLabel chunk = chunk_label(label);
    name_of.push_back(names.add(types && !chunk.type.empty() ? chunk.type : label));
  }
  auto lexicon = std::make_shared<Lexicon>();
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    const std::size_t fold = fold_of(s, corpus.sentences(), Lexicon::kFolds);
    for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
      const std::uint64_t word = hash[words.cell[t]];
      if (word != 0 && labels.strings[labels.cell[t]] != unknown) {
        lexicon->count(word, name_of[labels.cell[t]], fold);
      }
    }
  }
  std::vector<std::string> values;
  for (std::uint32_t k = 0; k < names.size(); ++k) values.emplace_back(names[k]);
  lexicon->finish(values);
  return lexicon;
}

std::shared_ptr<FeatureSet> make_features(nb::list attributes, nb::list templates) {
  std::vector<Attribute> read;
  for (nb::handle spec : attributes) read.push_back(read_attribute(nb::cast<nb::dict>(spec)));
  std::vector<Template> made;
  for (nb::handle spec : templates) {
    const auto fields = nb::cast<nb::tuple>(spec);
    Template t;
    t.text = nb::cast<std::string>(fields[0]);
    for (const auto& [attribute, offset] :
         nb::cast<std::vector<std::pair<std::size_t, std::ptrdiff_t>>>(fields[1])) {
      t.atoms.push_back({attribute, offset});
    }
    t.mark_boundaries = nb::cast<bool>(fields[2]);
    t.transition = nb::cast<bool>(fields[3]);
    made.push_back(std::move(t));
  }
  return std::make_shared<FeatureSet>(std::move(read), std::move(made));
}

// -- corpora ------------------------------------------------------------------------------------

nb::list cells(const Corpus& corpus, std::size_t sentence, std::size_t column) {
  nb::list out;
  const Column& c = corpus.columns()[column];
  for (std::size_t t = corpus.sentence(sentence); t < corpus.sentence(sentence + 1); ++t) {
    out.append(text_of(c.strings[c.cell[t]]));
  }
  return out;
}

// -- training -----------------------------------------------------------------------------------

struct PyPerceptron {
  PyPerceptron() = default;
  PyPerceptron(const PyPerceptron&) = delete;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<double> masks[3];
  std::unique_ptr<IntegerPerceptron> learner;
  std::vector<std::unique_ptr<IntegerPerceptron::Batch>> batches;
};

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t stream,
                                    bool shuffle) {
  std::vector<std::uint32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  if (!shuffle) return order;
  Random random(seed, stream);
  for (std::size_t i = n; i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  }
  return order;
}

nb::dict array_dict(const TokenRows& rows) {
  nb::dict d;
  d["sentence"] = to_numpy(rows.sentence);
  d["begin"] = to_numpy(rows.begin);
  d["feature"] = to_numpy(rows.feature);
  d["value"] = to_numpy(rows.value);
  d["label"] = to_numpy(rows.label);
  d["pair_sentence"] = to_numpy(rows.pair_sentence);
  d["pair_begin"] = to_numpy(rows.pair_begin);
  d["pair_feature"] = to_numpy(rows.pair_feature);
  return d;
}

// The names of features in the order of their keys: text, and where each ends. Those first seen
// outside the `sentences` that the extractor has, from number `first` on, get none.
nb::tuple feature_names(const Vocabulary& vocabulary, Extractor& extractor, bool pairs,
                        nb::handle kept, std::size_t first, std::size_t sentences) {
  const Bytes bytes(kept);
  const FeatureIndex& index = pairs ? vocabulary.pair_index() : vocabulary.index();
  const auto& sightings = pairs ? vocabulary.pair_sightings() : vocabulary.sightings();
  const std::vector<std::uint64_t> keys = index.keys();
  const auto wanted = bytes.as<std::uint32_t>("kept");
  std::vector<std::uint32_t> order(wanted.begin(), wanted.end());
  std::sort(order.begin(), order.end());  // sentence by sentence
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const std::uint32_t f : order) {
    if (f >= sightings.size()) throw std::invalid_argument("no such feature");
    const Sighting& s = sightings[f];
    const bool here = s.sentence >= first && s.sentence - first < sentences;
    found.emplace_back(
        keys[f],
        here ? extractor.name(s.sentence - first, s.position, s.origin, keys[f]) : std::string());
  }
  std::sort(found.begin(), found.end());
  std::string text;
  std::vector<std::uint32_t> end;
  for (const auto& named : found) {
    text.append(named.second);
    end.push_back(static_cast<std::uint32_t>(text.size()));
  }
  return nb::make_tuple(nb::bytes(text.data(), text.size()), to_bytes(end));
}

// -- models -------------------------------------------------------------------------------------

struct PyModel {
  PyModel(const PyModel&) = delete;
  std::vector<Bytes> keep;
  LabelNames names;
  std::unique_ptr<TaggerModel> model;

  // `shown`: how each label is written.
  PyModel(std::shared_ptr<FeatureSet> features, std::vector<std::string> labels,
          const std::vector<std::string>& shown, std::size_t order, bool hashed, nb::dict arrays) {
    if (!std::is_sorted(labels.begin(), labels.end()) || labels.size() != shown.size()) {
      throw std::invalid_argument("the labels are not in sorted order");
    }
    names.labels = std::move(labels);
    names.names = shown;
    std::sort(names.names.begin(), names.names.end());
    names.names.erase(std::unique(names.names.begin(), names.names.end()), names.names.end());
    for (const std::string& name : shown) names.name_of.push_back(names.find(name));
    const auto get = [&](const char* name) -> const Bytes& {
      if (arrays.contains(name)) {
        keep.emplace_back(arrays[name]);
      } else {
        keep.emplace_back();
      }
      return keep.back();
    };
    keep.reserve(32);
    TaggerWeights w;
    w.labels = names.labels.size();
    w.order = order;
    const auto table = [&](const std::string& prefix) {
      WeightTable t;
      t.slots = get((prefix + ".slots").c_str()).as<std::uint64_t>("slots");
      t.weight = get((prefix + ".weight").c_str()).as<float>("weight");
      t.outcome = get((prefix + ".outcome").c_str()).as<std::uint32_t>("outcome");
      return t;
    };
    w.state = table("state");
    w.state.hashed = hashed;
    w.pair = table("pair");
    const auto vector = [&](const char* name) {
      const auto values = get(name).as<double>(name);
      for (const double x : values) {
        if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) {
          throw std::invalid_argument(std::string(name) + " has a score that is not a number");
        }
      }
      return std::vector<double>(values.begin(), values.end());
    };
    w.start = vector("start");
    w.end = vector("end");
    if (order > 4) throw std::invalid_argument("the order is above 4");
    for (std::size_t m = 1; m <= order; ++m) {
      w.transition.push_back(vector(("transition" + std::to_string(m)).c_str()));
    }
    model = std::make_unique<TaggerModel>(std::move(features), std::move(w));
  }
};

struct PyLabeller {
  PyLabeller() = default;
  PyLabeller(const PyLabeller&) = delete;
  std::shared_ptr<PyModel> model;
  std::vector<std::unique_ptr<Labeller>> workers;
  Format format = Format::kColumns;
  LabelOptions options;

  nb::bytes label(nb::handle data, std::size_t line, std::size_t threads) {
    return label_in_pieces(data, line, threads, workers, [&] {
      return std::make_unique<Labeller>(*model->model, model->names, format, options);
    });
  }
  std::size_t tokens() const {
    std::size_t n = 0;
    for (const auto& worker : workers) n += worker->tokens();
    return n;
  }
};

}  // namespace

void bind_text(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const BadLine& e) {
      const nb::object type = nb::module_::import_("structlearn.exceptions").attr("LineError");
      PyErr_SetObject(type.ptr(), nb::make_tuple(e.line, e.what()).ptr());
    }
  });

  nb::class_<Corpus>(m, "Corpus")
      .def(
          "__init__", [](Corpus* self, const std::string& f) { new (self) Corpus(format_of(f)); },
          nb::arg("format"))
      .def_prop_ro("n_sentences", &Corpus::sentences)
      .def_prop_ro("n_tokens", &Corpus::tokens)
      .def_prop_ro("n_columns", [](const Corpus& c) { return c.columns().size(); })
      .def_prop_ro("n_bytes", &Corpus::bytes)
      .def_prop_ro("separator", [](const Corpus& c) { return std::string(1, c.separator()); })
      .def(
          "read",
          [](Corpus& c, nb::handle text) {
            const Bytes bytes(text);
            nb::gil_scoped_release release;
            c.read(bytes.text());
          },
          nb::arg("text"))
      .def("copy", [](const Corpus& c) { return Corpus(c); })
      .def("set_line", &Corpus::set_line, nb::arg("lines"))
      .def(
          "to_iobes",
          [](Corpus& c, std::size_t column, const std::string& unknown) {
            check_column(c, column);
            c.to_iobes(column, unknown);
          },
          nb::arg("column"), nb::arg("unknown") = "")
      .def("clear_tokens", &Corpus::clear_tokens)
      .def("clear", &Corpus::clear)
      .def(
          "add_sentence",
          [](Corpus& c, const std::vector<std::vector<std::string>>& columns) {
            if (columns.empty() || columns[0].empty()) {
              throw std::invalid_argument("a sentence needs at least one column and one token");
            }
            if (!c.columns().empty() && c.columns().size() != columns.size()) {
              throw std::invalid_argument(
                  "the sentences before have " + std::to_string(c.columns().size()) +
                  " columns, this one has " + std::to_string(columns.size()));
            }
            std::vector<std::vector<std::string_view>> views;
            for (const auto& column : columns) {
              if (column.size() != columns[0].size()) {
                throw std::invalid_argument("columns of different lengths");
              }
              views.emplace_back(column.begin(), column.end());
            }
            c.add_sentence(views);
          },
          nb::arg("columns"))
      .def(
          "length",
          [](const Corpus& c, std::size_t i) {
            check_sentence(c, i);
            return c.sentence(i + 1) - c.sentence(i);
          },
          nb::arg("sentence"))
      .def(
          "line_number",
          [](const Corpus& c, std::size_t i, std::size_t position) {
            check_sentence(c, i);
            if (c.sentence(i) + position >= c.sentence(i + 1))
              throw nb::index_error("no such token");
            return c.line_number(c.sentence(i) + position);
          },
          nb::arg("sentence"), nb::arg("position") = 0)
      .def(
          "cells",
          [](const Corpus& c, std::size_t i, std::size_t column) {
            check_sentence(c, i);
            check_column(c, column);
            return cells(c, i, column);
          },
          nb::arg("sentence"), nb::arg("column"))
      .def(
          "strings",
          [](const Corpus& c, std::size_t column) {
            check_column(c, column);
            nb::list out;
            const StringTable& strings = c.columns()[column].strings;
            for (std::uint32_t i = 0; i < strings.size(); ++i) out.append(text_of(strings[i]));
            return out;
          },
          nb::arg("column"))
      .def(
          "asides",
          [](const Corpus& c, std::size_t i) {
            // Comments and the like of a sentence: position of the token after them, and text.
            check_sentence(c, i);
            nb::list out;
            const auto& asides = c.asides();
            auto at = std::lower_bound(
                asides.begin(), asides.end(), i,
                [](const Aside& aside, std::size_t sentence) { return aside.sentence < sentence; });
            for (; at != asides.end() && at->sentence == i; ++at) {
              out.append(
                  nb::make_tuple(at->token - c.sentence(i), text_of(c.aside_text()[at->text])));
            }
            return out;
          },
          nb::arg("sentence"))
      .def(
          "cell_numbers",
          [](const Corpus& c, std::size_t column) {
            check_column(c, column);
            return to_bytes(c.columns()[column].cell);
          },
          nb::arg("column"));

  nb::class_<FeatureSet>(m, "FeatureSet")
      .def(nb::new_(&make_features), nb::arg("attributes"), nb::arg("templates"))
      .def_prop_ro("n_templates", [](const FeatureSet& f) { return f.templates().size(); })
      .def_prop_ro("columns_needed", &FeatureSet::columns_needed)
      .def_prop_ro("has_values", &FeatureSet::has_values)
      .def_prop_ro("has_transitions", &FeatureSet::has_transitions);

  nb::class_<Lexicon>(m, "Lexicon")
      .def(nb::new_([](nb::handle words, nb::handle value, const std::vector<std::string>& names) {
             const Bytes w(words), v(value);
             return std::make_shared<Lexicon>(w.as<std::uint64_t>("words"),
                                              v.as<std::uint32_t>("value"), names);
           }),
           nb::arg("words"), nb::arg("value"), nb::arg("names"))
      .def_prop_ro("words", [](const Lexicon& l) { return to_bytes(l.index().keys()); })
      .def_prop_ro("value", [](const Lexicon& l) { return to_bytes(l.values()); })
      .def_prop_ro("names", [](const Lexicon& l) {
        nb::list out;
        for (std::uint32_t i = 0; i < l.names().size(); ++i) out.append(text_of(l.names()[i]));
        return out;
      });
  m.def("make_lexicon", &make_lexicon, nb::arg("corpus"), nb::arg("column"), nb::arg("functions"),
        nb::arg("target"), nb::arg("unknown"), nb::arg("types"));

  nb::class_<Extractor>(m, "Extractor")
      .def(
          "__init__",
          [](Extractor* self, std::shared_ptr<FeatureSet> features, const Corpus& corpus,
             bool training) {
            check_columns(*features, corpus);
            new (self) Extractor(std::move(features), corpus, training);
            self->update();
          },
          nb::arg("features"), nb::arg("corpus"), nb::arg("training") = false,
          nb::keep_alive<1, 3>())
      .def("update", &Extractor::update)
      .def("forget", &Extractor::forget)
      .def(
          "names",
          [](Extractor& self, const Corpus& corpus, std::size_t sentence, bool transitions) {
            // The names of all features, token by token.
            check_sentence(corpus, sentence);
            Keys keys;
            self.keys(sentence, transitions, keys);
            nb::list out;
            std::size_t j = 0;
            for (std::size_t t = 0; t < keys.end.size(); ++t) {
              nb::list names;
              for (; j < keys.end[t]; ++j) {
                names.append(text_of(
                    self.name(sentence, t + (transitions ? 1 : 0), keys.origin[j], keys.key[j])));
              }
              out.append(names);
            }
            return out;
          },
          nb::arg("corpus"), nb::arg("sentence"), nb::arg("transitions") = false);

  nb::class_<TokenRows>(m, "TokenRows")
      .def(nb::init<>())
      .def_prop_ro("n_sentences", [](const TokenRows& r) { return r.sentence.size() - 1; })
      .def_prop_ro("n_tokens", [](const TokenRows& r) { return r.label.size(); })
      .def_prop_ro("all_labels_known",
                   [](const TokenRows& r) {
                     return std::find(r.label.begin(), r.label.end(), -1) == r.label.end();
                   })
      .def_prop_ro("has_values", [](const TokenRows& r) { return !r.value.empty(); })
      .def("clear", [](TokenRows& r) { r = TokenRows(); })
      .def("arrays", &array_dict);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, std::shared_ptr<FeatureSet> features, std::size_t target,
             std::size_t width, std::string unknown) {
            new (self) Vocabulary(std::move(features), target, width, std::move(unknown));
          },
          nb::arg("features"), nb::arg("target"), nb::arg("width"), nb::arg("unknown"))
      .def(
          "add",
          [](Vocabulary& v, Extractor& e, const Corpus& c, TokenRows* rows) {
            if (c.tokens() == 0) return;
            check_column(c, v.target());
            nb::gil_scoped_release release;
            v.add(e, c, 0, c.sentences(), rows);
          },
          nb::arg("extractor"), nb::arg("corpus"), nb::arg("rows").none())
      .def(
          "freeze",
          [](Vocabulary& v, std::size_t min_count, std::size_t fill, TokenRows* rows) {
            v.freeze(min_count, fill, rows);
          },
          nb::arg("min_count"), nb::arg("fill"), nb::arg("rows").none())
      .def(
          "rows",
          [](const Vocabulary& v, Extractor& e, const Corpus& c) {
            auto rows = std::make_unique<TokenRows>();
            nb::gil_scoped_release release;
            v.rows(e, c, 0, c.sentences(), *rows);
            return rows;
          },
          nb::arg("extractor"), nb::arg("corpus"))
      .def("add_label", &Vocabulary::add_label, nb::arg("label"))
      .def(
          "add_features",
          [](Vocabulary& v, nb::handle keys, nb::handle row_ptr, nb::handle column) {
            const Bytes k(keys), r(row_ptr), c(column);
            const auto key = k.as<std::uint64_t>("keys");
            const auto row = r.as<std::uint32_t>("row_ptr");
            const auto label = c.as<std::uint32_t>("column");
            if (row.size() != key.size() + 1 || row.back() > label.size()) {
              throw std::invalid_argument("keys and rows do not fit together");
            }
            std::vector<std::uint32_t> labels;
            for (std::size_t f = 0; f < key.size(); ++f) {
              labels.assign(label.begin() + row[f], label.begin() + row[f + 1]);
              v.add_feature(key[f], labels);
            }
          },
          nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"))
      .def_prop_ro("size", &Vocabulary::size)
      .def_prop_ro("pair_size", &Vocabulary::pair_size)
      .def_prop_ro("labels", [](const Vocabulary& v) { return v.labels(); })
      .def_prop_ro("n_weights", [](const Vocabulary& v) { return v.column().size(); })
      .def("keys", [](const Vocabulary& v) { return to_bytes(v.index().keys()); })
      .def("pair_keys", [](const Vocabulary& v) { return to_bytes(v.pair_index().keys()); })
      .def("row_ptr", [](const Vocabulary& v) { return to_bytes(v.row_ptr()); })
      .def("column", [](const Vocabulary& v) { return to_bytes(v.column()); })
      .def("names", &feature_names, nb::arg("extractor"), nb::arg("pairs"), nb::arg("kept"),
           nb::arg("first"), nb::arg("sentences"));

  nb::class_<PyPerceptron>(m, "IntegerPerceptron")
      .def(
          "__init__",
          [](PyPerceptron* self, std::shared_ptr<Vocabulary> vocabulary, bool boundaries,
             nb::handle start, nb::handle end, nb::handle transition) {
            new (self) PyPerceptron;
            self->vocabulary = std::move(vocabulary);
            const Vocabulary& v = *self->vocabulary;
            const std::size_t K = v.labels().size();
            const nb::handle given[3] = {start, end, transition};
            for (std::size_t i = 0; i < 3; ++i) {
              const Bytes bytes(given[i]);
              const auto mask = bytes.as<double>("mask");
              if (!mask.empty() && mask.size() != (i < 2 ? K : K * K)) {
                throw std::invalid_argument("a mask of the wrong size");
              }
              self->masks[i].assign(mask.begin(), mask.end());
            }
            self->learner = std::make_unique<IntegerPerceptron>(
                IntegerPerceptron::Layout{v.row_ptr(), v.column().data(), K, boundaries,
                                          self->masks[0], self->masks[1], self->masks[2]});
          },
          nb::arg("vocabulary"), nb::arg("boundaries"), nb::arg("start_mask"), nb::arg("end_mask"),
          nb::arg("transition_mask"))
      .def(
          "add_batch",
          [](PyPerceptron& self, const TokenRows& rows) {
            auto batch = std::make_unique<IntegerPerceptron::Batch>();
            self.learner->read({rows.sentence, rows.begin, rows.feature, rows.label}, *batch);
            self.batches.push_back(std::move(batch));
          },
          nb::arg("rows"))
      .def("clear_batches", [](PyPerceptron& self) { self.batches.clear(); })
      .def("reset", [](PyPerceptron& self) { self.learner->reset(); })
      .def(
          "epoch",
          [](PyPerceptron& self, std::size_t batch, bool shuffle, std::uint64_t seed,
             std::uint64_t stream) {
            if (batch >= self.batches.size()) throw nb::index_error("no such batch");
            EpochReport report;
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              const IntegerPerceptron::Batch& b = *self.batches[batch];
              const auto order = shuffled(b.sentence.size() - 1, seed, stream, shuffle);
              report = self.learner->epoch(b, order, interrupt);
            }
            signals.rethrow_unless_keyboard();
            return nb::make_tuple(report.complete, report.updates, report.loss);
          },
          nb::arg("batch"), nb::arg("shuffle"), nb::arg("seed"), nb::arg("stream"))
      .def(
          "skip", [](PyPerceptron& self, std::int64_t sentences) { self.learner->skip(sentences); },
          nb::arg("sentences"))
      .def(
          "weights",
          [](const PyPerceptron& self, bool average) {
            std::vector<double> w(self.learner->weights());
            if (average) {
              self.learner->mean(w);
            } else {
              self.learner->last(w);
            }
            return to_bytes(w);
          },
          nb::arg("average"));

  m.def(
      "pack_weights",
      [](nb::handle keys, nb::handle row_ptr, nb::handle column, nb::handle weights,
         std::size_t outcomes, double prune) {
        const Bytes k(keys), r(row_ptr), c(column), w(weights);
        const auto rows = r.as<std::uint32_t>("row_ptr");
        const auto columns = c.as<std::uint32_t>("column");
        const auto values = w.as<double>("weights");
        if (rows.empty() || rows.back() > columns.size() || rows.back() > values.size()) {
          throw std::invalid_argument("rows and weights do not fit together");
        }
        const WeightArrays a =
            pack(k.as<std::uint64_t>("keys"), rows, columns, values, outcomes, prune);
        return nb::make_tuple(to_bytes(a.slots), to_bytes(a.weight), to_bytes(a.outcome),
                              to_bytes(a.kept));
      },
      nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"), nb::arg("weights"),
      nb::arg("outcomes"), nb::arg("prune"));

  m.def(
      "vector_keys",
      [](const std::string& text, std::size_t width) {
        // The keys of a vector template's numbers.
        std::vector<std::uint64_t> keys;
        for (std::size_t d = 0; d < width; ++d) keys.push_back(vector_key(text, d));
        return to_bytes(keys);
      },
      nb::arg("text"), nb::arg("width"));

  m.def(
      "checksum",
      [](nb::list pieces) {
        Checksum sum;
        for (nb::handle piece : pieces) {
          const Bytes bytes(piece);
          sum.add(bytes.text().data(), bytes.text().size());
        }
        return sum.value();
      },
      nb::arg("pieces"));

  m.def(
      "last_sentence_end",
      [](nb::handle text) {
        const Bytes bytes(text);
        return last_sentence_end(bytes.text());
      },
      nb::arg("text"));

  nb::class_<PyModel>(m, "TaggerModel")
      .def(nb::init<std::shared_ptr<FeatureSet>, std::vector<std::string>,
                    const std::vector<std::string>&, std::size_t, bool, nb::dict>(),
           nb::arg("features"), nb::arg("labels"), nb::arg("shown"), nb::arg("order"),
           nb::arg("hashed"), nb::arg("arrays"))
      .def_prop_ro("labels", [](const PyModel& self) { return self.names.labels; })
      .def_prop_ro("names", [](const PyModel& self) { return self.names.names; })
      .def_prop_ro("name_of", [](const PyModel& self) { return self.names.name_of; })
      .def(
          "unpack",
          [](const PyModel& self, bool pairs) {
            const TaggerWeights& w = self.model->weights();
            const UnpackedWeights u =
                pairs ? unpack(w.pair, w.labels * w.labels) : unpack(w.state, w.labels);
            return nb::make_tuple(to_bytes(u.keys), to_bytes(u.row_ptr), to_bytes(u.column),
                                  to_bytes(u.weight));
          },
          nb::arg("pairs"))
      .def(
          "predict",
          [](const PyModel& self, const Corpus& corpus, nb::handle known, std::size_t threads) {
            check_columns(self.model->features(), corpus);
            std::vector<Output> y(corpus.sentences());
            const Bytes bytes(known);
            const auto clamped = bytes.as<std::int32_t>("known");
            if (!clamped.empty() && clamped.size() != corpus.tokens()) {
              throw std::invalid_argument("known must have one label a token");
            }
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              const std::size_t tasks = std::max<std::size_t>(1, threads), n = corpus.sentences();
              parallel_for(tasks, threads, [&](std::size_t task, std::size_t) {
                Extractor extractor(self.model->shared_features(), corpus);
                extractor.update();
                Scratch scratch;
                for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
                  if (interrupt.requested()) return;
                  const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
                  self.model->score(extractor, s, scratch);
                  if (!clamped.empty())
                    self.model->clamp(clamped.subspan(begin, L), self.names.name_of, scratch);
                  if (self.model->argmax(L, scratch, y[s]) == kMinusInfinity) {
                    throw Infeasible("sentence " + std::to_string(s) +
                                     ": no legal labelling is left");
                  }
                }
              });
            }
            signals.rethrow();
            std::vector<std::int32_t> flat;
            flat.reserve(corpus.tokens());
            for (const Output& labels : y) flat.insert(flat.end(), labels.begin(), labels.end());
            return to_bytes(flat);
          },
          nb::arg("corpus"), nb::arg("known"), nb::arg("threads"))
      .def(
          "marginals",
          [](const PyModel& self, const Corpus& corpus, std::size_t sentence, double temperature) {
            check_sentence(corpus, sentence);
            check_columns(self.model->features(), corpus);
            Extractor extractor(self.model->shared_features(), corpus);
            extractor.update();
            Scratch scratch;
            const std::size_t L = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
            self.model->score(extractor, sentence, scratch);
            std::vector<double> p(L * self.names.labels.size());
            self.model->marginals(L, scratch, temperature, p.data());
            return to_bytes(p);
          },
          nb::arg("corpus"), nb::arg("sentence"), nb::arg("temperature"))
      .def(
          "log_loss",
          [](const PyModel& self, const Corpus& corpus, nb::handle gold, double temperature) {
            // Sum over tokens of -log p(gold label), for calibration; gold -1 is left out.
            const Bytes bytes(gold);
            const auto labels = bytes.as<std::int32_t>("gold");
            if (labels.size() != corpus.tokens()) throw std::invalid_argument("gold labels");
            Extractor extractor(self.model->shared_features(), corpus);
            extractor.update();
            Scratch scratch;
            std::vector<double> p;
            double sum = 0.0;
            const std::size_t K = self.names.labels.size();
            for (std::size_t s = 0; s < corpus.sentences(); ++s) {
              const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
              self.model->score(extractor, s, scratch);
              p.resize(L * K);
              self.model->marginals(L, scratch, temperature, p.data());
              for (std::size_t t = 0; t < L; ++t) {
                const std::int32_t k = labels[begin + t];
                if (k >= 0) {
                  sum -= std::log(std::max(p[t * K + static_cast<std::size_t>(k)], 1e-300));
                }
              }
            }
            return sum;
          },
          nb::arg("corpus"), nb::arg("gold"), nb::arg("temperature"))
      .def(
          "kbest",
          [](const PyModel& self, const Corpus& corpus, std::size_t sentence, std::size_t n) {
            check_sentence(corpus, sentence);
            check_columns(self.model->features(), corpus);
            Extractor extractor(self.model->shared_features(), corpus);
            extractor.update();
            Scratch scratch;
            const std::size_t L = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
            self.model->score(extractor, sentence, scratch);
            return self.model->kbest(L, scratch, n);
          },
          nb::arg("corpus"), nb::arg("sentence"), nb::arg("n"))
      .def(
          "rivals",
          [](const PyModel& self, const Corpus& corpus, std::size_t sentence) {
            // For each token the best labelling in which it has another label; empty: there is
            // none.
            check_sentence(corpus, sentence);
            check_columns(self.model->features(), corpus);
            Extractor extractor(self.model->shared_features(), corpus);
            extractor.update();
            Scratch scratch;
            const std::size_t L = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
            const std::size_t K = self.names.labels.size();
            self.model->score(extractor, sentence, scratch);
            Output best, other;
            self.model->argmax(L, scratch, best);
            std::vector<Output> out(L);
            for (std::size_t t = 0; t < L; ++t) {
              double& taken = scratch.theta[t * K + static_cast<std::size_t>(best[t])];
              const double kept = taken;
              taken = kMinusInfinity;
              if (self.model->argmax(L, scratch, other) != kMinusInfinity) out[t] = other;
              taken = kept;
            }
            return out;
          },
          nb::arg("corpus"), nb::arg("sentence"))
      .def(
          "explain",
          [](const PyModel& self, const Corpus& corpus, std::size_t sentence, bool pairs) {
            // Token by token, each feature's name and its weight for every label; or, from the
            // second token on, for every pair of the label before and its own.
            check_sentence(corpus, sentence);
            check_columns(self.model->features(), corpus);
            Extractor extractor(self.model->shared_features(), corpus);
            extractor.update();
            Keys keys;
            extractor.keys(sentence, pairs, keys);
            nb::list out;
            const std::size_t K = self.names.labels.size();
            std::size_t j = 0;
            for (std::size_t t = 0; t < keys.end.size(); ++t) {
              nb::list token;
              for (; j < keys.end[t]; ++j) {
                std::vector<double> w(pairs ? K * K : K, 0.0);
                self.model->weights_of(keys.key[j], pairs, w.data());
                if (!keys.value.empty()) {
                  for (double& x : w) x *= keys.value[j];
                }
                token.append(nb::make_tuple(text_of(extractor.name(sentence, t + (pairs ? 1 : 0),
                                                                   keys.origin[j], keys.key[j])),
                                            nb::cast(w)));
              }
              out.append(token);
            }
            return out;
          },
          nb::arg("corpus"), nb::arg("sentence"), nb::arg("pairs"));

  nb::class_<PyLabeller>(m, "Labeller")
      .def(
          "__init__",
          [](PyLabeller* self, std::shared_ptr<PyModel> model, const std::string& format,
             std::size_t target, std::size_t columns, std::size_t nbest, bool confidence,
             bool marginals, bool known, double temperature, std::string unknown) {
            const Format read = format_of(format);
            new (self) PyLabeller;
            self->model = std::move(model);
            self->format = read;
            self->options = {target,    columns, nbest,       confidence,
                             marginals, known,   temperature, std::move(unknown)};
          },
          nb::arg("model"), nb::arg("format"), nb::arg("target"), nb::arg("columns"),
          nb::arg("nbest"), nb::arg("confidence"), nb::arg("marginals"), nb::arg("known"),
          nb::arg("temperature"), nb::arg("unknown"))
      .def("label", &PyLabeller::label, nb::arg("text"), nb::arg("line"), nb::arg("threads"))
      .def_prop_ro("n_tokens", &PyLabeller::tokens);
}

}  // namespace structlearn::python
