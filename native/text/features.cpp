#include "text/features.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "text/escapes.hpp"
#include "text/lexicon.hpp"

namespace structlearn::text {
namespace {

// The value of an attribute n places beyond the sentence.
std::string boundary_name(std::ptrdiff_t distance) {
  return "_B" + std::string(distance < 0 ? "" : "+") + std::to_string(distance);
}

}  // namespace

// -- phrases ------------------------------------------------------------------------------------

void Gazetteer::put(std::uint64_t path, std::uint32_t name) {
  Node& node = nodes_.find(path, [path](const Node& n) { return n.path == path; });
  if (!node.used()) return nodes_.fill(node, {path, name});
  if (node.name == StringTable::kAbsent) node.name = name;
}

void Gazetteer::add(const std::vector<std::string_view>& words, std::string_view name) {
  if (words.empty()) return;
  // Two numbers a name: at the beginning of a phrase, and inside.
  const std::uint32_t first = names_.add("B-" + std::string(name));
  names_.add("I-" + std::string(name));
  std::uint64_t path = kHashB;
  for (std::size_t i = 0; i < words.size(); ++i) {
    path = nonzero(combine(path, nonzero(hash_string(words[i]))));
    put(path, i + 1 == words.size() ? first : StringTable::kAbsent);
  }
  ++entries_;
}

void Gazetteer::match(const std::uint64_t* words, std::size_t n,
                      std::vector<std::vector<std::uint32_t>>& values) const {
  values.assign(n, {});
  for (std::size_t begin = 0; begin < n;) {
    std::uint64_t path = kHashB;
    std::size_t length = 0;
    std::uint32_t name = StringTable::kAbsent;
    for (std::size_t i = begin; i < n; ++i) {
      path = nonzero(combine(path, words[i]));
      const Node& node = nodes_.find(path, [path](const Node& it) { return it.path == path; });
      if (!node.used()) break;
      if (node.name != StringTable::kAbsent) {
        length = i - begin + 1;
        name = node.name;
      }
    }
    for (std::size_t i = 0; i < length; ++i) values[begin + i].push_back(i == 0 ? name : name + 1);
    begin += std::max<std::size_t>(length, 1);
  }
}

std::uint64_t boundary_value(std::ptrdiff_t distance) {
  return nonzero(hash_string(boundary_name(distance)));
}

std::uint64_t spelled_key(std::string_view feature) {
  return nonzero(hash_string(feature, kHashB));
}

std::uint64_t vector_key(std::string_view text, std::size_t d) {
  return nonzero(combine(hash_string(text), d));
}

// -- the set ------------------------------------------------------------------------------------

namespace {

bool several_values(const Attribute& a) {
  return a.multiple || a.kind == Attribute::Kind::kSentence;
}

bool of_sentence(Place place) {
  return place == Place::kToken || place == Place::kStart || place == Place::kStop;
}

Site site_of(const Template& t) {
  if (t.spelling != Spelling::kNone) return t.transition ? Site::kPair : Site::kToken;
  const auto all = [&](Place place) {
    return std::all_of(t.atoms.begin(), t.atoms.end(),
                       [&](const Atom& atom) { return atom.place == place; });
  };
  if (all(Place::kToken)) return t.transition ? Site::kPair : Site::kToken;
  if (all(Place::kBegin)) return Site::kBegin;
  if (all(Place::kEnd)) return Site::kEnd;
  return all(Place::kInside) ? Site::kInside : Site::kSegment;
}

}  // namespace

FeatureSet::FeatureSet(std::vector<Attribute> attributes, std::vector<Template> templates)
    : attributes_(std::move(attributes)), templates_(std::move(templates)) {
  if (templates_.size() > 65535) throw std::invalid_argument("more than 65,535 templates");
  for (const Attribute& a : attributes_) {
    if (a.reads_column()) columns_needed_ = std::max(columns_needed_, a.column + 1);
  }
  const auto refuse = [](const Template& t, const char* reason) {
    throw std::invalid_argument("template '" + t.text + "': " + reason);
  };
  for (const Template& t : templates_) {
    const bool spelled = t.spelling != Spelling::kNone;
    if (t.atoms.empty() && !spelled) {
      throw std::invalid_argument("a template without attributes");
    }
    if (t.pieces.size() != (spelled ? t.atoms.size() + 1 : 0)) {
      refuse(t, "values and what stands between them do not fit together");
    }
    site_.push_back(site_of(t));
    has_transitions_ = has_transitions_ || t.transition;
    const bool of_segment = !t.atoms.empty() && !of_sentence(t.atoms[0].place);
    if (site_.size() == 1) for_segments_ = of_segment;
    if (of_segment != for_segments_ || (of_segment && t.transition)) {
      refuse(t, "features of tokens and of segments do not go together");
    }
    for (const Atom& atom : t.atoms) {
      if (atom.attribute >= attributes_.size()) throw std::invalid_argument("no such attribute");
      Attribute& a = attributes_[atom.attribute];
      if (of_sentence(atom.place) == of_segment) refuse(t, "an attribute without a place");
      if (spelled) {
        if (a.kind != Attribute::Kind::kString || a.multiple) {
          refuse(t, "a spelled feature is made of single values of columns");
        }
        a.spelled = true;
        continue;
      }
      if (!of_segment && atom.place != Place::kToken) {
        refuse(t, "places in the sentence are for spelled features");
      }
      if (atom.place == Place::kWhole) {
        if (several_values(a)) refuse(t, "whole() takes one value a token");
        wholes_.push_back(atom.attribute);
      }
      if (a.kind != Attribute::Kind::kVector) continue;
      has_values_ = true;
      if (of_segment) refuse(t, "segments have no vectors");
      if (t.transition) refuse(t, "vectors are for labels, not for label pairs");
      if (t.atoms.size() > 1) refuse(t, "a vector cannot be joined with anything");
    }
  }
  std::sort(wholes_.begin(), wholes_.end());
  wholes_.erase(std::unique(wholes_.begin(), wholes_.end()), wholes_.end());
}

// -- attributes of strings ----------------------------------------------------------------------

void Extractor::update() {
  length_ = 0;  // what was expanded may be gone
  const auto& attributes = features_->attributes();
  values_.resize(attributes.size());
  row_.resize(attributes.size());
  phrases_.resize(attributes.size());
  said_.resize(attributes.size());
  whole_.resize(attributes.size());
  const auto counted = [](const Attribute& a) { return a.kind == Attribute::Kind::kLexicon; };
  if (training_ && std::any_of(attributes.begin(), attributes.end(), counted)) {
    fold_ = corpus_.folds();
  }
  std::vector<std::string> found;
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    const Attribute& attribute = attributes[a];
    if (!attribute.reads_column() || attribute.column >= corpus_.columns().size()) continue;
    const StringTable& strings = corpus_.columns()[attribute.column].strings;
    StringValues& values = values_[a];
    for (auto s = static_cast<std::uint32_t>(values.known); s < strings.size(); ++s) {
      found.clear();
      if (attribute.function) attribute.function(strings[s], found);
      if (attribute.vector_function) {
        values.worked_out.resize((s + 1) * attribute.width);
        attribute.vector_function(strings[s], values.worked_out.data() + s * attribute.width);
        values.single.push_back(s + 1u);
      } else if (attribute.kind == Attribute::Kind::kVector) {
        // The number of the row, from 1.
        values.single.push_back(
            attribute.vectors->names.find(attribute.function ? found[0] : strings[s]) + 1u);
      } else if (!attribute.function) {
        values.single.push_back(nonzero(strings.hash(s)));
      } else if (attribute.spelled) {
        values.text.push_back(found.empty() ? std::string() : std::move(found[0]));
        values.single.push_back(nonzero(hash_string(values.text.back())));
      } else if (attribute.multiple) {
        for (const std::string& v : found) values.several.push_back(nonzero(hash_string(v)));
        values.begin.push_back(static_cast<std::uint32_t>(values.several.size()));
      } else {
        values.single.push_back(found.empty() ? 0 : nonzero(hash_string(found[0])));
      }
    }
    values.known = strings.size();
  }
  pad_ = 0;
  for (const Template& t : features_->templates()) {
    if (t.spelling != Spelling::kNone) continue;
    for (const Atom& atom : t.atoms) {
      pad_ = std::max(pad_, static_cast<std::size_t>(std::abs(atom.offset)));
    }
  }
}

// -- features of a sentence ---------------------------------------------------------------------

void Extractor::expand(std::size_t sentence) {
  begin_ = corpus_.sentence(sentence);
  length_ = corpus_.sentence(sentence + 1) - begin_;
  const auto& attributes = features_->attributes();
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    const Attribute& attribute = attributes[a];
    std::vector<std::uint64_t>& row = row_[a];
    row.assign(length_ + 2 * pad_, 0);
    switch (attribute.kind) {
      case Attribute::Kind::kString: {
        if (attribute.multiple) break;
        const std::uint32_t* cell = corpus_.columns()[attribute.column].cell.data() + begin_;
        const std::uint64_t* single = values_[a].single.data();
        for (std::size_t i = 0; i < length_; ++i) row[pad_ + i] = single[cell[i]];
        break;
      }
      case Attribute::Kind::kFirst:
        row[pad_] = kYes;
        break;
      case Attribute::Kind::kLast:
        row[pad_ + length_ - 1] = kYes;
        break;
      case Attribute::Kind::kConstant:
        std::fill(row.begin(), row.end(), kYes);
        break;
      case Attribute::Kind::kGazetteer: {
        const Column& column = corpus_.columns()[attribute.column];
        std::vector<std::uint64_t> words(length_);
        for (std::size_t i = 0; i < length_; ++i) {
          words[i] = values_[a].single[column.cell[begin_ + i]];
        }
        attribute.gazetteer->match(words.data(), length_, phrases_[a]);
        for (std::size_t i = 0; i < length_; ++i) {
          if (!phrases_[a][i].empty()) {
            row[pad_ + i] = nonzero(attribute.gazetteer->names().hash(phrases_[a][i][0]));
          }
        }
        break;
      }
      case Attribute::Kind::kVector:
        break;
      case Attribute::Kind::kSentence:
        said_[a].assign(length_, {});
        attribute.sentence_function(corpus_, sentence, said_[a]);
        break;
      case Attribute::Kind::kLexicon: {
        const std::uint32_t* cell = corpus_.columns()[attribute.column].cell.data() + begin_;
        const Lexicon& lexicon = *attribute.lexicon;
        const std::size_t fold = sentence < fold_.size() ? fold_[sentence] : Lexicon::kAll;
        phrases_[a].assign(length_, {});
        for (std::size_t i = 0; i < length_; ++i) {
          const std::uint32_t value = lexicon.value(values_[a].single[cell[i]], fold);
          phrases_[a][i].push_back(value);
          row[pad_ + i] = nonzero(lexicon.names().hash(value));
        }
        break;
      }
    }
  }
}

namespace {

std::ptrdiff_t position_of(const Atom& atom, const Span& s) {
  const std::size_t from = atom.place == Place::kBegin ? s.begin
                           : atom.place == Place::kEnd ? s.end - 1
                                                       : s.inside;
  return static_cast<std::ptrdiff_t>(from) + atom.offset;
}

bool goes_inside(const Template& t) {
  return std::any_of(t.atoms.begin(), t.atoms.end(),
                     [](const Atom& atom) { return atom.place == Place::kInside; });
}

std::uint64_t length_value(std::size_t length) {
  return nonzero(hash_string(std::to_string(length)));
}

}  // namespace

// What is read whole of the tokens before one and of that one; 0: nothing.
std::uint64_t Extractor::whole(std::uint64_t before, std::size_t attribute,
                               std::size_t token) const {
  const std::uint64_t h = row_[attribute][pad_ + token];
  return h == 0 || before == 0 ? 0 : nonzero(combine(before, h));
}

void Extractor::read_whole(std::size_t begin, std::size_t end) {
  for (const std::size_t a : features_->wholes()) {
    whole_[a] = kHashB;
    for (std::size_t t = begin; t < end; ++t) whole_[a] = whole(whole_[a], a, t);
  }
}

template <class Each>
void Extractor::for_values(const Atom& atom, const Span& span, bool mark, Each&& each) const {
  const std::size_t attribute = atom.attribute;
  if (atom.place == Place::kLength) return each(length_value(span.end - span.begin));
  if (atom.place == Place::kWhole) {
    if (whole_[attribute] != 0) each(whole_[attribute]);
    return;
  }
  const std::ptrdiff_t position = position_of(atom, span);
  const Attribute& a = features_->attributes()[attribute];
  const auto length = static_cast<std::ptrdiff_t>(length_);
  if (position < 0 || position >= length) {
    if (a.kind == Attribute::Kind::kConstant) {
      each(kYes);
    } else if (mark) {
      each(boundary_value(position < 0 ? position : position - length + 1));
    }
    return;
  }
  if (a.kind == Attribute::Kind::kSentence) {
    for (const std::string& v : said_[attribute][static_cast<std::size_t>(position)]) {
      each(nonzero(hash_string(v)));
    }
    return;
  }
  if (a.kind == Attribute::Kind::kString && a.multiple) {
    const std::uint32_t s =
        corpus_.columns()[a.column].cell[begin_ + static_cast<std::size_t>(position)];
    for (std::uint32_t v = values_[attribute].begin[s]; v < values_[attribute].begin[s + 1]; ++v) {
      each(values_[attribute].several[v]);
    }
    return;
  }
  const std::uint64_t h = row_[attribute][pad_ + static_cast<std::size_t>(position)];
  if (h != 0) each(h);
}

// The numbers of a vector attribute at a position; null where the string has none.
const float* Extractor::vector_of(std::size_t attribute, std::size_t position) const {
  const Attribute& a = features_->attributes()[attribute];
  const std::uint32_t s = corpus_.columns()[a.column].cell[begin_ + position];
  const StringValues& values = values_[attribute];
  if (values.single[s] == 0) return nullptr;
  const float* rows = a.vector_function ? values.worked_out.data() : a.vectors->values.data();
  return rows + (values.single[s] - 1) * a.width;
}

void Extractor::combinations(const Template& t, std::size_t atom, std::uint64_t key,
                             const Span& span, Keys& out) const {
  if (atom == t.atoms.size()) {
    out.key.push_back(nonzero(key));
    out.origin.push_back(static_cast<std::uint16_t>(&t - features_->templates().data()));
    return;
  }
  for_values(t.atoms[atom], span, t.mark_boundaries,
             [&](std::uint64_t h) { combinations(t, atom + 1, combine(key, h), span, out); });
}

std::uint64_t Extractor::next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::uint64_t Extractor::value_of(std::size_t attribute, std::uint32_t string) const {
  const Attribute& a = features_->attributes()[attribute];
  const std::uint64_t value = values_[attribute].single[string];
  if (a.kind != Attribute::Kind::kLexicon) return value;
  return nonzero(a.lexicon->names().hash(a.lexicon->value(value, Lexicon::kAll)));
}

std::vector<Extractor::Plan> Extractor::plan(Site site, std::span<const std::uint8_t> skip) const {
  const auto& templates = features_->templates();
  std::vector<Plan> plans;
  plans.reserve(templates.size());
  for (std::size_t number = 0; number < templates.size(); ++number) {
    const Template& t = templates[number];
    if (features_->site(number) != site || (!skip.empty() && skip[number])) continue;
    Plan plan{&t, hash_string(t.text), static_cast<std::uint16_t>(number), t.atoms.size() <= 4, {}};
    const bool spelled = t.spelling != Spelling::kNone;
    for (std::size_t i = 0; i < t.atoms.size() && !spelled; ++i) {
      const Atom& atom = t.atoms[i];
      const Attribute& a = features_->attributes()[atom.attribute];
      plan.plain = plan.plain && !several_values(a) && a.kind != Attribute::Kind::kVector;
      if (i < 4) plan.row[i] = row_[atom.attribute].data() + pad_ + atom.offset;
    }
    plans.push_back(plan);
  }
  return plans;
}

// Adds the features of a template at a token, where all places are one, or at a segment.
template <bool kOfSegment>
void Extractor::add(const Plan& plan, const Span& span, Keys& out) const {
  const Template& t = *plan.from;
  if (plan.plain) {
    std::uint64_t key = plan.seed;
    bool complete = true;
    for (std::size_t i = 0; i < t.atoms.size(); ++i) {
      const Place place = t.atoms[i].place;
      const std::uint64_t h = !kOfSegment               ? plan.row[i][span.inside]
                              : place == Place::kBegin  ? plan.row[i][span.begin]
                              : place == Place::kEnd    ? plan.row[i][span.end - 1]
                              : place == Place::kWhole  ? whole_[t.atoms[i].attribute]
                              : place == Place::kLength ? lengths_[span.end - span.begin]
                                                        : plan.row[i][span.inside];
      complete = complete && h != 0;
      key = combine(key, h);
    }
    if (complete) {
      out.key.push_back(nonzero(key));
      out.origin.push_back(plan.number);
      return;
    }
    if (!t.mark_boundaries) return;
  }
  combinations(t, 0, plan.seed, span, out);
}

// Adds what is worked out once a token.
void Extractor::add_tokens(Site site, std::span<const std::uint8_t> skip, Keys& out) const {
  out.clear();
  const std::vector<Plan> plans = plan(site, skip);
  const auto& attributes = features_->attributes();
  std::string feature;
  // No label pair ends at the first token.
  for (std::size_t position = site == Site::kPair ? 1 : 0; position < length_; ++position) {
    for (const Plan& plan : plans) {
      if (plan.from->spelling != Spelling::kNone) {
        feature.clear();
        spell(*plan.from, position, feature);
        out.key.push_back(spelled_key(feature));
        out.origin.push_back(plan.number);
        continue;
      }
      const Atom& leading = plan.from->atoms[0];
      if (attributes[leading.attribute].kind != Attribute::Kind::kVector) {
        add<false>(plan, {position, position + 1, position}, out);
        continue;
      }
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(position) + leading.offset;
      if (at < 0 || at >= static_cast<std::ptrdiff_t>(length_)) continue;
      const float* numbers = vector_of(leading.attribute, static_cast<std::size_t>(at));
      if (!numbers) continue;
      out.value.resize(out.key.size(), 1.0f);
      for (std::size_t d = 0; d < attributes[leading.attribute].width; ++d) {
        out.key.push_back(nonzero(combine(plan.seed, d)));
        out.origin.push_back(plan.number);
        out.value.push_back(numbers[d]);
      }
    }
    out.end.push_back(static_cast<std::uint32_t>(out.key.size()));
  }
  if (features_->has_values()) out.value.resize(out.key.size(), 1.0f);
}

void Extractor::keys(std::size_t sentence, bool transitions, Keys& out,
                     std::span<const std::uint8_t> skip) {
  expand(sentence);
  add_tokens(transitions ? Site::kPair : Site::kToken, skip, out);
}

void Extractor::segment_keys(std::size_t sentence, std::size_t max_length, SegmentKeys& out) {
  expand(sentence);
  add_tokens(Site::kBegin, {}, out.begin);
  add_tokens(Site::kEnd, {}, out.end);
  add_tokens(Site::kInside, {}, out.inside);
  out.own.clear();
  for (std::size_t d = lengths_.size(); d <= max_length; ++d) lengths_.push_back(length_value(d));
  const std::vector<Plan> plans = plan(Site::kSegment, {});
  for (std::size_t b = 0; b < length_; ++b) {
    std::fill(whole_.begin(), whole_.end(), kHashB);
    for (std::size_t e = b + 1; e <= b + max_length; ++e) {
      if (e <= length_) {
        for (const std::size_t a : features_->wholes()) whole_[a] = whole(whole_[a], a, e - 1);
        for (const Plan& plan : plans) {
          const std::size_t last = goes_inside(*plan.from) ? e : b + 1;
          for (std::size_t inside = b; inside < last; ++inside)
            add<true>(plan, {b, e, inside}, out.own);
        }
      }
      out.own.end.push_back(static_cast<std::uint32_t>(out.own.key.size()));
    }
  }
}

std::vector<std::pair<std::string, std::uint64_t>> Extractor::named(std::size_t sentence,
                                                                    std::size_t begin,
                                                                    std::size_t end) {
  expand(sentence);
  read_whole(begin, end);
  std::vector<std::pair<std::string, std::uint64_t>> out;
  Keys keys;
  for (const Template& t : features_->templates()) {
    keys.clear();
    const std::size_t last = goes_inside(t) ? end : begin + 1;
    for (std::size_t inside = begin; inside < last; ++inside) {
      combinations(t, 0, hash_string(t.text), {begin, end, inside}, keys);
    }
    for (std::size_t i = 0; i < keys.key.size(); ++i) {
      out.emplace_back(name(sentence, begin, keys.origin[i], keys.key[i], end - begin),
                       keys.key[i]);
    }
  }
  return out;
}

void Extractor::spell_atom(const Template& t, const Atom& atom, std::size_t position,
                           std::string& out) const {
  const Attribute& a = features_->attributes()[atom.attribute];
  const auto length = static_cast<std::ptrdiff_t>(length_);
  const std::ptrdiff_t from = atom.place == Place::kStart  ? 0
                              : atom.place == Place::kStop ? length
                                                           : static_cast<std::ptrdiff_t>(position);
  const std::ptrdiff_t at = from + atom.offset;
  if (at >= 0 && at < length) {
    const Column& column = corpus_.columns()[a.column];
    const std::uint32_t s = column.cell[begin_ + static_cast<std::size_t>(at)];
    out += a.function ? std::string_view(values_[atom.attribute].text[s]) : column.strings[s];
    return;
  }
  const std::ptrdiff_t beyond = at < 0 ? at : at - length + 1;
  std::string name = boundary_name(beyond);
  if (t.spelling == Spelling::kCrfpp) {
    out += name;
    return;
  }
  name[1] = 'x';
  if (std::abs(beyond) > 4) name = name.substr(0, 3) + "#";
  if (!a.function) {
    out += name;
    return;
  }
  std::vector<std::string> found;
  a.function(name, found);
  if (!found.empty()) out += found[0];
}

void Extractor::spell(const Template& t, std::size_t position, std::string& out) const {
  out += t.pieces[0];
  for (std::size_t i = 0; i < t.atoms.size(); ++i) {
    spell_atom(t, t.atoms[i], position, out);
    if (t.spelling == Spelling::kWapiti && out.find('\0') != std::string::npos) {
      out.resize(out.find('\0'));
      return;
    }
    out += t.pieces[i + 1];
  }
}

// The values of an atom as text; the same cases as for_values.
std::vector<std::string> Extractor::texts(const Atom& atom, const Span& span, bool mark) const {
  const std::size_t attribute = atom.attribute;
  const Attribute& a = features_->attributes()[attribute];
  std::vector<std::string> found;
  if (atom.place == Place::kLength) return {std::to_string(span.end - span.begin)};
  if (atom.place == Place::kWhole) {
    std::string joined;
    for (std::size_t t = span.begin; t < span.end; ++t) {
      const auto one = texts({attribute, 0}, {t, t + 1, t}, mark);
      if (one.empty()) return {};
      if (t > span.begin) joined.push_back(' ');
      joined.append(one[0]);
    }
    return {joined};
  }
  const std::ptrdiff_t position = position_of(atom, span);
  const auto length = static_cast<std::ptrdiff_t>(length_);
  if (a.kind == Attribute::Kind::kConstant) {
    found.emplace_back("1");
  } else if (position < 0 || position >= length) {
    if (mark) found.push_back(boundary_name(position < 0 ? position : position - length + 1));
  } else if (a.kind == Attribute::Kind::kString) {
    const Column& column = corpus_.columns()[a.column];
    const std::string_view cell =
        column.strings[column.cell[begin_ + static_cast<std::size_t>(position)]];
    if (a.function) {
      a.function(cell, found);
    } else {
      found.emplace_back(cell);
    }
  } else if (a.kind == Attribute::Kind::kSentence) {
    found = said_[attribute][static_cast<std::size_t>(position)];
  } else if (a.kind == Attribute::Kind::kGazetteer || a.kind == Attribute::Kind::kLexicon) {
    const StringTable& names = a.gazetteer ? a.gazetteer->names() : a.lexicon->names();
    for (const std::uint32_t v : phrases_[attribute][static_cast<std::size_t>(position)]) {
      found.emplace_back(names[v]);
    }
  } else if (row_[attribute][pad_ + static_cast<std::size_t>(position)] != 0) {
    found.emplace_back("1");
  }
  return found;
}

// The name of a feature of a token, where each attribute has one value, which its string or its
// place tells; false if they are others.
bool Extractor::append_plain(const Template& t, std::size_t sentence, std::size_t position,
                             std::string& out) const {
  using Kind = Attribute::Kind;
  const auto& attributes = features_->attributes();
  for (const Atom& atom : t.atoms) {
    const Attribute& a = attributes[atom.attribute];
    const bool plain = a.kind == Kind::kFirst || a.kind == Kind::kLast ||
                       a.kind == Kind::kConstant || (a.kind == Kind::kString && !a.multiple);
    if (atom.place != Place::kToken || !plain) return false;
  }
  out += t.text;
  const bool several = t.atoms.size() > 1;  // a blank separates their values
  if (!several && attributes[t.atoms[0].attribute].kind == Kind::kConstant) return true;
  const std::size_t begin = corpus_.sentence(sentence);
  const auto length = static_cast<std::ptrdiff_t>(corpus_.sentence(sentence + 1) - begin);
  const auto add = [&](std::string_view value) {
    for (const char c : value) {
      if (several && (c == '\\' || c == ' ')) out.push_back('\\');
      out.push_back(c);
    }
  };
  char separator = '=';
  for (const Atom& atom : t.atoms) {
    const Attribute& a = attributes[atom.attribute];
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(position) + atom.offset;
    out.push_back(separator);
    separator = ' ';
    if (a.kind != Kind::kConstant && (at < 0 || at >= length)) {
      add(boundary_name(at < 0 ? at : at - length + 1));
    } else if (a.kind == Kind::kString) {
      const Column& column = corpus_.columns()[a.column];
      const std::string_view cell =
          column.strings[column.cell[begin + static_cast<std::size_t>(at)]];
      if (a.function) {
        std::vector<std::string> found;
        a.function(cell, found);
        add(found.at(0));
      } else {
        add(cell);
      }
    } else {
      add("1");
    }
  }
  return true;
}

void Extractor::append_name(std::size_t sentence, std::size_t position, std::size_t origin,
                            std::uint64_t key, std::size_t length, std::string& out) {
  const Template& t = features_->templates()[origin];
  if (t.spelling != Spelling::kNone) {
    if (begin_ != corpus_.sentence(sentence) || length_ == 0) expand(sentence);
    spell(t, position, out);
    return;
  }
  if (append_plain(t, sentence, position, out)) return;
  if (begin_ != corpus_.sentence(sentence) || length_ == 0) expand(sentence);
  const Attribute& leading = features_->attributes()[t.atoms[0].attribute];
  const std::uint64_t seed = hash_string(t.text);
  if (leading.kind == Attribute::Kind::kVector) {
    out += t.text;
    for (std::size_t d = 0; d < leading.width; ++d) {
      if (nonzero(combine(seed, d)) == key) out.append("[").append(std::to_string(d)).append("]");
    }
    return;
  }
  if (t.atoms[0].place != Place::kToken) read_whole(position, position + length);
  const bool several = t.atoms.size() > 1;
  const std::size_t last = goes_inside(t) ? position + length : position + 1;
  for (std::size_t inside = position; inside < last; ++inside) {
    const Span span{position, position + length, inside};
    // All combinations of values, to find the one with the key: one alone, nearly always.
    std::vector<std::pair<std::uint64_t, std::string>> partial{{seed, t.text}};
    bool first = true;
    for (const Atom& atom : t.atoms) {
      std::vector<std::pair<std::uint64_t, std::string>> longer;
      for (const std::string& v : texts(atom, span, t.mark_boundaries)) {
        const std::uint64_t value =
            atom.place == Place::kWhole ? whole_[atom.attribute] : nonzero(hash_string(v));
        for (const auto& [h, text] : partial) {
          longer.emplace_back(combine(h, value),
                              text + (first ? "=" : " ") + (several ? escaped(v, "\\ ") : v));
        }
      }
      partial.swap(longer);
      first = false;
    }
    for (const auto& [h, text] : partial) {
      if (nonzero(h) != key) continue;
      out += text;
      return;
    }
  }
  out += t.text;
}

std::string Extractor::name(std::size_t sentence, std::size_t position, std::size_t origin,
                            std::uint64_t key, std::size_t length) {
  std::string out;
  append_name(sentence, position, origin, key, length, out);
  return out;
}

// -- numbers of features ------------------------------------------------------------------------

std::uint32_t FeatureIndex::add(std::uint64_t key, std::uint32_t times) {
  Slot& slot = table_.find(key, has(key));
  if (slot.used()) {
    slot.count += std::min(times, ~slot.count);  // stays at the largest number
    return slot.id;
  }
  const auto id = static_cast<std::uint32_t>(size());
  table_.fill(slot, {key, id, times});
  return id;
}

void FeatureIndex::count_often(std::uint64_t key) {
  add(key);
  table_.find(key, has(key)).count = 1u << 31;
}

std::vector<std::uint32_t> FeatureIndex::keep(std::uint32_t min_count) {
  std::vector<std::uint32_t> moved(size(), kAbsent);
  std::vector<const Slot*> kept(size(), nullptr);
  for (const Slot& slot : table_.slots()) {
    if (slot.key != 0 && slot.count >= min_count) kept[slot.id] = &slot;
  }
  FeatureIndex smaller(static_cast<std::size_t>(
      std::count_if(kept.begin(), kept.end(), [](const Slot* s) { return s != nullptr; })));
  for (std::size_t id = 0; id < kept.size(); ++id) {
    if (!kept[id]) continue;
    moved[id] = smaller.add(kept[id]->key);
  }
  *this = std::move(smaller);
  return moved;
}

std::vector<std::uint64_t> FeatureIndex::keys() const {
  std::vector<std::uint64_t> keys(size());
  for (const Slot& slot : table_.slots()) {
    if (slot.key != 0) keys[slot.id] = slot.key;
  }
  return keys;
}

std::vector<std::uint32_t> FeatureIndex::counts() const {
  std::vector<std::uint32_t> counts(size());
  for (const Slot& slot : table_.slots()) {
    if (slot.key != 0) counts[slot.id] = slot.count;
  }
  return counts;
}

}  // namespace structlearn::text
