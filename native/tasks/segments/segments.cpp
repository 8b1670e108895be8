#include "tasks/segments/segments.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/escapes.hpp"

namespace structlearn::text {
namespace {

using Place = SegmentAtom::Place;
using Reach = SegmentFeatures::Reach;

constexpr std::size_t kAhead = 12;  // keys between asking for a slot and reading it

Reach reach_of(const SegmentTemplate& t) {
  const auto all = [&](Place place) {
    return std::all_of(t.atoms.begin(), t.atoms.end(),
                       [&](const SegmentAtom& atom) { return atom.place == place; });
  };
  if (all(Place::kBegin)) return Reach::kBegin;
  if (all(Place::kEnd)) return Reach::kEnd;
  return all(Place::kInside) ? Reach::kInside : Reach::kBoth;
}

bool several_values(const Attribute& a) {
  return a.multiple || a.kind == Attribute::Kind::kSentence;
}

}  // namespace

SegmentFeatures::SegmentFeatures(std::shared_ptr<const FeatureSet> attributes,
                                 std::vector<SegmentTemplate> templates)
    : attributes_(std::move(attributes)), templates_(std::move(templates)) {
  if (!attributes_->templates().empty()) {
    throw std::invalid_argument("these templates are for tokens, not for segments");
  }
  if (templates_.size() > 65535) throw std::invalid_argument("more than 65,535 templates");
  for (const SegmentTemplate& t : templates_) {
    if (t.atoms.empty()) throw std::invalid_argument("a template without attributes");
    for (const SegmentAtom& atom : t.atoms) {
      if (atom.attribute >= attributes_->attributes().size()) {
        throw std::invalid_argument("no such attribute");
      }
      const Attribute& a = attributes_->attributes()[atom.attribute];
      if (a.kind == Attribute::Kind::kVector) {
        throw std::invalid_argument("template '" + t.text + "': segments have no vectors");
      }
      if (atom.place == Place::kWhole && several_values(a)) {
        throw std::invalid_argument("template '" + t.text + "': whole() takes one value a token");
      }
      pad_ = std::max(pad_, static_cast<std::size_t>(std::abs(atom.offset)));
    }
    reach_.push_back(reach_of(t));
    goes_inside_.push_back(false);
    for (const SegmentAtom& atom : t.atoms) {
      if (atom.place == Place::kInside) goes_inside_.back() = true;
      if (atom.place == Place::kWhole) wholes_.push_back(atom.attribute);
    }
  }
  std::sort(wholes_.begin(), wholes_.end());
  wholes_.erase(std::unique(wholes_.begin(), wholes_.end()), wholes_.end());
}

SegmentExtractor::SegmentExtractor(std::shared_ptr<const SegmentFeatures> features,
                                   const Corpus& corpus, std::size_t max_length, bool training)
    : features_(std::move(features)),
      corpus_(corpus),
      max_length_(max_length),
      extractor_(features_->shared_attributes(), corpus, training) {
  const auto& attributes = features_->attributes().attributes();
  for (const SegmentTemplate& t : features_->templates()) {
    seed_.push_back(hash_string(t.text));
    plain_.push_back(std::none_of(t.atoms.begin(), t.atoms.end(), [&](const SegmentAtom& atom) {
      return several_values(attributes[atom.attribute]);
    }));
  }
  for (std::size_t d = 0; d <= max_length; ++d) {
    length_hash_.push_back(nonzero(hash_string(std::to_string(d))));
  }
  first_.resize(attributes.size());
  several_.resize(attributes.size());
  whole_.resize(attributes.size());
}

void SegmentExtractor::open(std::size_t sentence) {
  extractor_.expand(sentence);
  length_ = corpus_.sentence(sentence + 1) - corpus_.sentence(sentence);
  const auto& attributes = features_->attributes().attributes();
  const std::size_t pad = features_->pad(), n = length_ + 2 * pad;
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    first_[a].assign(n, 0);
    if (several_values(attributes[a])) several_[a].assign(n, {});
    for (std::size_t i = 0; i < n; ++i) {
      found_.clear();
      const auto at = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(pad);
      extractor_.values(a, at, true, found_);
      if (!found_.empty()) first_[a][i] = found_[0];
      if (several_values(attributes[a])) several_[a][i] = found_;
    }
  }
}

std::ptrdiff_t SegmentExtractor::position(const SegmentAtom& atom, const Span& s) const {
  const std::size_t from = atom.place == Place::kBegin ? s.begin
                           : atom.place == Place::kEnd ? s.end - 1
                                                       : s.inside;
  return static_cast<std::ptrdiff_t>(from) + atom.offset;
}

// Whether there is nothing at a place since it lies beyond the sentence.
bool SegmentExtractor::outside(const SegmentAtom& atom, bool mark, std::ptrdiff_t position) const {
  return !mark && (position < 0 || position >= static_cast<std::ptrdiff_t>(length_)) &&
         features_->attributes().attributes()[atom.attribute].kind != Attribute::Kind::kConstant;
}

// The one value of an atom; 0: none.
std::uint64_t SegmentExtractor::value(const SegmentAtom& atom, bool mark, const Span& s) const {
  if (atom.place == Place::kLength) return length_hash_[s.end - s.begin];
  if (atom.place == Place::kWhole) return whole_[atom.attribute];
  const std::ptrdiff_t at = position(atom, s);
  if (outside(atom, mark, at)) return 0;
  const auto pad = static_cast<std::ptrdiff_t>(features_->pad());
  return first_[atom.attribute][static_cast<std::size_t>(at + pad)];
}

void SegmentExtractor::combinations(std::size_t number, std::size_t atom, std::uint64_t key,
                                    const Span& s, Keys& out) const {
  const SegmentTemplate& t = features_->templates()[number];
  if (atom == t.atoms.size()) {
    out.key.push_back(nonzero(key));
    return;
  }
  const SegmentAtom& a = t.atoms[atom];
  const bool placed = a.place != Place::kLength && a.place != Place::kWhole;
  if (placed && several_values(features_->attributes().attributes()[a.attribute])) {
    const std::ptrdiff_t at = position(a, s);
    if (outside(a, t.mark_boundaries, at)) return;
    const auto pad = static_cast<std::ptrdiff_t>(features_->pad());
    for (const std::uint64_t h : several_[a.attribute][static_cast<std::size_t>(at + pad)]) {
      combinations(number, atom + 1, combine(key, h), s, out);
    }
    return;
  }
  const std::uint64_t h = value(a, t.mark_boundaries, s);
  if (h != 0) combinations(number, atom + 1, combine(key, h), s, out);
}

void SegmentExtractor::add(std::size_t number, const Span& s, Keys& out) const {
  if (!plain_[number]) {
    combinations(number, 0, seed_[number], s, out);
    return;
  }
  const SegmentTemplate& t = features_->templates()[number];
  std::uint64_t key = seed_[number];
  for (const SegmentAtom& atom : t.atoms) {
    const std::uint64_t h = value(atom, t.mark_boundaries, s);
    if (h == 0) return;
    key = combine(key, h);
  }
  out.key.push_back(nonzero(key));
}

// Appends a token to what is read whole of an attribute.
void SegmentExtractor::join_whole(std::size_t attribute, std::size_t token) {
  const std::uint64_t h = first_[attribute][features_->pad() + token];
  std::uint64_t& whole = whole_[attribute];
  whole = h == 0 || whole == 0 ? 0 : nonzero(combine(whole, h));
}

void SegmentExtractor::keys(std::size_t sentence, SegmentKeys& out) {
  open(sentence);
  const auto& templates = features_->templates();
  for (Keys* keys : {&out.begin, &out.end, &out.inside, &out.both}) keys->clear();
  const auto end_row = [](Keys& keys) {
    keys.end.push_back(static_cast<std::uint32_t>(keys.key.size()));
  };
  for (std::size_t t = 0; t < length_; ++t) {
    const Span token{t, t + 1, t};
    for (std::size_t i = 0; i < templates.size(); ++i) {
      switch (features_->reach(i)) {
        case Reach::kBegin:
          add(i, token, out.begin);
          break;
        case Reach::kEnd:
          add(i, token, out.end);
          break;
        case Reach::kInside:
          add(i, token, out.inside);
          break;
        case Reach::kBoth:
          break;
      }
    }
    end_row(out.begin);
    end_row(out.end);
    end_row(out.inside);
  }
  for (std::size_t b = 0; b < length_; ++b) {
    std::fill(whole_.begin(), whole_.end(), kHashB);
    for (std::size_t d = 1; d <= max_length_; ++d) {
      const std::size_t e = b + d;
      if (e <= length_) {
        for (const std::size_t a : features_->wholes()) join_whole(a, e - 1);
        for (std::size_t i = 0; i < templates.size(); ++i) {
          if (features_->reach(i) != Reach::kBoth) continue;
          if (!features_->goes_inside(i)) {
            add(i, {b, e, b}, out.both);
            continue;
          }
          for (std::size_t t = b; t < e; ++t) add(i, {b, e, t}, out.both);
        }
      }
      end_row(out.both);
    }
  }
}

// -- names --------------------------------------------------------------------------------------

void SegmentExtractor::name(const SegmentTemplate& t, const Span& s,
                            std::vector<std::string>& out) const {
  std::vector<std::string> partial{t.text};
  const bool several = t.atoms.size() > 1;  // a blank separates their values
  bool first = true;
  for (const SegmentAtom& atom : t.atoms) {
    std::vector<std::string> found, longer;
    if (atom.place == Place::kLength) {
      found.push_back(std::to_string(s.end - s.begin));
    } else if (atom.place == Place::kWhole) {
      std::string whole;
      bool complete = true;
      for (std::size_t i = s.begin; i < s.end; ++i) {
        const auto one =
            extractor_.texts(atom.attribute, static_cast<std::ptrdiff_t>(i), t.mark_boundaries);
        complete = complete && !one.empty();
        if (i > s.begin) whole.push_back(' ');
        if (complete) whole.append(one[0]);
      }
      if (complete) found.push_back(whole);
    } else {
      found = extractor_.texts(atom.attribute, position(atom, s), t.mark_boundaries);
    }
    for (const std::string& before : partial) {
      for (const std::string& v : found) {
        longer.push_back(before + (first ? "=" : " ") + (several ? escaped(v, "\\ ") : v));
      }
    }
    partial.swap(longer);
    first = false;
  }
  out.insert(out.end(), partial.begin(), partial.end());
}

std::vector<std::pair<std::string, std::uint64_t>> SegmentExtractor::named(std::size_t sentence,
                                                                           std::size_t begin,
                                                                           std::size_t end) {
  open(sentence);
  for (const std::size_t a : features_->wholes()) {
    whole_[a] = kHashB;
    for (std::size_t t = begin; t < end; ++t) join_whole(a, t);
  }
  std::vector<std::pair<std::string, std::uint64_t>> out;
  std::vector<std::string> names;
  Keys keys;
  for (std::size_t number = 0; number < features_->templates().size(); ++number) {
    const std::size_t last = features_->goes_inside(number) ? end : begin + 1;
    for (std::size_t inside = begin; inside < last; ++inside) {
      names.clear();
      keys.clear();
      // Both go through the same values in the same order.
      name(features_->templates()[number], {begin, end, inside}, names);
      add(number, {begin, end, inside}, keys);
      for (std::size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], keys.key.at(i));
    }
  }
  return out;
}

// -- numbers ------------------------------------------------------------------------------------

namespace {

// Calls each(keys, row) for the rows of keys that make up the segment [b, e).
template <class Each>
void for_rows(const SegmentKeys& keys, std::size_t b, std::size_t e, std::size_t max_length,
              Each&& each) {
  each(keys.begin, b);
  each(keys.end, e - 1);
  for (std::size_t t = b; t < e; ++t) each(keys.inside, t);
  each(keys.both, b * max_length + (e - b - 1));
}

// Calls each(key) for the features of the segment [b, e).
template <class Each>
void for_keys(const SegmentKeys& keys, std::size_t b, std::size_t e, std::size_t max_length,
              Each&& each) {
  for_rows(keys, b, e, max_length, [&](const Keys& part, std::size_t row) {
    for (std::size_t j = row == 0 ? 0 : part.end[row - 1]; j < part.end[row]; ++j)
      each(part.key[j]);
  });
}

// Calls each(b, e) for the segments of a sentence, as `starts` has them.
template <class Each>
void for_segments(const Corpus& corpus, std::size_t s, const std::vector<std::uint8_t>& starts,
                  Each&& each) {
  const std::size_t first = corpus.sentence(s), n = corpus.sentence(s + 1) - first;
  for (std::size_t b = 0, e = 1; b < n; b = e) {
    for (e = b + 1; e < n && !starts[first + e]; ++e) {
    }
    each(b, e);
  }
}

}  // namespace

void SegmentVocabulary::add(SegmentExtractor& extractor, const Corpus& corpus,
                            const std::vector<std::uint8_t>& starts) {
  SegmentKeys keys;
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    extractor.keys(s, keys);
    for_segments(corpus, s, starts, [&](std::size_t b, std::size_t e) {
      if (e - b > extractor.max_length()) throw std::invalid_argument("a segment is too long");
      for_keys(keys, b, e, extractor.max_length(),
               [&](std::uint64_t key) { index_.add(key, corpus.copies(s)); });
    });
  }
}

void SegmentVocabulary::keep(std::size_t min_count) {
  if (min_count > 1) index_.keep(static_cast<std::uint32_t>(min_count));
}

void SegmentVocabulary::rows(SegmentExtractor& extractor, const Corpus& corpus,
                             SegmentRows& out) const {
  SegmentKeys keys;
  // A key's number is looked up once a token, not once a segment that has it.
  struct Numbers {
    std::vector<std::int32_t> feature;
    std::vector<std::size_t> begin;
  };
  Numbers numbers[4];
  const std::size_t D = extractor.max_length(), sentences = corpus.sentences();
  out.begin.reserve(corpus.tokens() * D + 1);
  out.site.reserve(sentences + 1);
  const auto look_up = [&](const Keys& part, Numbers& into) {
    into.feature.clear();
    into.begin.assign(1, 0);
    std::size_t j = 0;
    for (const std::uint32_t end : part.end) {
      for (; j < end; ++j) {
        if (j + kAhead < part.key.size()) index_.prefetch(part.key[j + kAhead]);
        const std::uint32_t id = index_.find(part.key[j]);
        if (id != FeatureIndex::kAbsent) into.feature.push_back(static_cast<std::int32_t>(id));
      }
      into.begin.push_back(into.feature.size());
    }
  };
  bool reserved = false;
  for (std::size_t s = 0; s < sentences; ++s) {
    extractor.keys(s, keys);
    const Keys* parts[4] = {&keys.begin, &keys.end, &keys.inside, &keys.both};
    for (std::size_t p = 0; p < 4; ++p) look_up(*parts[p], numbers[p]);
    const std::size_t n = corpus.sentence(s + 1) - corpus.sentence(s);
    const auto append = [&](const Numbers& part, std::size_t from, std::size_t to) {
      out.feature.insert(out.feature.end(),
                         part.feature.begin() + static_cast<std::ptrdiff_t>(part.begin[from]),
                         part.feature.begin() + static_cast<std::ptrdiff_t>(part.begin[to]));
    };
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t d = 1; d <= D; ++d) {
        if (b + d <= n) {
          append(numbers[0], b, b + 1);
          append(numbers[1], b + d - 1, b + d);
          append(numbers[2], b, b + d);
          append(numbers[3], b * D + d - 1, b * D + d);
        }
        out.begin.push_back(static_cast<std::int64_t>(out.feature.size()));
      }
    }
    out.site.push_back(static_cast<std::int64_t>(out.begin.size()) - 1);
    // Growing by doubling would take up to twice the memory: what is to come is like what was.
    if (!reserved && s * 16 >= sentences) {
      reserved = true;
      const double done =
          static_cast<double>(corpus.sentence(s + 1)) / static_cast<double>(corpus.tokens());
      out.feature.reserve(
          static_cast<std::size_t>(1.1 * static_cast<double>(out.feature.size()) / done));
    }
  }
}

std::vector<std::string> find_names(SegmentExtractor& extractor, const Corpus& corpus,
                                    const std::vector<std::uint8_t>& starts,
                                    std::span<const std::uint64_t> wanted) {
  FeatureIndex index(wanted.size());
  for (const std::uint64_t key : wanted) index.add(key);
  std::vector<std::string> by_id(index.size());
  std::size_t missing = by_id.size();
  SegmentKeys keys;
  for (std::size_t s = 0; s < corpus.sentences() && missing > 0; ++s) {
    extractor.keys(s, keys);
    for_segments(corpus, s, starts, [&](std::size_t b, std::size_t e) {
      if (e - b > extractor.max_length()) return;
      bool found = false;  // names are made only where one is missing
      for_keys(keys, b, e, extractor.max_length(), [&](std::uint64_t key) {
        const std::uint32_t id = index.find(key);
        found = found || (id != FeatureIndex::kAbsent && by_id[id].empty());
      });
      if (!found) return;
      for (const auto& [name, key] : extractor.named(s, b, e)) {
        const std::uint32_t id = index.find(key);
        if (id == FeatureIndex::kAbsent || !by_id[id].empty()) continue;
        by_id[id] = name;
        --missing;
      }
    });
  }
  std::vector<std::string> out;
  for (const std::uint64_t key : wanted) out.push_back(by_id[index.find(key)]);
  return out;
}

}  // namespace structlearn::text
