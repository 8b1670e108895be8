// Chains over strings and dictionaries. Nothing here needs NumPy.
#include "models/string_chain.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "bindings/buffers.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/models/one_call.hpp"
#include "bindings/models/tensors.hpp"
#include "bindings/text/names.hpp"
#include "bindings/text/token_reading.hpp"
#include "models/crfsuite_file.hpp"
#include "models/stored_chain.hpp"

namespace structlearn::python {
namespace {

// A call of its own for one list of tokens.
class StringSession final : public Session {
 public:
  StringSession(const StringChain& model, const text::StringTable& names, std::string separator)
      : reading_(names, std::move(separator)), reader_(model, rows_) {}

  std::optional<std::size_t> read(nb::handle x) override {
    rows_.clear();
    reading_.example(x.ptr(), 0, rows_);
    rows_.drop_unknown();
    return rows_.tokens(0);
  }
  Reader& reader() override { return reader_; }
  bool too_large() const override { return rows_.capacity() + reader_.capacity() > kMostKept; }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 17;
  text::NamedRows rows_;
  TokenReading reading_;
  StringChainReader reader_;
};

class PyStringChain {
 public:
  PyStringChain(nb::object names, std::string separator, nb::list labels, std::size_t order,
                nb::dict arrays)
      : names_(std::move(names)),
        separator_(std::move(separator)),
        model_(chain_weights(arrays_of(arrays, keep_), table().size(), nb::len(labels), order)),
        one_call_([this] { return std::make_unique<StringSession>(model_, table(), separator_); },
                  labels, chain_steps(nb::len(labels), order)) {}
  PyStringChain(const PyStringChain&) = delete;

  const StringChain& model() const { return model_; }
  const text::StringTable& table() const { return nb::cast<const NameTable&>(names_).strings; }
  nb::list predict(nb::handle x) { return nb::list(one_call_.predict(x)); }
  nb::list probabilities(nb::handle x, nb::list names, double temperature, double least) {
    return nb::list(one_call_.probabilities(x, names, temperature, least));
  }

  text::NamedRows rows(nb::handle examples) const {
    text::NamedRows rows;
    TokenReading(table(), separator_).examples(examples.ptr(), false, rows);
    rows.drop_unknown();
    return rows;
  }

 private:
  nb::object names_;
  std::string separator_;
  std::vector<Bytes> keep_;
  StringChain model_;
  OneCall one_call_;
};

PyInputs chain_inputs(nb::object self, nb::handle examples) {
  const auto& chain = nb::cast<const PyStringChain&>(self);
  return {self, std::make_unique<StringChainInputs>(chain.model(), chain.rows(examples))};
}

// Token by token of an example: (name, value) of its features that the model knows.
nb::list chain_features(const PyStringChain& self, nb::handle example) {
  const text::NamedRows rows = self.rows(nb::make_tuple(example));
  nb::list out;
  for (std::size_t t = 0; t < rows.tokens(0); ++t) {
    nb::list token;
    for (std::size_t j = rows.begin(t); j < rows.end[t]; ++j) {
      token.append(nb::make_tuple(rows.id[j], rows.value.empty() ? 1.0 : rows.value[j]));
    }
    out.append(token);
  }
  return out;
}

// The labels of a model file, the table of its attributes, and its arrays.
nb::tuple read_crfsuite_file(nb::handle data) {
  const Bytes bytes(data);
  CrfsuiteModel model = read_crfsuite(bytes.text());
  nb::list labels;
  for (const std::string& label : model.labels) labels.append(text_of(label));
  nb::dict arrays;
  arrays["row_ptr"] = to_bytes(model.row_ptr);
  arrays["column"] = to_bytes(model.column);
  arrays["weight"] = to_bytes(model.weight);
  arrays["transition1"] = to_bytes(model.transition);
  return nb::make_tuple(labels, nb::cast(NameTable{std::move(model.attributes)}), arrays);
}

}  // namespace

void bind_string_chain(nb::module_& m) {
  m.def(
      "chain_arrays",
      [](nb::dict tensors) {
        // The arrays of a model file, whose types are checked.
        std::vector<Bytes> kept;
        nb::dict arrays;
        for (const auto& [name, bytes] : chain_arrays(tensors_of(tensors, kept))) {
          arrays[name.c_str()] = tensors[name.c_str()][1];
        }
        return arrays;
      },
      nb::arg("tensors"));
  nb::class_<PyStringChain>(m, "StringChain")
      .def(nb::init<nb::object, std::string, nb::list, std::size_t, nb::dict>(), nb::arg("names"),
           nb::arg("separator"), nb::arg("labels"), nb::arg("order"), nb::arg("arrays"))
      .def("predict", &PyStringChain::predict, nb::arg("x").none())
      .def("probabilities", &PyStringChain::probabilities, nb::arg("x").none(), nb::arg("names"),
           nb::arg("temperature"), nb::arg("least"))
      .def("inputs", &chain_inputs, nb::arg("X"))
      .def("features_of", &chain_features, nb::arg("x"));
  m.def(
      "check_crfsuite_header",
      [](nb::handle head, std::size_t size) {
        const Bytes bytes(head);
        check_crfsuite_header(bytes.text(), size);
      },
      nb::arg("head"), nb::arg("size"));
  m.def("read_crfsuite", &read_crfsuite_file, nb::arg("data"));
}

}  // namespace structlearn::python
