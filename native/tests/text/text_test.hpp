// Text: tables against the standard library's, parsing of random bytes, features, forged models.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "text/functions.hpp"

namespace test {

using namespace structlearn::text;

inline std::string random_string(Draw& draw, std::size_t most, std::size_t letters) {
  std::string s;
  for (std::size_t n = draw.below(most + 1); n > 0; --n) {
    s.push_back(static_cast<char>('a' + draw.below(letters)));
  }
  return s;
}

inline void test_tables() {
  context = "string table";
  Draw draw(1);
  StringTable table;
  std::unordered_map<std::string, std::uint32_t> truth;
  std::vector<std::string> order;
  for (int i = 0; i < 5000; ++i) {
    std::string s = random_string(draw, 12, 3);
    if (draw.chance(0.1)) s.push_back('\0');
    const auto [at, fresh] = truth.emplace(s, static_cast<std::uint32_t>(order.size()));
    CHECK(table.find(s) == (fresh ? StringTable::kAbsent : at->second));
    if (fresh) order.push_back(s);
    CHECK(table.add(s) == at->second);
  }
  CHECK(table.size() == order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    CHECK(table[i] == order[i]);
    CHECK(table.hash(i) == hash_string(order[i]));
  }

  context = "feature index";
  FeatureIndex index;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> seen;  // id, count
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 8000; ++i) {
    // Few low bits: long runs of slots that are taken.
    const std::uint64_t key = (1 + draw.below(3000)) << (draw.chance(0.5) ? 32 : 0);
    const auto [at, fresh] =
        seen.try_emplace(key, static_cast<std::uint32_t>(keys.size()), std::uint32_t{0});
    CHECK((index.find(key) == FeatureIndex::kAbsent) == fresh);
    if (fresh) keys.push_back(key);
    ++at->second.second;
    CHECK(index.add(key) == at->second.first);
    CHECK(index.find(key) == at->second.first);
  }
  const std::uint64_t often = keys[7], fresh = std::uint64_t{1} << 60;
  index.count_often(often);
  index.count_often(fresh);
  keys.push_back(fresh);
  seen[fresh] = {static_cast<std::uint32_t>(keys.size() - 1), 1u << 31};
  seen[often].second = 1u << 31;
  CHECK(index.size() == keys.size());
  CHECK(index.keys() == keys);
  const std::vector<std::uint32_t> moved = index.keep(3);
  std::uint32_t next = 0;
  for (std::size_t id = 0; id < keys.size(); ++id) {
    const bool stays = seen[keys[id]].second >= 3;
    CHECK(moved[id] == (stays ? next : FeatureIndex::kAbsent));
    CHECK(index.find(keys[id]) == (stays ? next : FeatureIndex::kAbsent));
    next += stays;
  }
  CHECK(index.size() == next && next > 0 && next < keys.size());
}

inline void test_checksum() {
  context = "checksum";
  Draw draw(2);
  for (const std::size_t n : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 64u, 71u, 200u}) {
    std::vector<char> data(n);
    for (char& c : data) c = static_cast<char>(draw.below(256));
    const auto sum = [&] {
      Checksum c;
      c.add(data.data(), data.size());
      return c.value();
    };
    const std::uint64_t before = sum();
    for (std::size_t bit = 0; bit < 8 * n; ++bit) {
      data[bit / 8] = static_cast<char>(data[bit / 8] ^ (1 << bit % 8));
      CHECK(sum() != before);
      data[bit / 8] = static_cast<char>(data[bit / 8] ^ (1 << bit % 8));
    }
    CHECK(sum() == before);
  }
}

// Bytes that look a little like a corpus.
inline std::string random_bytes(Draw& draw, std::size_t most) {
  static const char* const kPieces[] = {"a",        "B-NP",
                                        "\t",       "\t",
                                        " ",        "\n",
                                        "\n",       "\n\n",
                                        "\r\n",     "#",
                                        "1",        "2",
                                        "1-2",      "1.1",
                                        "\xC3\xA4", "\xE8\xAA\x9E",
                                        "_",        "\xEF\xBB\xBF",
                                        "\0x",      "\xF0\x9F\x98\x80"};
  std::string text;
  const bool wild = draw.chance(0.3);
  for (std::size_t n = draw.below(most); n > 0; --n) {
    if (wild && draw.chance(0.1)) {
      text.push_back(static_cast<char>(draw.below(256)));
    } else {
      text += kPieces[draw.below(std::size(kPieces))];
    }
  }
  return text;
}

inline void test_parsing() {
  context = "parsing random bytes";
  Draw draw(3);
  std::size_t read = 0, refused = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Format format = draw.chance(0.3) ? Format::kConllu : Format::kColumns;
    const std::string text = random_bytes(draw, 40);
    const std::size_t lines =
        1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::size_t bad = invalid_utf8(text);
    CHECK(bad <= text.size());
    Corpus corpus(format);
    try {
      corpus.read(text, 0);
    } catch (const BadLine& e) {
      CHECK(e.line >= 1 && e.line <= lines);
      CHECK(invalid_utf8(e.what()) == std::string_view(e.what()).size());
      ++refused;
      continue;
    }
    ++read;
    CHECK(bad == text.size());
    CHECK(corpus.sentence(0) == 0 && corpus.sentence(corpus.sentences()) == corpus.tokens());
    for (std::size_t s = 0; s < corpus.sentences(); ++s) {
      CHECK(corpus.sentence(s) < corpus.sentence(s + 1));
    }
    CHECK(corpus.lines().size() == corpus.tokens());
    for (const Column& column : corpus.columns()) {
      CHECK(column.cell.size() == corpus.tokens());
      for (std::size_t t = 0; t < corpus.tokens(); ++t) {
        CHECK(column.cell[t] < column.strings.size());
        const Line& line = corpus.lines()[t];
        CHECK(line.begin < line.end && line.end <= text.size());
        const std::string_view cell = column.strings[column.cell[t]];
        CHECK(!cell.empty());
        CHECK(std::string_view(text).substr(line.begin, line.end - line.begin).find(cell) !=
              std::string_view::npos);
      }
    }
    const std::size_t end = last_sentence_end(text);
    CHECK(end <= text.size() && (end == 0 || text[end - 1] == '\n'));
    if (corpus.tokens() > 0) corpus.to_iobes(draw.below(corpus.columns().size()), "_");
  }
  CHECK(read > 200 && refused > 200);
}

inline StringFunction simple(void (*f)(std::string_view, std::vector<std::string>&)) {
  return f;
}

// Attributes of every kind over two columns, and random templates of them.
inline std::shared_ptr<FeatureSet> random_features(Draw& draw, bool transitions) {
  std::vector<Attribute> attributes(8);
  attributes[1].column = 1;
  attributes[2].function = simple([](std::string_view s, std::vector<std::string>& out) {
    if (s.size() > 1) out.emplace_back(s.substr(0, 1));
  });
  attributes[3].function =
      simple([](std::string_view s, std::vector<std::string>& out) { ngrams(s, 2, out); });
  attributes[3].multiple = true;
  attributes[4].kind = Attribute::Kind::kFirst;
  attributes[5].kind = Attribute::Kind::kLast;
  attributes[6].kind = Attribute::Kind::kConstant;
  attributes[7].kind = Attribute::Kind::kGazetteer;
  auto phrases = std::make_shared<Gazetteer>();
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> words(1 + draw.below(3));
    for (std::string& w : words) w = "a" + random_string(draw, 1, 3);
    phrases->add({words.begin(), words.end()}, random_string(draw, 2, 3));
  }
  attributes[7].gazetteer = phrases;
  std::vector<structlearn::text::Template> templates;
  for (std::size_t n = 1 + draw.below(5); n > 0; --n) {
    structlearn::text::Template t;
    t.text = "t" + std::to_string(n);
    t.mark_boundaries = draw.chance(0.3);
    t.transition = transitions && draw.chance(0.4);
    for (std::size_t k = 1 + draw.below(6); k > 0; --k) {
      t.atoms.push_back(
          {draw.below(attributes.size()), static_cast<std::ptrdiff_t>(draw.below(9)) - 4});
    }
    templates.push_back(std::move(t));
  }
  return std::make_shared<FeatureSet>(std::move(attributes), std::move(templates));
}

// Sentences of two columns as text; blank lines and white space at random.
inline std::string random_text(Draw& draw, std::size_t sentences, char separator) {
  std::string text;
  for (std::size_t s = 0; s < sentences; ++s) {
    for (std::size_t t = 1 + draw.below(5); t > 0; --t) {
      text += "a" + random_string(draw, 2, 3) + separator + (draw.chance(0.5) ? "x" : "y");
      text += draw.chance(0.1) ? " \n" : draw.chance(0.1) ? "\r\n" : "\n";
    }
    if (s + 1 < sentences || draw.chance(0.7)) text += draw.chance(0.2) ? " \n\n" : "\n";
  }
  return text;
}

inline void test_features() {
  context = "features";
  Draw draw(4);
  for (int trial = 0; trial < 150; ++trial) {
    const auto features = random_features(draw, true);
    Corpus corpus(Format::kColumns);
    corpus.read(random_text(draw, 4, '\t'));
    Extractor extractor(features, corpus), other(features, corpus);
    extractor.update();
    other.update();
    Keys keys, again;
    std::map<std::uint64_t, std::string> name_of;
    for (const bool pairs : {false, true}) {
      for (std::size_t s = 0; s < corpus.sentences(); ++s) {
        extractor.keys(s, pairs, keys);
        const std::size_t length = corpus.sentence(s + 1) - corpus.sentence(s);
        CHECK(keys.end.size() == length - (pairs ? 1 : 0));
        CHECK(keys.key.size() == keys.origin.size() && keys.value.empty());
        CHECK(std::is_sorted(keys.end.begin(), keys.end.end()));
        CHECK(keys.end.empty() || keys.end.back() == keys.key.size());
        std::size_t j = 0;
        for (std::size_t t = 0; t < keys.end.size(); ++t) {
          for (; j < keys.end[t]; ++j) {
            CHECK(keys.key[j] != 0);
            const auto& from = features->templates()[keys.origin[j]];
            CHECK(from.transition == pairs);
            // A name says template and values, so that a key has one name and a name one key.
            const std::string name =
                other.name(s, t + (pairs ? 1 : 0), keys.origin[j], keys.key[j]);
            CHECK(name.substr(0, from.text.size()) == from.text);
            const auto [at, fresh] = name_of.emplace(keys.key[j], name);
            CHECK(at->second == name);
          }
        }
        other.keys(s, pairs, again);
        CHECK(again.key == keys.key && again.origin == keys.origin && again.end == keys.end);
      }
    }
    std::set<std::string> names;
    for (const auto& [key, name] : name_of) CHECK(names.insert(name).second);
  }
}

}  // namespace test
