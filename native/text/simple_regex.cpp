#include "text/simple_regex.hpp"

#include <stdexcept>

namespace structlearn::text {
namespace {

// The classes of the C locale.
bool in_class(char name, char c) {
  const auto u = static_cast<unsigned char>(c);
  const bool digit = c >= '0' && c <= '9', low = c >= 'a' && c <= 'z', up = c >= 'A' && c <= 'Z';
  switch (name) {
    case 'a':
      return low || up;
    case 'd':
      return digit;
    case 'l':
      return low;
    case 'p':
      return u > 0x20 && u < 0x7F && !low && !up && !digit;
    case 's':
      return c == ' ' || (c >= '\t' && c <= '\r');
    case 'u':
      return up;
    default:  // w
      return low || up || digit;
  }
}

constexpr std::string_view kClasses = "adlpsuw";

}  // namespace

SimpleRegex::SimpleRegex(std::string_view expression) {
  const auto refuse = [&](const char* problem) {
    throw std::invalid_argument("the regular expression \"" + std::string(expression) +
                                "\": " + problem);
  };
  std::string_view rest = expression;
  if (rest.starts_with('^')) {
    from_begin_ = true;
    rest.remove_prefix(1);
  }
  while (!rest.empty()) {
    if (rest == "$") {
      to_end_ = true;
      return;
    }
    Item item;
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '*' || c == '?') refuse("* and ? stand after what they repeat; write \\* for a star");
    if (c == '.') {
      item.kind = '.';
    } else if (c == '\\') {
      if (rest.empty()) refuse("a backslash at the end");
      const char name = rest[0];
      rest.remove_prefix(1);
      const bool upper = name >= 'A' && name <= 'Z';
      const char low = upper ? static_cast<char>(name - 'A' + 'a') : name;
      const bool known = kClasses.find(low) != std::string_view::npos;
      item = {known ? name : '=', name, Times::kOnce};
    } else {
      item = {'=', c, Times::kOnce};
    }
    if (!rest.empty() && (rest[0] == '*' || rest[0] == '?')) {
      item.times = rest[0] == '*' ? Times::kMany : Times::kOptional;
      rest.remove_prefix(1);
    }
    items_.push_back(item);
    if (items_.size() > 1000) refuse("too long");
  }
}

bool SimpleRegex::Item::matches(std::string_view text, std::size_t at) const {
  if (at >= text.size()) return false;
  const char c = text[at];
  if (kind == '.') return true;
  if (kind == '=') return c == byte;
  if (kind >= 'A' && kind <= 'Z') return !in_class(static_cast<char>(kind - 'A' + 'a'), c);
  return in_class(kind, c);
}

// Looks for one match; remembers from where there is none.
class SimpleRegex::Search {
 public:
  Search(const SimpleRegex& regex, std::string_view text)
      : regex_(regex), text_(text), failed_((regex.items_.size() + 1) * (text.size() + 1)) {}

  // Where a match of the items from `item` on that begins at `at` ends.
  std::optional<std::size_t> match(std::size_t item, std::size_t at) {
    if (failed(item, at)) return {};
    if (const auto end = try_match(item, at)) return end;
    failed(item, at) = true;
    return {};
  }

 private:
  std::optional<std::size_t> try_match(std::size_t item, std::size_t at) {
    if (item == regex_.items_.size()) {
      if (regex_.to_end_ && at != text_.size()) return {};
      return at;
    }
    const Item& it = regex_.items_[item];
    switch (it.times) {
      case Times::kOnce:
        if (!it.matches(text_, at)) return {};
        return match(item + 1, at + 1);
      case Times::kOptional:
        if (it.matches(text_, at)) {
          if (const auto end = match(item + 1, at + 1)) return end;
        }
        return match(item + 1, at);
      default:
        // Each place at which the repeats go on without a match is as hopeless as this one.
        for (; !failed(item, at); ++at) {
          if (const auto end = match(item + 1, at)) return end;
          failed(item, at) = true;
          if (!it.matches(text_, at)) break;
        }
        return {};
    }
  }
  std::vector<bool>::reference failed(std::size_t item, std::size_t at) {
    return failed_[item * (text_.size() + 1) + at];
  }

  const SimpleRegex& regex_;
  std::string_view text_;
  std::vector<bool> failed_;  // by item and place
};

std::optional<std::pair<std::size_t, std::size_t>> SimpleRegex::search(
    std::string_view text) const {
  Search search(*this, text);
  for (std::size_t begin = 0; begin <= (from_begin_ ? 0 : text.size()); ++begin) {
    if (const auto end = search.match(0, begin)) return std::pair{begin, *end - begin};
  }
  return {};
}

}  // namespace structlearn::text
