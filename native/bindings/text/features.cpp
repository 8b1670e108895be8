// Features of tokens. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "text/functions.hpp"
#include "text/lexicon.hpp"
#include "text/simple_regex.hpp"

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
  if (name == "uncapped") {
    return [](std::string_view s, Strings& out) {
      out.emplace_back(s);
      for (char& c : out.back()) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
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

// Functions with a text as argument: Wapiti's. What does not match is an empty string there.
StringFunction text_function(const std::string& name, const std::string& argument) {
  using Strings = std::vector<std::string>;
  const auto regex = std::make_shared<SimpleRegex>(argument);
  if (name == "tested") {
    return [regex](std::string_view s, Strings& out) {
      out.emplace_back(regex->search(s) ? "true" : "false");
    };
  }
  if (name == "matched") {
    return [regex](std::string_view s, Strings& out) {
      const auto found = regex->search(s);
      if (!found) return void(out.emplace_back());
      const auto [begin, length] = *found;
      out.emplace_back(s.substr(begin, length));
      if (length > s.size() - begin) out.back() += '\0';  // the feature ends here, as Wapiti's
    };
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
      if (nb::isinstance<nb::tuple>(step) && nb::isinstance<nb::str>(step[1])) {
        const auto [name, argument] = nb::cast<std::pair<std::string, std::string>>(step);
        a.function = then(std::move(a.function), text_function(name, argument));
      } else if (nb::isinstance<nb::tuple>(step)) {
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

std::vector<std::string> strings_of(const StringTable& table) {
  std::vector<std::string> out;
  for (std::uint32_t k = 0; k < table.size(); ++k) out.emplace_back(table[k]);
  return out;
}

// The labels of words, counted in a part of a corpus. The counts of parts are added in their order.
struct LexiconCounts {
  Lexicon lexicon;
  StringTable names;

  // What another part has counted: word, label, fold and times one after another.
  void add(std::span<const std::uint64_t> rows, const std::vector<std::string>& labels) {
    std::vector<std::uint32_t> number;
    for (const std::string& label : labels) number.push_back(names.add(label));
    for (std::size_t i = 0; i + 3 < rows.size(); i += 4) {
      if (rows[i] == 0 || rows[i + 1] >= number.size() || rows[i + 2] >= kFolds) {
        throw std::invalid_argument("the counts of the lexicon do not fit together");
      }
      lexicon.count(rows[i], number[rows[i + 1]], rows[i + 2],
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(rows[i + 3], 0xFFFFFFFF)));
    }
  }

  std::vector<std::string> labels() const { return strings_of(names); }
};

// As they are pickled: words, values, values by fold, names; counts, labels.
using StoredLexicon = std::tuple<nb::bytes, nb::bytes, nb::bytes, std::vector<std::string>>;
using StoredCounts = std::tuple<nb::bytes, std::vector<std::string>>;

// Counts in a corpus: words by a column's strings, through functions.
std::shared_ptr<LexiconCounts> count_lexicon(const Corpus& corpus, std::size_t column,
                                             nb::list functions, std::size_t target,
                                             const std::string& unknown, bool types) {
  auto counts = std::make_shared<LexiconCounts>();
  Lexicon& lexicon = counts->lexicon;
  StringTable& names = counts->names;
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
  // The number of the name that each label counts as.
  std::vector<std::uint32_t> name_of;
  for (std::uint32_t k = 0; k < labels.strings.size(); ++k) {
    const std::string_view label = labels.strings[k];
    const ChunkLabel chunk = chunk_label(label);
    name_of.push_back(names.add(types && !chunk.type.empty() ? chunk.type : label));
  }
  const std::vector<std::uint8_t> fold = corpus.folds();
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
      const std::uint64_t word = hash[words.cell[t]];
      if (word != 0 && labels.strings[labels.cell[t]] != unknown) {
        lexicon.count(word, name_of[labels.cell[t]], fold[s], corpus.copies(s));
      }
    }
  }
  return counts;
}

Place place_of(const std::string& name) {
  if (name.empty()) return Place::kToken;
  if (name == "begin") return Place::kBegin;
  if (name == "end") return Place::kEnd;
  if (name == "inside") return Place::kInside;
  if (name == "whole") return Place::kWhole;
  if (name == "length") return Place::kLength;
  if (name == "start") return Place::kStart;
  if (name == "stop") return Place::kStop;
  throw std::invalid_argument("there is no place '" + name + "' in a segment");
}

std::shared_ptr<FeatureSet> make_features(nb::list attributes, nb::list templates) {
  std::vector<Attribute> read;
  for (nb::handle spec : attributes) read.push_back(read_attribute(nb::cast<nb::dict>(spec)));
  std::vector<Template> made;
  for (nb::handle spec : templates) {
    const auto fields = nb::cast<nb::tuple>(spec);
    Template t;
    t.text = nb::cast<std::string>(fields[0]);
    for (const auto& [attribute, offset, place] :
         nb::cast<std::vector<std::tuple<std::size_t, std::ptrdiff_t, std::string>>>(fields[1])) {
      t.atoms.push_back({attribute, offset, place_of(place)});
    }
    t.mark_boundaries = nb::cast<bool>(fields[2]);
    t.transition = nb::cast<bool>(fields[3]);
    const auto spelling = nb::cast<std::string>(fields[4]);
    if (spelling == "crf++" || spelling == "wapiti") {
      t.spelling = spelling == "wapiti" ? Spelling::kWapiti : Spelling::kCrfpp;
    } else if (!spelling.empty()) {
      throw std::invalid_argument("there is no spelling '" + spelling + "'");
    }
    t.pieces = nb::cast<std::vector<std::string>>(fields[5]);
    made.push_back(std::move(t));
  }
  return std::make_shared<FeatureSet>(std::move(read), std::move(made));
}

// -- corpora ------------------------------------------------------------------------------------

}  // namespace

void bind_features(nb::module_& m) {
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
      .def_prop_ro("names",
                   [](const Lexicon& l) {
                     nb::list out;
                     for (std::uint32_t i = 0; i < l.names().size(); ++i)
                       out.append(text_of(l.names()[i]));
                     return out;
                   })
      .def("__getstate__",
           [](const Lexicon& l) {
             return nb::make_tuple(to_bytes(l.index().keys()), to_bytes(l.values()),
                                   to_bytes(l.folded()), strings_of(l.names()));
           })
      .def("__setstate__", [](Lexicon& l, const StoredLexicon& state) {
        const Bytes words(std::get<0>(state)), value(std::get<1>(state)),
            folded(std::get<2>(state));
        new (&l) Lexicon(words.as<std::uint64_t>("words"), value.as<std::uint32_t>("value"),
                         std::get<3>(state), folded.as<std::uint32_t>("folded"));
      });
  nb::class_<LexiconCounts>(m, "LexiconCounts")
      .def(nb::new_(&count_lexicon), nb::arg("corpus"), nb::arg("column"), nb::arg("functions"),
           nb::arg("target"), nb::arg("unknown"), nb::arg("types"))
      .def(
          "__add__",
          [](std::shared_ptr<LexiconCounts> one, LexiconCounts& other) {
            one->add(other.lexicon.counts(), other.labels());
            return one;
          },
          nb::arg("other"), "Add to the counts, which are changed, and return them.")
      .def(
          "lexicon",
          [](LexiconCounts& one) {
            auto lexicon = std::make_shared<Lexicon>(std::move(one.lexicon));
            lexicon->finish(one.labels());
            return lexicon;
          },
          "Return the lexicon; nothing can be added any more.")
      .def("__getstate__",
           [](LexiconCounts& one) {
             return nb::make_tuple(to_bytes(one.lexicon.counts()), one.labels());
           })
      .def("__setstate__", [](LexiconCounts& one, const StoredCounts& state) {
        new (&one) LexiconCounts();
        const Bytes bytes(std::get<0>(state));
        one.add(bytes.as<std::uint64_t>("counts"), std::get<1>(state));
      });

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
          nb::arg("corpus"), nb::arg("sentence"), nb::arg("transitions") = false)
      .def(
          "named",
          [](Extractor& self, std::size_t sentence, std::size_t begin, std::size_t end) {
            // The names and keys of the features of a segment.
            check_segment(self.corpus(), sentence, begin, end);
            nb::list out;
            for (const auto& [name, key] : self.named(sentence, begin, end)) {
              out.append(nb::make_tuple(text_of(name), key));
            }
            return out;
          },
          nb::arg("sentence"), nb::arg("begin"), nb::arg("end"));

  m.def(
      "spelled_keys",
      [](nb::list features) {
        // The keys of features that are strings, given as bytes.
        std::vector<std::uint64_t> keys;
        for (nb::handle feature : features) {
          keys.push_back(spelled_key(Bytes(feature).text()));
        }
        return to_bytes(keys);
      },
      nb::arg("features"));
  m.def(
      "vector_keys",
      [](const std::string& text, std::size_t width) {
        // The keys of a vector template's numbers.
        std::vector<std::uint64_t> keys;
        for (std::size_t d = 0; d < width; ++d) keys.push_back(vector_key(text, d));
        return to_bytes(keys);
      },
      nb::arg("text"), nb::arg("width"));
}

}  // namespace structlearn::python
