// Words of texts without blanks: what learns them, and what cuts texts. Nothing here needs NumPy.
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/problem/py_problem.hpp"
#include "numeric/parallel.hpp"
#include "tasks/words/cutter.hpp"
#include "tasks/words/lattice_model.hpp"
#include "tasks/words/lattice_scorer.hpp"
#include "tasks/words/likely.hpp"
#include "tasks/words/reader.hpp"
#include "tasks/words/training.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::words;

std::vector<std::uint32_t> points_of(std::string_view text) {
  std::vector<std::uint32_t> points;
  text::for_characters(text,
                       [&](std::uint32_t p, std::size_t, std::size_t) { points.push_back(p); });
  return points;
}

std::string text_of_points(const std::vector<std::vector<std::uint32_t>>& words) {
  std::string out;
  for (const auto& word : words) {
    for (const std::uint32_t p : word) {
      if (p < 0x80) {
        out.push_back(static_cast<char>(p));
      } else if (p < 0x800) {
        out.append({static_cast<char>(0xC0 | p >> 6), static_cast<char>(0x80 | (p & 0x3F))});
      } else if (p < 0x10000) {
        out.append({static_cast<char>(0xE0 | p >> 12), static_cast<char>(0x80 | (p >> 6 & 0x3F)),
                    static_cast<char>(0x80 | (p & 0x3F))});
      } else {
        out.append({static_cast<char>(0xF0 | p >> 18), static_cast<char>(0x80 | (p >> 12 & 0x3F)),
                    static_cast<char>(0x80 | (p >> 6 & 0x3F)),
                    static_cast<char>(0x80 | (p & 0x3F))});
      }
    }
    out.push_back('\n');
  }
  return out;
}

// Words by lines.
template <class Each>
void for_lines(std::string_view text, Each&& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

struct PyWordModel {
  std::unique_ptr<WordModel> model;

  // Keys and weights by width; words of the dictionary by lines, and the set of tags of each.
  PyWordModel(nb::list keys, nb::list weights, const std::array<std::int32_t, 4>& pairs,
              nb::handle words, nb::handle tags, double unit, unsigned whole, bool blanks) {
    if (nb::len(keys) != kLongestGram + 1 || nb::len(weights) != kLongestGram + 1) {
      throw std::invalid_argument("a table of weights for each width");
    }
    if (!(unit > 0.0) || !std::isfinite(unit)) throw std::invalid_argument("unit must be above 0");
    for (const std::int32_t x : pairs) {
      if (x < -(1 << 28) || x > 1 << 28) throw std::invalid_argument("a score is too large");
    }
    std::vector<Bytes> held;
    held.reserve(2 * (kLongestGram + 1));
    std::array<WordRows, kLongestGram + 1> rows;
    for (std::size_t n = 0; n <= kLongestGram; ++n) {
      held.emplace_back(keys[n]);
      rows[n].keys = held.back().as<std::uint64_t>("keys");
      held.emplace_back(weights[n]);
      rows[n].weights = held.back().as<std::int16_t>("weights");
    }
    Dictionary dictionary;
    dictionary.tags = copied<std::uint16_t>(tags, "tags");
    const Bytes lines(words);
    if (text::invalid_utf8(lines.text()) < lines.text().size()) {
      throw std::invalid_argument("words that are not UTF-8");
    }
    for_lines(lines.text(), [&](std::string_view word) { dictionary.trie.add(points_of(word)); });
    model = std::make_unique<WordModel>(rows, pairs, std::move(dictionary), unit, whole, blanks);
  }
};

struct PyUserWords {
  UserWords words;
  // Weights in units of the model; infinite: always.
  PyUserWords(const std::vector<std::string>& given, const std::vector<double>& weights) {
    if (given.size() != weights.size()) throw std::invalid_argument("a weight for each word");
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::vector<std::uint32_t> points = points_of(given[i]);
      const std::uint32_t number = words.trie.add(points);
      if (number == kNoWord) throw std::invalid_argument("a word is empty or too long");
      if (number == words.weight.size()) words.weight.push_back(0);
      if (std::isnan(weights[i])) throw std::invalid_argument("a weight is not a number");
      words.weight[number] =
          weights[i] == std::numeric_limits<double>::infinity()
              ? UserWords::always(points.size())
              : static_cast<std::int64_t>(std::llround(std::clamp(weights[i], -1e9, 1e9)));
    }
  }
};

// A lattice of words. The model of places lives as long as it does.
struct PyLatticeModel {
  std::shared_ptr<PyWordModel> places;
  std::unique_ptr<LatticeModel> model;

  // Words of the dictionary by lines; of each the first of its entries, with a tag, a status and a
  // class each; tags of unknown words by pattern; the coarse class of classes of single entries.
  PyLatticeModel(std::shared_ptr<PyWordModel> given, nb::dict arrays,
                 const std::vector<std::vector<std::uint8_t>>& unknown, std::size_t tags,
                 unsigned whole, double unit)
      : places(std::move(given)) {
    if (!(unit > 0.0) || !std::isfinite(unit)) throw std::invalid_argument("unit must be above 0");
    LatticeRules rules;
    rules.tags = tags;
    rules.whole = whole;
    rules.unknown = unknown;
    rules.first = copied<std::uint32_t>(arrays["first"], "first");
    rules.tag = copied<std::uint8_t>(arrays["tag"], "tag");
    rules.status = copied<std::uint8_t>(arrays["status"], "status");
    rules.kind = copied<std::uint16_t>(arrays["kind"], "kind");
    rules.coarse_of_own = copied<std::uint16_t>(arrays["own"], "own");
    const Bytes lines(arrays["words"]);
    if (text::invalid_utf8(lines.text()) < lines.text().size()) {
      throw std::invalid_argument("words that are not UTF-8");
    }
    for_lines(lines.text(), [&](std::string_view word) { rules.trie.add(points_of(word)); });
    rules.check();
    const std::vector<std::uint32_t> characters =
        copied<std::uint32_t>(arrays["characters"], "characters");
    const Bytes weights(arrays["weights"]);
    model = std::make_unique<LatticeModel>(*places->model, std::move(rules), characters,
                                           weights.as<std::int16_t>("weights"), unit);
  }
};

// Cutters of both kinds of models, for Python.
struct ChainCut {
  using Model = PyWordModel;
  using Cutter = words::Cutter;
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  static Cutter make(const Model& model, const UserWords* words) { return {*model.model, words}; }
};
struct LatticeCut {
  using Model = PyLatticeModel;
  using Cutter = LatticeCutter;
  using Place = FoundWord;
  static Cutter make(const Model& model, const UserWords* words) {
    return {*model.model, {words, model.places->model->unit()}};
  }
};

// Cuts a file that comes in pieces, on threads.
template <class Kind>
class PyCutter {
  using Cutter = typename Kind::Cutter;

 public:
  PyCutter(std::shared_ptr<typename Kind::Model> model, std::shared_ptr<PyUserWords> words)
      : model_(std::move(model)), words_(std::move(words)), main_(make()) {}
  PyCutter(const PyCutter&) = delete;

  nb::bytes cut(nb::handle data, bool last, std::size_t threads) {
    const Bytes bytes(data);
    std::vector<std::string> parts(1);
    {
      nb::gil_scoped_release release;
      cut_text(bytes.text(), last, threads, parts);
    }
    std::size_t size = 0;
    for (const std::string& part : parts) size += part.size();
    PyObject* result = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (result == nullptr) throw std::bad_alloc();
    char* at = PyBytes_AS_STRING(result);
    for (const std::string& part : parts) at = std::copy(part.begin(), part.end(), at);
    return nb::steal<nb::bytes>(result);
  }

  std::size_t words() const {
    std::size_t n = main_.words();
    for (const auto& worker : workers_) n += worker->words();
    return n;
  }

  // Begin and end of each word, and its tag if the model has any.
  std::vector<typename Kind::Place> places(std::string_view text) {
    std::vector<typename Kind::Place> found;
    Cutter cutter = make();
    cutter.places(text, found);
    return found;
  }

 private:
  Cutter make() const { return Kind::make(*model_, words_ ? &words_->words : nullptr); }

  void cut_text(std::string_view text, bool last, std::size_t threads,
                std::vector<std::string>& parts) {
    constexpr std::size_t kLeast = std::size_t{1} << 14;
    const std::size_t tasks = std::min(4 * threads, text.size() / kLeast);
    if (threads <= 1 || tasks <= 1) {
      main_.cut(text, last, parts[0]);
      return;
    }
    const std::size_t first = main_.idle() ? 0 : text.find('\n') + 1;  // 0: no line ends
    if (!main_.idle() && first == 0) {
      main_.cut(text, last, parts[0]);
      return;
    }
    main_.cut(text.substr(0, first), false, parts[0]);
    const std::size_t end = text.rfind('\n') + 1;
    std::vector<std::size_t> cuts{first}, lines{main_.line()};
    for (std::size_t i = 1; i < tasks && end > first; ++i) {
      const std::size_t wanted = std::max(cuts.back(), first + i * (end - first) / tasks);
      const std::size_t found = text.find('\n', wanted);
      if (found == std::string_view::npos || found + 1 >= end) break;
      lines.push_back(lines.back() +
                      text::count_lines(text.substr(cuts.back(), found + 1 - cuts.back())));
      cuts.push_back(found + 1);
    }
    cuts.push_back(std::max(first, end));
    const std::size_t n = cuts.size() - 1;
    parts.resize(n + 2);
    while (workers_.size() < threads) workers_.push_back(std::make_unique<Cutter>(make()));
    std::vector<std::exception_ptr> wrong(n);
    parallel_for(n, threads, [&](std::size_t i, std::size_t thread) {
      try {
        workers_[thread]->set_line(lines[i]);
        workers_[thread]->cut(text.substr(cuts[i], cuts[i + 1] - cuts[i]), true, parts[i + 1]);
      } catch (...) {
        wrong[i] = std::current_exception();
      }
    });
    for (const std::exception_ptr& error : wrong) {
      if (error) std::rethrow_exception(error);
    }
    main_.set_line(lines.back() +
                   text::count_lines(text.substr(cuts[n - 1], cuts[n] - cuts[n - 1])));
    main_.cut(text.substr(cuts[n]), last, parts[n + 1]);
  }

  std::shared_ptr<typename Kind::Model> model_;
  std::shared_ptr<PyUserWords> words_;
  Cutter main_;
  std::vector<std::unique_ptr<Cutter>> workers_;
};

template <class Kind>
nb::class_<PyCutter<Kind>> bind_cutter(nb::module_& m, const char* name) {
  using Cutter = PyCutter<Kind>;
  return nb::class_<Cutter>(m, name)
      .def(nb::init<std::shared_ptr<typename Kind::Model>, std::shared_ptr<PyUserWords>>(),
           nb::arg("model"), nb::arg("words").none())
      .def("cut", &Cutter::cut, nb::arg("data"), nb::arg("last"), nb::arg("threads") = 1)
      .def_prop_ro("n_words", &Cutter::words);
}

// Texts for the training of a lattice, and what was made of them.
struct PyLatticeTraining {
  LatticeTexts texts;
  LatticeRules rules;
  std::vector<std::uint32_t> characters;
  std::shared_ptr<const LatticeScorer> scorer;  // of the problem

  // The rules as the model's arrays.
  nb::dict described() const {
    std::vector<std::vector<std::uint32_t>> words(rules.trie.size());
    texts.for_words([&](const std::vector<std::uint32_t>& word) {
      const std::uint32_t number = rules.trie.find_word(word);
      if (number != kNoWord) words[number] = word;
    });
    const std::string lines = text_of_points(words);
    nb::dict out;
    out["words"] = nb::bytes(lines.data(), lines.size());
    out["first"] = to_bytes(rules.first);
    out["tag"] = to_bytes(rules.tag);
    out["status"] = to_bytes(rules.status);
    out["kind"] = to_bytes(rules.kind);
    out["own"] = to_bytes(rules.coarse_of_own);
    out["characters"] = to_bytes(characters);
    return out;
  }
};

PyProblem lattice_problem(nb::object self, nb::object places, std::size_t tags,
                          std::uint32_t min_words, std::uint32_t often, unsigned whole, bool costs,
                          nb::object sample_weight) {
  auto& training = nb::cast<PyLatticeTraining&>(self);
  const auto& seen = nb::cast<const Training&>(places);
  std::shared_ptr<const LatticeScorer>& scorer = training.scorer;
  {
    nb::gil_scoped_release release;
    training.rules = training.texts.rules(tags, min_words, often, whole);
    training.characters = training.texts.characters();
    scorer = std::make_shared<LatticeScorer>(training.texts, training.rules, training.characters,
                                             seen, costs);
  }
  return PyProblem(nb::make_tuple(self, places), scorer,
                   std::make_shared<StructureOracle>(std::make_shared<Lattice>()), scorer->gold(),
                   scorer->cost(), sample_weight);
}

PyInputs word_inputs(nb::object self, const std::vector<std::string>& texts) {
  const auto& owner = nb::cast<const PyWordModel&>(self);
  std::vector<TextLine> lines;
  for (const std::string& text : texts) lines.push_back(TextLine::of(text, owner.model->blanks()));
  return {self, std::make_unique<WordInputs>(*owner.model, std::move(lines))};
}

}  // namespace

void bind_words(nb::module_& m) {
  nb::class_<Training>(m, "WordTraining")
      .def(nb::init<>())
      .def(
          "add",
          [](Training& self, std::string_view text, nb::handle marks, nb::handle tags) {
            const Bytes given(marks), numbers(tags);
            self.add(points_of(text), given.text(), numbers.as<std::uint8_t>("tags"));
          },
          nb::arg("text"), nb::arg("marks"), nb::arg("tags"))
      .def(
          "add_word", [](Training& self, std::string_view word) { self.add_word(points_of(word)); },
          nb::arg("word"))
      .def("finish", &Training::finish, nb::arg("min_count"), nb::arg("min_words"),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("n_features", &Training::features)
      .def("site_ptr", [](const Training& self) { return to_bytes(self.site); })
      .def("indptr", [](const Training& self) { return to_bytes(self.indptr); })
      .def("indices", [](const Training& self) { return to_bytes(self.indices); })
      .def("keys", [](const Training& self) { return to_bytes(self.keys); })
      .def("first", [](const Training& self) { return to_bytes(self.first); })
      .def("words",
           [](const Training& self) {
             const std::string text = text_of_points(self.words());
             return nb::bytes(text.data(), text.size());
           })
      .def("tags_of_words", [](const Training& self) { return to_bytes(self.tags_of_words); });

  nb::class_<PyWordModel>(m, "WordModel")
      .def(nb::init<nb::list, nb::list, const std::array<std::int32_t, 4>&, nb::handle, nb::handle,
                    double, unsigned, bool>(),
           nb::arg("keys"), nb::arg("weights"), nb::arg("pairs"), nb::arg("words"), nb::arg("tags"),
           nb::arg("unit"), nb::arg("whole"), nb::arg("blanks"))
      .def("inputs", &word_inputs, nb::arg("texts"))
      .def(
          "likely",
          [](const PyWordModel& self, std::string_view text, double temperature, double least,
             std::size_t most) {
            check_temperature(temperature);
            std::vector<TextLine> lines{TextLine::of(text, self.model->blanks())};
            std::vector<LikelyWord> found;
            WordReader reader(*self.model, lines);
            if (!lines[0].points.empty()) {
              likely_words(reader, lines[0], 0, temperature, least, most, found);
            }
            nb::list out;
            for (const LikelyWord& w : found) {
              out.append(nb::make_tuple(w.begin, w.end, w.probability));
            }
            return out;
          },
          nb::arg("text"), nb::arg("temperature"), nb::arg("least"), nb::arg("most"));

  nb::class_<PyUserWords>(m, "UserWords")
      .def(nb::init<const std::vector<std::string>&, const std::vector<double>&>(),
           nb::arg("words"), nb::arg("weights"));

  bind_cutter<ChainCut>(m, "WordCutter")
      .def("places", &PyCutter<ChainCut>::places, nb::arg("text"));

  nb::class_<PyLatticeTraining>(m, "LatticeTraining")
      .def(nb::init<>())
      .def(
          "add",
          [](PyLatticeTraining& self, std::string_view text, nb::handle marks, nb::handle tags) {
            const Bytes given(marks), numbers(tags);
            self.texts.add(points_of(text), given.text(), numbers.as<std::uint8_t>("tags"));
          },
          nb::arg("text"), nb::arg("marks"), nb::arg("tags"))
      .def(
          "add_word",
          [](PyLatticeTraining& self, std::string_view word, std::uint8_t tag) {
            self.texts.add_word(points_of(word), tag);
          },
          nb::arg("word"), nb::arg("tag"))
      .def("problem", &lattice_problem, nb::arg("places"), nb::arg("tags"), nb::arg("min_words"),
           nb::arg("often"), nb::arg("whole"), nb::arg("costs"), nb::arg("sample_weight").none())
      .def("rules", &PyLatticeTraining::described)
      .def(
          "edges",
          [](const PyLatticeTraining& self, std::size_t i) {
            if (!self.scorer || i >= self.scorer->examples()) throw nb::index_error("no such text");
            const Layout layout = self.scorer->layout(i);
            const auto& shape = static_cast<const LatticeShape&>(*layout.shape);
            std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
            for (std::uint32_t e = 0; e < shape.edges(); ++e) {
              edges.emplace_back(shape.from[e], shape.head(e));
            }
            return edges;
          },
          nb::arg("text"))
      .def_prop_ro("unknown", [](const PyLatticeTraining& self) { return self.rules.unknown; });

  nb::class_<PyLatticeModel>(m, "LatticeModel")
      .def(nb::init<std::shared_ptr<PyWordModel>, nb::dict,
                    const std::vector<std::vector<std::uint8_t>>&, std::size_t, unsigned, double>(),
           nb::arg("places"), nb::arg("arrays"), nb::arg("unknown"), nb::arg("tags"),
           nb::arg("whole"), nb::arg("unit"))
      .def(
          "inputs",
          [](nb::object self, const std::vector<std::string>& texts) {
            const auto& owner = nb::cast<const PyLatticeModel&>(self);
            std::vector<TextLine> lines;
            for (const std::string& text : texts) {
              lines.push_back(TextLine::of(text, owner.model->blanks()));
            }
            return PyInputs(self, std::make_unique<LatticeInputs>(*owner.model, std::move(lines)));
          },
          nb::arg("texts"));

  bind_cutter<LatticeCut>(m, "LatticeCutter")
      .def(
          "places",
          [](PyCutter<LatticeCut>& self, std::string_view text) {
            nb::list out;
            for (const FoundWord& w : self.places(text)) {
              out.append(nb::make_tuple(w.begin, w.end, w.tag));
            }
            return out;
          },
          nb::arg("text"));
}

}  // namespace structlearn::python
