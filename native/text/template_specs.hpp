// Feature templates as model files have them, and the features that they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/features.hpp"
#include "text/json.hpp"

namespace structlearn::text {

// A function of a string, by its name, and what it takes besides.
struct Step {
  std::string function;
  std::variant<std::monostate, std::int64_t, std::string> argument;
  bool operator<(const Step& o) const {
    return function != o.function ? function < o.function : argument < o.argument;
  }
};

struct AttributeSpec {
  std::string kind, column;
  std::vector<Step> steps;
};

struct AtomSpec {
  AttributeSpec attribute;
  std::ptrdiff_t offset = 0;
  std::string place;
};

struct TemplateSpec {
  std::vector<AtomSpec> atoms;
  bool transition = false, marked = false;
  std::string name;  // empty: its text
  std::string spelling;
  std::vector<std::string> pieces;
};

// The template text of an attribute at an offset, and the line that stands for a template: what
// seeds the keys of its features.
std::string attribute_text(const AttributeSpec&, std::ptrdiff_t offset);
std::string template_text(const TemplateSpec&);
// The name under which an attribute's file is kept.
std::string resource_of(const AttributeSpec&);

// Names of functions, and what they take besides: nothing, a length, whether short, by types, a
// text.
std::vector<std::pair<std::string, std::string>> template_functions();

// [function, argument].
Step read_step(const Json&);
// [kind, column, [[function, argument], ...], offset], and a place where there is one.
AtomSpec read_atom(const Json&);
// [[atoms, transition, marked, name], ...], and spelling and pieces where there are any. Throws
// std::invalid_argument for what no template could have given.
std::vector<TemplateSpec> read_templates(const Json&);

// What templates name: contents of files, by resource_of; labels of words, by attribute_text; and
// functions that the core does not have, by whoever has them.
struct TemplateResources {
  std::map<std::string, std::shared_ptr<const Gazetteer>> phrases;
  std::map<std::string, std::shared_ptr<const VectorTable>> vectors;
  std::map<std::string, std::shared_ptr<const Lexicon>> lexica;
  // Of match(...) and call(...): their name and argument. Throws where there is no such function.
  std::function<StringFunction(const std::string& name, const std::string& argument)> function;
  std::function<decltype(Attribute::sentence_function)(const std::string& name)> sentence;
  // Of a hidden Markov model; empty: there is none.
  std::function<void(std::string_view, float*)> emission;
  std::size_t emission_width = 0;
};

// The features of templates, for files of a format and number of columns. Throws
// std::invalid_argument.
FeatureSet compiled(const std::vector<TemplateSpec>&, Format, std::size_t columns,
                    const TemplateResources&);

// The function that applies one after another; `multiple`: whether it may have several values.
StringFunction chained(const std::vector<Step>&, const TemplateResources&, bool& multiple);
// A function of the core: lower, prefix, ...
StringFunction named_function(const std::string& name, std::size_t n);

// [[words, name], ...]: the phrases of a file.
std::shared_ptr<const Gazetteer> read_phrases(const Json&);
// Vectors of names, each once. Throws std::invalid_argument.
std::shared_ptr<const VectorTable> vector_table(const std::vector<std::string>& names,
                                                std::span<const float> values, std::size_t width);

}  // namespace structlearn::text
