// Tokens as Python has them, read into numbers of feature names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bindings.hpp"
#include "text/named_rows.hpp"
#include "text/strings.hpp"

namespace structlearn::python {

// A token is a string (one feature); a list, tuple, set or other iterable of strings and of pairs
// (name, number); or a mapping. There {"word": "fish", "upper": True, "length": 4.0, "parts":
// ["a"]} has the features word=fish, upper and length of these values, and parts=a; a mapping
// inside
// {"next": {"word": "fish"}} puts its name and a colon in front, next:word=fish. The separator "="
// may be another string: CRFsuite's is ":".
//
// What is no token raises ValueError, which names the place. Needs the GIL.
//
// Strings lie all over memory, and so do their places in the table: they are looked up some
// hundred at a time, so that one does not wait for the other.
class TokenReading {
 public:
  // Names of features that are known; others are -1.
  TokenReading(const text::StringTable& names, std::string separator);
  // New names get new numbers. Whatever is learned from examples that are refused is forgotten.
  TokenReading(text::StringTable& names, std::string separator, bool learns);
  TokenReading(const TokenReading&) = delete;

  // `single_sites`: messages name tokens as examples.
  void examples(PyObject* examples, bool single_sites, text::NamedRows& out);
  // One example, a list of tokens, which is example `number` in messages; appended.
  void example(PyObject* tokens, std::size_t number, text::NamedRows& out);
  // Plain strings.
  void names(PyObject* strings, text::NamedRows& out);

 private:
  static constexpr std::size_t kTogether = 128;
  struct Waiting {
    PyObject *name, *value;  // null: the text is in `joined_` already
  };

  void read_tokens(PyObject* tokens, std::size_t number, text::NamedRows& out);
  static nb::object as_list(PyObject* tokens, std::size_t number);
  [[noreturn]] void refuse(PyObject* reason);

  bool token(PyObject*);
  bool dictionary(PyObject*, int depth);
  bool strings(PyObject* name, PyObject* list);
  bool pair(PyObject*);
  bool numeric(PyObject* name, PyObject* value);

  void general_token(PyObject*);
  void general_mapping(PyObject*);
  void general_entry(PyObject* name, PyObject* value);
  void general_number(PyObject* name, PyObject* value);
  nb::object whole_name(PyObject* name) const;

  void number(double);
  void add(PyObject* name, PyObject* value);
  void add_text(PyObject* name, PyObject* value);
  void append_value(PyObject*);
  void settle();
  std::size_t size() const { return out_->id.size() + pending_; }

  const text::StringTable& table_;
  text::StringTable* learned_;  // the same table; null where nothing is learned
  std::string separator_;
  text::NamedRows* out_ = nullptr;
  // Of the token that is being read.
  std::size_t example_ = 0, position_ = 0;
  bool single_sites_ = false;
  std::string joined_, path_;  // path: the names of the mappings around, each with a colon
  std::size_t pending_ = 0;
  Waiting waiting_[kTogether];
  std::size_t begin_[kTogether];
  std::string_view text_[kTogether];
  std::uint64_t hash_[kTogether];
};

}  // namespace structlearn::python
