// Corpora. Nothing here needs NumPy: arrays come and go as buffers, so that the
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

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "text/characters.hpp"
#include "text/joined_labels.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

nb::list cells(const Corpus& corpus, std::size_t sentence, std::size_t column) {
  nb::list out;
  const Column& c = corpus.columns()[column];
  for (std::size_t t = corpus.sentence(sentence); t < corpus.sentence(sentence + 1); ++t) {
    out.append(text_of(c.strings[c.cell[t]]));
  }
  return out;
}

// A column of all sentences; equal cells are one object.
nb::list column(const Corpus& corpus, std::size_t number) {
  nb::list sentences;
  if (corpus.sentences() == 0) return sentences;
  check_column(corpus, number);
  const Column& c = corpus.columns()[number];
  std::vector<nb::object> text(c.strings.size());
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    nb::list row;
    for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
      nb::object& cell = text[c.cell[t]];
      if (!cell.is_valid()) cell = text_of(c.strings[c.cell[t]]);
      row.append(cell);
    }
    sentences.append(row);
  }
  return sentences;
}

std::vector<std::size_t> lengths(const Corpus& corpus) {
  std::vector<std::size_t> n(corpus.sentences());
  for (std::size_t s = 0; s < n.size(); ++s) n[s] = corpus.sentence(s + 1) - corpus.sentence(s);
  return n;
}

// -- training -----------------------------------------------------------------------------------

// Comments and the like of a sentence: position of the token after them, and text. One past the
// last sentence: those at the end of the file.
nb::list asides(const Corpus& c, std::size_t i) {
  nb::list out;
  const auto& all = c.asides();
  auto at = std::lower_bound(
      all.begin(), all.end(), i,
      [](const Aside& aside, std::size_t sentence) { return aside.sentence < sentence; });
  for (; at != all.end() && at->sentence == i; ++at) {
    out.append(nb::make_tuple(at->token - c.sentence(i), text_of(c.aside_text()[at->text])));
  }
  return out;
}

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
      .def(
          "subset",
          [](const Corpus& c, const std::vector<std::size_t>& sentences) {
            for (const std::size_t i : sentences) check_sentence(c, i);
            return c.subset(sentences);
          },
          nb::arg("sentences"))
      .def("column", &column, nb::arg("column"))
      .def("lengths", &lengths)
      .def("set_line", &Corpus::set_line, nb::arg("lines"))
      .def(
          "set_weights",
          [](Corpus& c, const std::vector<double>& weights) {
            if (weights.size() != c.sentences()) {
              throw std::invalid_argument(std::to_string(weights.size()) + " weights for " +
                                          std::to_string(c.sentences()) + " sentences");
            }
            for (const double w : weights) {
              if (!(w > 0 && std::isfinite(w))) {
                throw std::invalid_argument("the weight of a sentence must be finite and > 0");
              }
            }
            c.set_weights(weights);
          },
          nb::arg("weights"))
      .def_prop_ro("weights", &Corpus::weights)
      .def("fingerprints", [](const Corpus& c) { return to_bytes(c.fingerprints()); })
      .def(
          "set_folds",
          [](Corpus& c, nb::handle folds) {
            const Bytes bytes(folds);
            const auto given = bytes.as<std::uint8_t>("folds");
            if (given.size() != c.sentences() ||
                std::any_of(given.begin(), given.end(), [](auto k) { return k >= kFolds; })) {
              throw std::invalid_argument("the folds do not fit the sentences");
            }
            c.set_folds({given.begin(), given.end()});
          },
          nb::arg("folds"))
      .def(
          "to_iobes",
          [](Corpus& c, std::size_t column, const std::string& unknown) {
            check_column(c, column);
            c.to_iobes(column, unknown);
          },
          nb::arg("column"), nb::arg("unknown") = "")
      .def(
          "to_sets",
          [](Corpus& c, std::size_t column, const std::string& mark, const std::string& unknown) {
            check_column(c, column);
            if (mark.empty()) throw std::invalid_argument("a mark has at least one character");
            c.to_sets(column, mark, unknown);
          },
          nb::arg("column"), nb::arg("mark"), nb::arg("unknown"))
      .def_prop_ro("labels_of_sets",
                   [](const Corpus& c) {
                     std::vector<std::string> labels;
                     for (const LabelSet& set : c.sets()) {
                       labels.insert(labels.end(), set.labels.begin(), set.labels.end());
                     }
                     return labels;
                   })
      .def(
          "join",
          [](Corpus& c, const std::vector<std::size_t>& columns, const std::string& unknown) {
            if (columns.empty()) throw std::invalid_argument("there are no columns to join");
            for (const std::size_t column : columns) check_column(c, column);
            join_columns(c, columns, unknown);
          },
          nb::arg("columns"), nb::arg("unknown"))
      .def("clear_tokens", &Corpus::clear_tokens)
      .def("clear", &Corpus::clear)
      .def(
          "add_sentence",
          [](Corpus& c, const std::vector<std::vector<std::string>>& columns,
             const std::vector<std::uint32_t>& lines) {
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
            if (!lines.empty() && lines.size() != columns[0].size()) {
              throw std::invalid_argument("every token has a line, or none has");
            }
            c.add_sentence(views, lines);
          },
          nb::arg("columns"), nb::arg("lines") = std::vector<std::uint32_t>())
      .def(
          "add_characters",
          [](Corpus& c, nb::handle text, nb::handle labels, const std::vector<std::string>& names) {
            const Bytes bytes(text), numbers(labels);
            if (invalid_utf8(bytes.text()) < bytes.text().size()) {
              throw std::invalid_argument("not valid UTF-8");
            }
            const std::size_t columns = kCharacterColumns + !names.empty();
            if (c.format() != Format::kColumns ||
                (!c.columns().empty() && c.columns().size() != columns)) {
              throw std::invalid_argument("the corpus has other columns");
            }
            if (names.empty() != numbers.text().empty()) {
              throw std::invalid_argument("labels without names, or names without labels");
            }
            add_characters(c, bytes.text(), numbers.text(), names);
          },
          nb::arg("text"), nb::arg("labels") = nb::bytes("", 0),
          nb::arg("names") = std::vector<std::string>())
      .def(
          "set_column",
          [](Corpus& c, std::size_t column, nb::handle numbers,
             const std::vector<std::string>& names) {
            check_column(c, column);
            const Bytes bytes(numbers);
            const auto given = bytes.as<std::uint32_t>("the numbers of cells");
            Column made;
            std::vector<std::uint32_t> place;  // names may repeat
            for (const std::string& name : names) place.push_back(made.strings.add(name));
            if (given.size() != c.tokens()) {
              throw std::invalid_argument(std::to_string(given.size()) + " cells for " +
                                          std::to_string(c.tokens()) + " tokens");
            }
            made.cell.reserve(given.size());
            for (const std::uint32_t k : given) {
              if (k >= place.size()) throw std::invalid_argument("a cell without a name");
              made.cell.push_back(place[k]);
            }
            c.columns()[column] = std::move(made);
          },
          nb::arg("column"), nb::arg("numbers"), nb::arg("names"))
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
            check_sentence(c, i);
            return asides(c, i);
          },
          nb::arg("sentence"))
      .def("closing_asides", [](const Corpus& c) { return asides(c, c.sentences()); })
      .def(
          "cell_numbers",
          [](const Corpus& c, std::size_t column) {
            check_column(c, column);
            return to_bytes(c.columns()[column].cell);
          },
          nb::arg("column"))
      .def(
          "counts",
          [](const Corpus& c, std::size_t column) {
            check_column(c, column);
            return c.counts(column);
          },
          nb::arg("column"));

  m.def(
      "copies_of",
      [](const std::vector<double>& weights) {
        std::vector<std::uint32_t> copies;
        for (const double weight : weights) copies.push_back(copies_of(weight));
        return copies;
      },
      nb::arg("weights"));
  m.def(
      "folds_of",
      [](nb::handle fingerprints) {
        const Bytes bytes(fingerprints);
        return to_bytes(folds_of(bytes.as<std::uint64_t>("fingerprints")));
      },
      nb::arg("fingerprints"));

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
      "count_lines",
      [](nb::handle data) {
        const Bytes bytes(data);
        return count_lines(bytes.text());
      },
      nb::arg("text"));
  m.def(
      "last_sentence_end",
      [](nb::handle text) {
        const Bytes bytes(text);
        return last_sentence_end(bytes.text());
      },
      nb::arg("text"));
}

}  // namespace structlearn::python
