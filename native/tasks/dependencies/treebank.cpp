#include "tasks/dependencies/treebank.hpp"

#include <algorithm>
#include <charconv>

namespace structlearn::parsing {
namespace {

using text::BadLine;
using text::Column;
using text::Corpus;

[[noreturn]] void refuse(const Corpus& corpus, std::size_t sentence, std::size_t token,
                         const std::string& what) {
  throw BadLine(corpus.line_number(token),
                "sentence " + std::to_string(sentence + 1) + ", word " +
                    std::to_string(token - corpus.sentence(sentence) + 1) + ": " + what);
}

void add_tag(std::string_view name, TagColumn& out) {
  const TagAtom atom = tag_atom(name);
  out.hash.push_back(atom.hash);
  out.code.push_back(atom.code);
}

}  // namespace

TagColumn tag_column(const Corpus& corpus, std::size_t column) {
  TagColumn out;
  const Column& c = corpus.columns()[column];
  for (std::uint32_t i = 0; i < c.strings.size(); ++i) add_tag(c.strings[i], out);
  out.cell = c.cell;
  return out;
}

TagColumn tag_column(const std::vector<std::string>& names, std::vector<std::uint32_t> cells) {
  TagColumn out;
  for (const std::string& name : names) add_tag(name, out);
  for (const std::uint32_t cell : cells) {
    if (cell >= names.size()) throw std::invalid_argument("a tag that has no name");
  }
  out.cell = std::move(cells);
  return out;
}

std::optional<std::size_t> untagged_sentence(const Corpus& corpus) {
  const auto has = [&](std::size_t column, std::size_t t) {
    const Column& c = corpus.columns()[column];
    return c.strings[c.cell[t]] != "_";
  };
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    std::size_t t = corpus.sentence(s);
    while (t < corpus.sentence(s + 1) && !has(kUpos, t) && !has(kXpos, t)) ++t;
    if (t == corpus.sentence(s + 1)) return s;
  }
  return std::nullopt;
}

std::vector<std::int32_t> read_tree(const Corpus& corpus, std::size_t sentence) {
  const Column &column = corpus.columns()[kHead], &relations = corpus.columns()[kDeprel];
  const std::size_t begin = corpus.sentence(sentence), n = corpus.sentence(sentence + 1) - begin;
  std::vector<std::int32_t> heads(n + 1, -1);
  std::size_t root = 0;
  for (std::size_t m = 1; m <= n; ++m) {
    const std::size_t token = begin + m - 1;
    const std::string_view cell = column.strings[column.cell[token]];
    std::int32_t head = -1;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), head);
    if (cell == "_") refuse(corpus, sentence, token, "it has no head");
    if (error != std::errc() || stop != cell.data() + cell.size() || head < 0) {
      refuse(corpus, sentence, token, "its head '" + std::string(cell) + "' is not a number");
    }
    if (static_cast<std::size_t>(head) > n) {
      refuse(corpus, sentence, token,
             "its head is " + std::to_string(head) + ", but the sentence has " + std::to_string(n) +
                 (n == 1 ? " word" : " words"));
    }
    if (head == 0) {
      if (root != 0) {
        refuse(corpus, sentence, token, "it is a second root beside word " + std::to_string(root));
      }
      root = m;
    }
    heads[m] = head;
    if (relations.strings[relations.cell[token]] == "_") {
      refuse(corpus, sentence, token, "it has no relation");
    }
  }
  // Every word has to reach the root: those passed on the way up are marked by the word it began
  // at.
  std::vector<std::size_t> seen(n + 1, 0);
  for (std::size_t m = 1; m <= n; ++m) {
    std::size_t at = m;
    while (at != 0 && seen[at] == 0) {
      seen[at] = m;
      at = static_cast<std::size_t>(heads[at]);
    }
    if (at != 0 && seen[at] == m) {
      std::string words = std::to_string(at);
      for (auto v = static_cast<std::size_t>(heads[at]); v != at;
           v = static_cast<std::size_t>(heads[v])) {
        words += ", " + std::to_string(v);
      }
      refuse(corpus, sentence, begin + at - 1, "its heads lead back to it (words " + words + ")");
    }
  }
  return heads;
}

std::vector<std::string> relation_names(const Corpus& corpus) {
  const Column& column = corpus.columns()[kDeprel];
  std::vector<std::pair<std::int64_t, std::string>> count(column.strings.size());
  for (std::uint32_t i = 0; i < count.size(); ++i) count[i].second = column.strings[i];
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
      count[column.cell[t]].first -= corpus.copies(s);
    }
  }
  std::sort(count.begin(), count.end());
  std::vector<std::string> names;
  for (auto& [minus, name] : count) {
    if (minus < 0) names.push_back(std::move(name));
  }
  return names;
}

Treebank read_treebank(const Corpus& corpus, const SentenceTags& tags,
                       const std::vector<std::string>& labels, bool lemmas) {
  const Column& relations = corpus.columns()[kDeprel];
  std::vector<std::uint16_t> number(relations.strings.size(), 0xFFFF);
  for (std::size_t l = 0; l < labels.size(); ++l) {
    const std::uint32_t at = relations.strings.find(labels[l]);
    if (at != text::StringTable::kAbsent) number[at] = static_cast<std::uint16_t>(l);
  }
  TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
  Treebank out;
  out.sentence.resize(corpus.sentences());
  for (std::size_t s = 0; s < corpus.sentences(); ++s) {
    reader.read(s, tags, out.sentence[s]);
    out.heads.push_back(read_tree(corpus, s));
    std::vector<std::uint16_t> numbers{0};
    for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
      numbers.push_back(number[relations.cell[t]]);
      if (numbers.back() == 0xFFFF) {
        refuse(corpus, s, t,
               "the relation '" + std::string(relations.strings[relations.cell[t]]) +
                   "' is not one of the model's");
      }
    }
    out.labels.push_back(std::move(numbers));
  }
  return out;
}

}  // namespace structlearn::parsing
