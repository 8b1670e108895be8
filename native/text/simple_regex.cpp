#include "text/simple_regex.hpp"

#include <algorithm>
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
//
// The length of a match is Wapiti's: what was read in vain after a `?` that matched counts too, so
// that `a?a` matches all of "ab", and one byte more than "a". Repeats of a star begin anew.
class SimpleRegex::Search {
 public:
  Search(const SimpleRegex& regex, std::string_view text)
      : regex_(regex),
        text_(text),
        vain_((regex.items_.size() + 1) * (text.size() + 1), kUnknown) {}

  // Whether the items from `item` on match at `at`; adds the bytes that were read to `length`.
  bool match(std::size_t item, std::size_t at, std::size_t& length) {
    if (vain(item, at) != kUnknown) {
      length += vain(item, at);
      return false;
    }
    std::size_t read = 0;
    const bool found = try_match(item, at, read);
    if (!found) vain(item, at) = capped(read);
    length += capped(read);
    return found;
  }

 private:
  static constexpr std::uint32_t kUnknown = ~0u;

  bool try_match(std::size_t item, std::size_t at, std::size_t& read) {
    if (item == regex_.items_.size()) return !regex_.to_end_ || at == text_.size();
    const Item& it = regex_.items_[item];
    switch (it.times) {
      case Times::kOnce:
        return it.matches(text_, at) && match(item + 1, at + 1, ++read);
      case Times::kOptional:
        if (it.matches(text_, at) && match(item + 1, at + 1, ++read)) return true;
        return match(item + 1, at, read);
      default:
        return repeat(item, at, read);
    }
  }

  // As few repeats as there can be.
  bool repeat(std::size_t item, std::size_t begin, std::size_t& read) {
    std::size_t at = begin, tail = 0;
    for (;; ++at) {
      if (vain(item, at) != kUnknown) {
        tail = vain(item, at);
        break;
      }
      tail = 0;
      if (match(item + 1, at, tail)) {
        read += at - begin + tail;
        return true;
      }
      if (!regex_.items_[item].matches(text_, at)) break;
    }
    // Each place at which the repeats went on without a match is as hopeless as this one.
    read += at - begin + tail;
    for (std::size_t place = begin; place <= at; ++place) {
      vain(item, place) = capped(at - place + tail);
    }
    return false;
  }

  std::uint32_t capped(std::size_t read) const {
    return static_cast<std::uint32_t>(std::min(read, text_.size() + 1));
  }

  // The bytes that were read in vain from a place on; kUnknown: not yet tried.
  std::uint32_t& vain(std::size_t item, std::size_t at) {
    return vain_[item * (text_.size() + 1) + at];
  }

  const SimpleRegex& regex_;
  std::string_view text_;
  std::vector<std::uint32_t> vain_;  // by item and place
};

std::optional<std::pair<std::size_t, std::size_t>> SimpleRegex::search(
    std::string_view text) const {
  Search search(*this, text);
  for (std::size_t begin = 0; begin <= (from_begin_ ? 0 : text.size()); ++begin) {
    std::size_t length = 0;
    if (search.match(0, begin, length)) {
      return std::pair{begin, std::min(length, text.size() - begin + 1)};
    }
  }
  return {};
}

}  // namespace structlearn::text
