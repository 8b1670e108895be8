// Features of tokens. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/optional.h>
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
#include "bindings/json.hpp"
#include "text/column_names.hpp"
#include "text/lexicon.hpp"
#include "text/template_specs.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// -- features -----------------------------------------------------------------------------------

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

// What templates name, as Python has it: dictionaries of phrases, of vectors as (names, numbers,
// width) and of lexica; a vector function with its width, or None; and from names to functions.
TemplateResources read_resources(nb::dict given) {
  TemplateResources r;
  for (const auto& [name, phrases] : nb::cast<nb::dict>(given["phrases"])) {
    r.phrases[nb::cast<std::string>(name)] = read_phrases(json_of(phrases));
  }
  for (const auto& [name, vectors] : nb::cast<nb::dict>(given["vectors"])) {
    const auto fields = nb::cast<nb::tuple>(vectors);
    const Bytes numbers(fields[1]);
    r.vectors[nb::cast<std::string>(name)] =
        vector_table(nb::cast<std::vector<std::string>>(fields[0]), numbers.as<float>("vectors"),
                     nb::cast<std::size_t>(fields[2]));
  }
  for (const auto& [name, lexicon] : nb::cast<nb::dict>(given["lexica"])) {
    r.lexica[nb::cast<std::string>(name)] = nb::cast<std::shared_ptr<Lexicon>>(lexicon);
  }
  if (const nb::object emission = given["emission"]; !emission.is_none()) {
    r.emission_width = nb::cast<std::size_t>(emission[1]);
    r.emission = python_vectors(emission[0], r.emission_width);
  }
  const nb::object function = given["function"], sentence = given["sentence"];
  r.function = [function](const std::string& name, const std::string& argument) {
    return python_function(function(name, argument));
  };
  r.sentence = [sentence](const std::string& name) { return sentence_function(sentence(name)); };
  return r;
}

// Functions one after another: (name, argument), or Python's own.
StringFunction read_functions(nb::list given) {
  std::vector<Step> steps;
  TemplateResources resources;
  resources.function = [given](const std::string&, const std::string& at) {
    return python_function(given[static_cast<std::size_t>(std::stoul(at))]);
  };
  for (std::size_t i = 0; i < nb::len(given); ++i) {
    if (nb::isinstance<nb::tuple>(given[i])) {
      steps.push_back(read_step(json_of(given[i])));
    } else {
      steps.push_back({"call", std::to_string(i)});
    }
  }
  bool multiple = false;
  return chained(steps, resources, multiple);
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
  const StringFunction function = read_functions(functions);
  const Column& words = corpus.columns()[column];
  const Column& labels = corpus.columns()[target];
  std::vector<std::uint64_t> hash;
  std::vector<std::string> found;
  for (std::uint32_t s = 0; s < words.strings.size(); ++s) {
    found.clear();
    if (function) function(words.strings[s], found);
    const std::uint64_t h = !function       ? words.strings.hash(s)
                            : found.empty() ? 0
                                            : hash_string(found[0]);
    hash.push_back(function && found.empty() ? 0 : h == 0 ? 1 : h);
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

std::shared_ptr<FeatureSet> make_features(nb::handle templates, const std::string& format,
                                          std::size_t columns, nb::dict resources) {
  return std::make_shared<FeatureSet>(compiled(
      read_templates(json_of(templates)), format_of(format), columns, read_resources(resources)));
}

// -- corpora ------------------------------------------------------------------------------------

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<FeatureSet>(m, "FeatureSet")
      .def(nb::new_(&make_features), nb::arg("templates"), nb::arg("format"), nb::arg("columns"),
           nb::arg("resources"))
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
      "check_templates", [](nb::handle given) { read_templates(json_of(given)); },
      nb::arg("templates"));
  m.def(
      "template_text",
      [](nb::handle atoms, bool transition) {
        TemplateSpec line;
        line.transition = transition;
        for (nb::handle atom : atoms) line.atoms.push_back(read_atom(json_of(atom)));
        return text_of(template_text(line));
      },
      nb::arg("atoms"), nb::arg("transition"));
  m.def(
      "attribute_text",
      [](nb::handle given) {
        const AtomSpec atom = read_atom(json_of(given));
        return text_of(attribute_text(atom.attribute, atom.offset));
      },
      nb::arg("atom"));
  m.def(
      "resource_of",
      [](nb::handle given) { return text_of(resource_of(read_atom(json_of(given)).attribute)); },
      nb::arg("atom"));
  m.def("template_functions", &template_functions);
  m.def(
      "column_names",
      [](const std::string& format, std::size_t columns) {
        return column_names(format_of(format), columns);
      },
      nb::arg("format"), nb::arg("columns"));
  m.def(
      "common_names",
      [](const std::string& format, std::size_t columns) {
        return common_names(format_of(format), columns);
      },
      nb::arg("format"), nb::arg("columns"));
  m.def(
      "find_column",
      [](const std::string& name, const std::string& format, std::size_t columns,
         const std::vector<std::string>& own) {
        return find_column(name, format_of(format), columns, own);
      },
      nb::arg("name"), nb::arg("format"), nb::arg("columns"), nb::arg("own"));
  m.def(
      "columns_for",
      [](const std::string& model, std::size_t columns, const std::string& input,
         std::size_t given) {
        return columns_for(format_of(model), columns, format_of(input), given);
      },
      nb::arg("model"), nb::arg("columns"), nb::arg("input"), nb::arg("given"));
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
