// One sentence of Python's in one call, for models that label tokens, one by one or as segments.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/buffers.hpp"
#include "bindings/models/one_call.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "text/characters.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// By the number of cells that tokens have: for each column that the features read the cell that
// stands for it.
using Layouts = std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>>;

// Inputs that become a sentence of a corpus, whose strings are remembered.
class CorpusSession : public Session {
 public:
  CorpusSession(const PyLabelModel& model, Corpus corpus)
      : corpus_(std::move(corpus)), reader_(model.reader(corpus_)) {
    reader_->ask({model.names.name_of, {}, true});
  }
  Reader& reader() override { return *reader_; }
  // What the features of strings weigh is forgotten with the strings.
  bool too_large() const override { return false; }

 protected:
  void clear() {
    if (corpus_.bytes() > kMostBytes) {
      corpus_.clear();
      reader_->forget();
    } else {
      corpus_.clear_tokens();
    }
  }

  Corpus corpus_;
  std::unique_ptr<LabelReader> reader_;

 private:
  // Of the strings that are remembered.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
};

// Running text, whose tokens are its characters.
class CharacterSession final : public CorpusSession {
 public:
  explicit CharacterSession(const PyLabelModel& model)
      : CorpusSession(model, Corpus(Format::kColumns)) {}

  std::optional<std::size_t> read(nb::handle x) override {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_CheckExact(x.ptr()) ? PyUnicode_AsUTF8AndSize(x.ptr(), &size) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    clear();
    add_characters(corpus_, {text, static_cast<std::size_t>(size)}, {}, {});
    reader_->update();
    return corpus_.tokens();
  }
};

class SentenceSession final : public CorpusSession {
 public:
  SentenceSession(const PyLabelModel& model, const Layouts& layouts, std::size_t columns)
      : CorpusSession(model, empty_corpus(layouts, columns)),
        layouts_(layouts),
        cells_(columns, "_") {}

  std::optional<std::size_t> read(nb::handle x) override {
    clear();
    nb::object split;
    PyObject* tokens = x.ptr();
    if (PyUnicode_CheckExact(tokens)) {
      split = nb::steal(PyUnicode_Split(tokens, nullptr, -1));
      if (!split.is_valid()) throw nb::python_error();
      tokens = split.ptr();
    }
    if (!is_list(tokens)) return std::nullopt;
    const auto n = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(tokens));
    PyObject* const* items = PySequence_Fast_ITEMS(tokens);
    for (std::size_t t = 0; t < n; ++t) {
      if (!read_token(items[t], t == 0)) return std::nullopt;
    }
    corpus_.end_sentence();
    reader_->update();
    return n;
  }

 private:
  // Columns that no feature reads need no cells.
  static Corpus empty_corpus(const Layouts& layouts, std::size_t columns) {
    std::vector<std::uint8_t> kept(columns, 0);
    for (const auto& [cells, sources] : layouts) {
      for (const auto& [column, cell] : sources) kept[column] = 1;
    }
    Corpus corpus(Format::kColumns);
    corpus.keep_columns(std::move(kept));
    corpus.expect({columns, '\t'});
    return corpus;
  }
  bool read_token(PyObject* token, bool first) {
    PyObject* const* items = &token;
    std::size_t n = 1;
    if (is_list(token)) {
      items = PySequence_Fast_ITEMS(token);
      n = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(token));
    }
    if (first) {
      const auto found = layouts_.find(n);
      if (found == layouts_.end()) return false;
      layout_ = &found->second;
      n_cells_ = n;
    }
    if (n != n_cells_) return false;
    for (std::size_t c = 0; c < n; ++c) {
      if (!PyUnicode_CheckExact(items[c])) return false;
    }
    for (const auto& [column, cell] : *layout_) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(items[cell], &size);
      if (text == nullptr) {
        PyErr_Clear();
        return false;
      }
      cells_[column] = {text, static_cast<std::size_t>(size)};
    }
    corpus_.add_token(cells_);
    return true;
  }

  const Layouts& layouts_;
  std::vector<std::string_view> cells_;
  const Layouts::mapped_type* layout_ = nullptr;
  std::size_t n_cells_ = 0;
};

class SentenceCalls {
 public:
  // `sources`: by the number of cells that tokens have, for each column of the model the cell that
  // stands for it, -1 where there is none.
  SentenceCalls(std::shared_ptr<PyLabelModel> model,
                const std::map<std::size_t, std::vector<std::int32_t>>& sources, nb::list names)
      : model_(std::move(model)),
        layouts_(layouts(*model_->features, sources)),
        one_call_([this] { return std::make_unique<SentenceSession>(*model_, layouts_, columns_); },
                  names, model_->steps()) {
    if (model_->names.labels.size() != nb::len(names)) {
      throw std::invalid_argument("a name for every label");
    }
    for (const auto& [cells, columns] : sources) columns_ = std::max(columns_, columns.size());
  }
  nb::object predict(nb::handle x) { return one_call_.predict(x); }
  nb::object probabilities(nb::handle x, nb::list names, double temperature, double least) {
    return one_call_.probabilities(x, names, temperature, least);
  }

 private:
  static Layouts layouts(const FeatureSet& features,
                         const std::map<std::size_t, std::vector<std::int32_t>>& sources) {
    std::vector<std::size_t> read;
    for (const Attribute& attribute : features.attributes()) {
      if (attribute.kind == Attribute::Kind::kSentence) return {};  // may look at any column
      if (attribute.reads_column()) read.push_back(attribute.column);
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    Layouts made;
    for (const auto& [cells, columns] : sources) {
      const auto cell_of = [&](std::size_t column) {
        return column < columns.size() ? columns[column] : -1;
      };
      const bool whole = std::all_of(read.begin(), read.end(), [&](std::size_t column) {
        return cell_of(column) >= 0 && static_cast<std::size_t>(cell_of(column)) < cells;
      });
      for (std::size_t i = 0; whole && i < read.size(); ++i) {
        made[cells].emplace_back(read[i], static_cast<std::size_t>(cell_of(read[i])));
      }
      if (whole) made[cells];
    }
    return made;
  }

  std::shared_ptr<PyLabelModel> model_;
  Layouts layouts_;
  std::size_t columns_ = 1;
  OneCall one_call_;
};

class CharacterCalls {
 public:
  CharacterCalls(std::shared_ptr<PyLabelModel> model, nb::list names)
      : model_(std::move(model)),
        one_call_([this] { return std::make_unique<CharacterSession>(*model_); }, names,
                  model_->steps()) {
    if (model_->names.labels.size() != nb::len(names)) {
      throw std::invalid_argument("a name for every label");
    }
    for (const Attribute& attribute : model_->features->attributes()) {
      if (attribute.kind == Attribute::Kind::kSentence ||
          (attribute.reads_column() && attribute.column >= kCharacterColumns)) {
        throw std::invalid_argument("the features are not those of characters");
      }
    }
  }
  nb::object predict(nb::handle x) { return one_call_.predict(x); }

 private:
  std::shared_ptr<PyLabelModel> model_;
  OneCall one_call_;
};

}  // namespace

void bind_sentence_calls(nb::module_& m) {
  nb::class_<CharacterCalls>(m, "CharacterCalls")
      .def(nb::init<std::shared_ptr<PyLabelModel>, nb::list>(), nb::arg("model"), nb::arg("names"))
      .def("predict", &CharacterCalls::predict, nb::arg("x").none());
  nb::class_<SentenceCalls>(m, "SentenceCalls")
      .def(nb::init<std::shared_ptr<PyLabelModel>,
                    const std::map<std::size_t, std::vector<std::int32_t>>&, nb::list>(),
           nb::arg("model"), nb::arg("sources"), nb::arg("names"))
      .def("predict", &SentenceCalls::predict, nb::arg("x").none())
      .def("probabilities", &SentenceCalls::probabilities, nb::arg("x").none(), nb::arg("names"),
           nb::arg("temperature"), nb::arg("least"));
}

}  // namespace structlearn::python
