#include "text/template_specs.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "text/column_names.hpp"
#include "text/functions.hpp"
#include "text/simple_regex.hpp"

namespace structlearn::text {
namespace {

constexpr std::int64_t kMostLength = 100, kMostOffset = 1000;
constexpr std::size_t kMost = 100;  // attributes of a template, functions of an attribute

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kFunctions = {
    {{"lower", ""},
     {"digits", ""},
     {"prefix", "length"},
     {"suffix", "length"},
     {"ngrams", "length"},
     {"shape", "short"},
     {"match", "text"},
     {"call", "text"},
     {"in", "text"},
     {"vector", "text"},
     {"seen", "types"},
     {"emission", ""},
     {"sentence", "text"},
     // Of Wapiti's patterns.
     {"uncapped", ""},
     {"tested", "text"},
     {"matched", "text"}}};
constexpr std::array<std::string_view, 8> kKinds = {"string",    "first",  "last",    "constant",
                                                    "gazetteer", "vector", "lexicon", "sentence"};
// Where offsets are counted from: in segments, and in templates that spell their features.
constexpr std::array<std::string_view, 6> kPlaces = {"",      "begin", "inside",
                                                     "whole", "end",   "length"};
constexpr std::array<std::string_view, 3> kOfSentences = {"", "start", "stop"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::int64_t number_of(const Step& step) {
  const auto* x = std::get_if<std::int64_t>(&step.argument);
  return x ? *x : 0;
}

std::string argument_of(const Step& step) {
  if (const auto* x = std::get_if<std::int64_t>(&step.argument)) return std::to_string(*x);
  const auto* s = std::get_if<std::string>(&step.argument);
  return s ? *s : std::string();
}

// What stands after a comma inside of a function's brackets.
std::string shown_argument(const Step& step) {
  if (step.function == "match") return ", /" + argument_of(step) + "/";
  if (step.function == "in" || step.function == "vector" || step.function == "call") {
    return ", \"" + argument_of(step) + "\"";
  }
  if (step.function == "shape") return number_of(step) ? ", short" : "";
  if (step.function == "seen") return number_of(step) ? ", types" : "";
  return step.argument.index() == 0 ? "" : ", " + argument_of(step);
}

std::string at_offset(std::string_view text, std::ptrdiff_t offset) {
  return std::string(text) + "[" + std::to_string(offset) + "]";
}

bool is_right(const Step& step) {
  const auto known = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const auto& function) {
    return function.first == step.function;
  });
  if (known == kFunctions.end()) return false;
  if (known->second == "text") return std::holds_alternative<std::string>(step.argument);
  const auto* x = std::get_if<std::int64_t>(&step.argument);
  if (known->second.empty()) return x == nullptr ? step.argument.index() == 0 : *x == 0;
  return x != nullptr && *x >= 0 && *x <= kMostLength;
}

[[noreturn]] void invalid(const std::string& which) {
  throw std::invalid_argument("an invalid template: " + which);
}

// Refuses what no template could have given.
void check_atom(const AtomSpec& atom, bool spelled) {
  const AttributeSpec& a = atom.attribute;
  const bool known = spelled ? contains(kOfSentences, atom.place) : contains(kPlaces, atom.place);
  if (!known || (atom.place == "whole" && atom.offset != 0)) invalid(atom.place + " " + a.column);
  const bool named = a.kind == "gazetteer" || a.kind == "vector" || a.kind == "lexicon";
  // Functions call each other: many of them would be too deep.
  if (!contains(kKinds, a.kind) || atom.offset < -kMostOffset || atom.offset > kMostOffset ||
      (named && a.steps.empty()) || a.steps.size() > kMost ||
      !std::all_of(a.steps.begin(), a.steps.end(), is_right)) {
    invalid(a.kind + " " + a.column);
  }
}

Place place_of(std::string_view name) {
  if (name == "begin") return Place::kBegin;
  if (name == "end") return Place::kEnd;
  if (name == "inside") return Place::kInside;
  if (name == "whole") return Place::kWhole;
  if (name == "length") return Place::kLength;
  if (name == "start") return Place::kStart;
  if (name == "stop") return Place::kStop;
  return Place::kToken;
}

StringFunction then(StringFunction first, StringFunction second) {
  if (!first) return second;
  return [first = std::move(first), second = std::move(second)](std::string_view s,
                                                                std::vector<std::string>& out) {
    std::vector<std::string> between;
    first(s, between);
    for (const std::string& b : between) second(b, out);
  };
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
  return [regex](std::string_view s, Strings& out) {
    const auto found = regex->search(s);
    if (!found) return void(out.emplace_back());
    const auto [begin, length] = *found;
    out.emplace_back(s.substr(begin, length));
    if (length > s.size() - begin) out.back() += '\0';  // the feature ends here, as Wapiti's
  };
}

template <class T>
const std::shared_ptr<const T>& resource(
    const std::map<std::string, std::shared_ptr<const T>>& known, const std::string& name,
    const char* what) {
  const auto at = known.find(name);
  if (at == known.end())
    throw std::invalid_argument(std::string(what) + " '" + name + "' are missing");
  return at->second;
}

Attribute attribute_of(const AttributeSpec& spec, Format format, std::size_t columns,
                       const TemplateResources& resources) {
  Attribute a;
  const auto lower = [&] {
    if (spec.steps.size() > 1) a.function = named_function("lower", 0);
  };
  if (spec.kind == "sentence") {
    a.kind = Attribute::Kind::kSentence;
    a.sentence_function = resources.sentence(argument_of(spec.steps[0]));
    return a;
  }
  if (spec.kind == "first" || spec.kind == "last" || spec.kind == "constant") {
    a.kind = spec.kind == "first"  ? Attribute::Kind::kFirst
             : spec.kind == "last" ? Attribute::Kind::kLast
                                   : Attribute::Kind::kConstant;
    return a;
  }
  a.column = find_column(spec.column, format, columns);
  if (spec.kind == "gazetteer") {
    a.kind = Attribute::Kind::kGazetteer;
    lower();
    a.gazetteer = resource(resources.phrases, resource_of(spec), "the phrases of");
  } else if (spec.kind == "lexicon") {
    a.kind = Attribute::Kind::kLexicon;
    const std::vector<Step> before(spec.steps.begin(), spec.steps.end() - 1);
    a.function = chained(before, resources, a.multiple);
    a.lexicon = resource(resources.lexica, attribute_text(spec, 0), "the labels of");
  } else if (spec.kind == "vector") {
    a.kind = Attribute::Kind::kVector;
    if (spec.steps.size() == 1 && spec.steps[0].function == "emission") {
      if (!resources.emission) {
        throw std::invalid_argument("emission() is for hidden Markov models only");
      }
      a.vector_function = resources.emission;
      a.width = resources.emission_width;
      return a;
    }
    lower();
    a.vectors = resource(resources.vectors, resource_of(spec), "the vectors of");
    a.width = a.vectors->width;
  } else {
    a.function = chained(spec.steps, resources, a.multiple);
  }
  return a;
}

}  // namespace

std::string attribute_text(const AttributeSpec& a, std::ptrdiff_t offset) {
  if (a.kind == "first" || a.kind == "last" || a.kind == "constant" || a.kind == "sentence") {
    const std::string name = a.kind == "constant" ? "bias"
                             : a.kind == "sentence"
                                 ? "sentence(\"" + argument_of(a.steps.at(0)) + "\")"
                                 : a.kind;
    return offset == 0 ? name : at_offset(name, offset);
  }
  std::string text = at_offset(a.column, offset);
  for (const Step& step : a.steps) {
    text = step.function + "(" + text + shown_argument(step) + ")";
  }
  return text;
}

std::string template_text(const TemplateSpec& t) {
  if (!t.spelling.empty()) return t.name;
  const bool of_segments =
      std::any_of(t.atoms.begin(), t.atoms.end(), [](const auto& a) { return !a.place.empty(); });
  std::string line = t.transition && !of_segments ? "transition:" : "";
  for (const AtomSpec& atom : t.atoms) {
    if (!line.empty()) line += ' ';
    if (!of_segments) {
      line += attribute_text(atom.attribute, atom.offset);
    } else if (atom.place == "length") {
      line += atom.place;
    } else {
      line += atom.place + "(" + attribute_text(atom.attribute, atom.offset) + ")";
    }
  }
  return line;
}

std::vector<std::pair<std::string, std::string>> template_functions() {
  return {kFunctions.begin(), kFunctions.end()};
}

std::string resource_of(const AttributeSpec& a) {
  std::string name;
  for (const Step& step : a.steps) {
    const std::string argument = argument_of(step);
    if (argument.empty() || argument == "0") continue;
    if (!name.empty()) name += ' ';
    name += argument;
  }
  return a.steps.size() > 1 ? name + " lower" : name;
}

Step read_step(const Json& given) {
  const Json::List& pair = given.list("a function");
  if (pair.size() != 2) invalid("a function of " + std::to_string(pair.size()) + " parts");
  Step step{pair[0].text("the name of a function"), {}};
  if (pair[1].is_text()) {
    step.argument = pair[1].text("");
  } else if (!pair[1].is_null()) {
    step.argument = pair[1].whole("the argument of a function");
  }
  return step;
}

AtomSpec read_atom(const Json& given) {
  const Json::List& parts = given.list("an attribute");
  if (parts.size() != 4 && parts.size() != 5) invalid("an attribute's parts");
  AtomSpec atom;
  AttributeSpec& a = atom.attribute;
  a.kind = parts[0].text("the kind of an attribute");
  a.column = parts[1].text("the column of an attribute");
  for (const Json& step : parts[2].list("the functions of an attribute")) {
    a.steps.push_back(read_step(step));
  }
  atom.offset = static_cast<std::ptrdiff_t>(parts[3].whole("an offset"));
  if (parts.size() == 5) atom.place = parts[4].text("a place");
  if (a.kind == "sentence" && a.steps.empty()) invalid(a.kind);
  return atom;
}

std::vector<TemplateSpec> read_templates(const Json& given) {
  std::vector<TemplateSpec> templates;
  for (const Json& one : given.list("the templates")) {
    const Json::List& parts = one.list("a template");
    if (parts.size() != 4 && parts.size() != 6) invalid("a template's parts");
    TemplateSpec t;
    const Json::List& atoms = parts[0].list("the attributes of a template");
    if (atoms.size() > kMost) {
      throw std::invalid_argument("a template of " + std::to_string(atoms.size()) + " attributes");
    }
    t.transition = parts[1].flag("whether a template is of transitions");
    t.marked = parts[2].flag("whether ends are marked");
    t.name = parts[3].text("the name of a template");
    if (parts.size() == 6) {
      t.spelling = parts[4].text("a spelling");
      t.pieces = parts[5].texts("an invalid template: a piece");
      if (!t.spelling.empty() && t.spelling != "crf++" && t.spelling != "wapiti") {
        invalid("spelled as '" + t.spelling + "'");
      }
    }
    for (const Json& atom : atoms) {
      check_atom(t.atoms.emplace_back(read_atom(atom)), !t.spelling.empty());
    }
    templates.push_back(std::move(t));
  }
  return templates;
}

FeatureSet compiled(const std::vector<TemplateSpec>& templates, Format format, std::size_t columns,
                    const TemplateResources& resources) {
  const auto before = [](const AttributeSpec* a, const AttributeSpec* b) {
    return std::tie(a->kind, a->column, a->steps) < std::tie(b->kind, b->column, b->steps);
  };
  std::map<const AttributeSpec*, std::size_t, decltype(before)> known(before);
  std::vector<Attribute> attributes;
  std::vector<Template> made;
  for (const TemplateSpec& spec : templates) {
    Template t;
    for (const AtomSpec& atom : spec.atoms) {
      const auto [at, added] = known.emplace(&atom.attribute, attributes.size());
      if (added) attributes.push_back(attribute_of(atom.attribute, format, columns, resources));
      t.atoms.push_back({at->second, atom.offset, place_of(atom.place)});
    }
    t.text = spec.name.empty() ? template_text(spec) : spec.name;
    t.mark_boundaries = spec.marked;
    t.transition = spec.transition;
    t.spelling = spec.spelling == "wapiti"  ? Spelling::kWapiti
                 : spec.spelling == "crf++" ? Spelling::kCrfpp
                                            : Spelling::kNone;
    t.pieces = spec.pieces;
    made.push_back(std::move(t));
  }
  return {std::move(attributes), std::move(made)};
}

StringFunction chained(const std::vector<Step>& steps, const TemplateResources& resources,
                       bool& multiple) {
  StringFunction all;
  for (const Step& step : steps) {
    if (step.function == "match" || step.function == "call") {
      all = then(std::move(all), resources.function(step.function, argument_of(step)));
      multiple = true;
    } else if (step.function == "tested" || step.function == "matched") {
      all = then(std::move(all), text_function(step.function, argument_of(step)));
    } else {
      all = then(std::move(all),
                 named_function(step.function, static_cast<std::size_t>(number_of(step))));
      multiple = multiple || step.function == "ngrams";
    }
  }
  return all;
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

std::shared_ptr<const Gazetteer> read_phrases(const Json& given) {
  auto phrases = std::make_shared<Gazetteer>();
  for (const Json& entry : given.list("phrases")) {
    const Json::List& pair = entry.list("a phrase");
    if (pair.size() != 2) throw std::invalid_argument("a phrase is words and a name");
    const std::vector<std::string> words = pair[0].texts("the words of a phrase");
    phrases->add({words.begin(), words.end()}, pair[1].text("the name of a phrase"));
  }
  return phrases;
}

std::shared_ptr<const VectorTable> vector_table(const std::vector<std::string>& names,
                                                std::span<const float> values, std::size_t width) {
  auto table = std::make_shared<VectorTable>();
  for (const std::string& name : names) table->names.add(name);
  table->values.assign(values.begin(), values.end());
  table->width = width;
  if (table->values.size() != table->width * table->names.size()) {
    throw std::invalid_argument("as many vectors as names are needed, and no name twice");
  }
  return table;
}

}  // namespace structlearn::text
