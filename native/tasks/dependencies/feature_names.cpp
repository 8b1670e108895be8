// The features are made of a sentence whose tokens have names for values.
#include "tasks/dependencies/feature_names.hpp"

#include <map>
#include <string>

#include "tasks/dependencies/features.hpp"

namespace structlearn::parsing {
namespace {

// What stands for a hash in features.hpp: whatever is mixed into it is left out, and two of them
// are one after the other.
struct Name {
  std::string text;

  Name operator^(std::uint64_t) const { return *this; }
  Name operator^(const Name&) const { return *this; }
  Name operator*(std::uint64_t) const { return *this; }
  bool operator!=(int) const { return true; }
};

Name fold(const Name& a, const Name& b) {
  return {a.text + ", " + b.text};
}

struct NamedKey {
  std::uint16_t id;
  Name name;
};

template <std::uint16_t Id, class... Names>
NamedKey of(Name first, const Names&... more) {
  ((first = fold(first, more)), ...);
  return {Id, first};
}

struct NamedToken {
  explicit NamedToken(const std::string& who)
      : word{{who + " spelling"},
             {who + " form"},
             {who + " prefix"},
             {who + " suffix"},
             {who + " shape"}},
        lemma{who + " lemma"},
        upos{who + " upos"},
        tag{who + " tag"},
        feats{who + " feats"},
        marker{who + " marker"} {}

  struct {
    Name form, lower, prefix, suffix, shape;
  } word;
  Name lemma, upos, tag, feats, marker;
};

struct NamedSentence {
  static constexpr int kHead = 10, kWord = 20;
  int size() const { return 30; }
  NamedToken operator[](int i) const {
    const bool of_head = i < (kHead + kWord) / 2;
    const int away = i - (of_head ? kHead : kWord);
    const std::string who = of_head ? "head" : "word";
    if (away == 0) return NamedToken(who);
    const std::string far = std::abs(away) > 1 ? std::to_string(std::abs(away)) + " " : "";
    return NamedToken(far + (away < 0 ? "before " : "after ") + who);
  }
};

Name between_counts(const NamedSentence&, int, int) {
  return {"between"};
}
template <class Each>
Name tags_between(const NamedSentence&, int, int, Each&& each) {
  each(Name{"a upos between"});
  return {"all tags between"};
}
Name number(const NamedSentence&, const char* name, std::uint64_t) {
  return {name};
}

}  // namespace

std::string_view feature_name(std::uint16_t id) {
  static const std::map<std::uint16_t, std::string> names = [] {
    std::map<std::uint16_t, std::string> found;
    const NamedSentence s;
    arc_features(s, s.kHead, s.kWord, [&](const NamedKey& k) { found[k.id] = k.name.text; });
    label_features(s, s.kHead, s.kWord,
                   [&](const NamedKey& k) { found[k.id] = "relation: " + k.name.text; });
    return found;
  }();
  const auto at = names.find(id);
  return at != names.end() ? at->second : std::string_view("?");
}

}  // namespace structlearn::parsing
