#include "text/column_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace structlearn::text {
namespace {

constexpr std::array<std::string_view, kConlluColumns> kConlluNames = {
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"};
// Of column files; the others are c4, c5, ...
constexpr std::array<std::string_view, 3> kUsualNames = {"word", "pos", "chunk"};
// In CoNLL-U.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kAliases = {
    {{"word", "form"}, {"pos", "upos"}, {"tag", "upos"}}};
// Names of CoNLL-U, and those of column files for the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kSame = {
    {{"form", "word"}, {"upos", "pos"}}};

template <class Pairs>
std::string_view renamed(std::string_view name, const Pairs& pairs) {
  for (const auto& [from, to] : pairs) {
    if (name == from) return to;
  }
  return name;
}

bool is_decimal(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return '0' <= c && c <= '9'; });
}

// A number of digits; larger than any column if it does not fit.
std::size_t number_of(std::string_view digits) {
  std::size_t x = 0;
  const auto found = std::from_chars(digits.data(), digits.data() + digits.size(), x);
  return found.ec == std::errc() ? x : static_cast<std::size_t>(-1) / 2;
}

}  // namespace

std::vector<std::string> column_names(Format format, std::size_t columns) {
  if (format == Format::kConllu) return {kConlluNames.begin(), kConlluNames.end()};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns; ++i) {
    names.push_back(i < kUsualNames.size() ? std::string(kUsualNames[i])
                                           : "c" + std::to_string(i + 1));
  }
  return names;
}

std::vector<std::string> common_names(Format format, std::size_t columns) {
  std::vector<std::string> names = column_names(format, columns);
  for (std::string& name : names) name = std::string(renamed(name, kSame));
  return names;
}

std::size_t find_column(std::string_view name, Format format, std::size_t columns,
                        std::span<const std::string> own) {
  if (const auto at = std::find(own.begin(), own.end(), name); at != own.end()) {
    return static_cast<std::size_t>(at - own.begin());
  }
  std::string lowered(name);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view text = lowered;
  const bool from_end = text.substr(0, 1) == "-";
  if (const std::string_view digits = text.substr(from_end ? 1 : 0); is_decimal(digits)) {
    const std::size_t number = number_of(digits);
    if (number >= 1 && number <= columns) return from_end ? columns - number : number - 1;
    const std::string_view kept =
        digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
    throw std::invalid_argument("there is no column " + std::string(from_end ? "-" : "") +
                                std::string(kept) + ": the file has " + std::to_string(columns));
  }
  if (format == Format::kConllu) text = renamed(text, kAliases);
  const std::vector<std::string> names = column_names(format, columns);
  if (const auto at = std::find(names.begin(), names.end(), text); at != names.end()) {
    return static_cast<std::size_t>(at - names.begin());
  }
  if (text.substr(0, 1) == "c" && is_decimal(text.substr(1))) {
    const std::size_t number = number_of(text.substr(1));
    if (number >= 1 && number <= columns) return number - 1;
  }
  std::string known;
  const auto add = [&](std::string_view one) {
    known.append(known.empty() ? "" : ", ").append(one);
  };
  std::for_each(own.begin(), own.end(), add);
  if (own.empty()) std::for_each(names.begin(), names.end(), add);
  throw std::invalid_argument("there is no column '" + std::string(name) + "': the columns are " +
                              known);
}

std::vector<std::optional<std::size_t>> columns_for(Format model, std::size_t columns, Format input,
                                                    std::size_t given) {
  std::vector<std::optional<std::size_t>> sources;
  if (model == Format::kColumns && input == Format::kColumns) {
    for (std::size_t i = 0; i < columns; ++i) {
      sources.push_back(i < given ? std::optional(i) : std::nullopt);
    }
    return sources;
  }
  const std::vector<std::string> theirs = common_names(input, given);
  for (const std::string& name : common_names(model, columns)) {
    const auto at = std::find(theirs.begin(), theirs.end(), name);
    sources.push_back(at == theirs.end()
                          ? std::nullopt
                          : std::optional(static_cast<std::size_t>(at - theirs.begin())));
  }
  return sources;
}

}  // namespace structlearn::text
