#include "text/json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace structlearn::text {
namespace {

constexpr std::size_t kDeepest = 200;

[[noreturn]] void refuse(std::string_view what, const char* expected) {
  throw std::invalid_argument(std::string(what) + " is not " + expected);
}

template <class T, class Value>
const T& taken(const Value& value, std::string_view what, const char* expected) {
  const T* found = std::get_if<T>(&value);
  if (found == nullptr) refuse(what, expected);
  return *found;
}

class JsonReading {
 public:
  explicit JsonReading(std::string_view text) : text_(text) {}

  Json whole() {
    Json value = any(0);
    skip();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::invalid_argument("invalid JSON at byte " + std::to_string(at_));
  }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) < 4) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char c) {
    if (at_ >= text_.size() || text_[at_] != c) fail();
    ++at_;
  }
  bool took(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json any(std::size_t depth) {
    if (depth > kDeepest) fail();
    skip();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return list(depth);
      case '"':
        return Json(string());
      default:
        break;
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (took("true")) return Json(true);
    if (took("false")) return Json(false);
    if (took("null")) return Json();
    if (took("NaN")) return Json(std::numeric_limits<double>::quiet_NaN());
    if (took("Infinity")) return Json(kInfinity);
    if (took("-Infinity")) return Json(-kInfinity);
    return number();
  }

  Json object(std::size_t depth) {
    Json::Object entries;
    expect('{');
    skip();
    if (peek() != '}') {
      do {
        skip();
        std::string name = string();
        skip();
        expect(':');
        entries.emplace_back(std::move(name), any(depth + 1));
        skip();
      } while (took(","));
    }
    expect('}');
    return Json(std::move(entries));
  }

  Json list(std::size_t depth) {
    Json::List items;
    expect('[');
    skip();
    if (peek() != ']') {
      do {
        items.push_back(any(depth + 1));
        skip();
      } while (took(","));
    }
    expect(']');
    return Json(std::move(items));
  }

  std::uint32_t four_digits() {
    std::uint32_t x = 0;
    const char* begin = text_.data() + at_;
    if (text_.size() - at_ < 4) fail();
    const auto [end, error] = std::from_chars(begin, begin + 4, x, 16);
    if (error != std::errc() || end != begin + 4) fail();
    at_ += 4;
    return x;
  }

  static void append_character(std::uint32_t c, std::string& out) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) return put(c);
    if (c < 0x800) {
      put(0xC0 | c >> 6);
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12);
      put(0x80 | (c >> 6 & 0x3F));
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
      put(0x80 | (c >> 6 & 0x3F));
    }
    put(0x80 | (c & 0x3F));
  }

  void escape(std::string& out) {
    constexpr std::string_view kMarks = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const std::size_t i = kMarks.find(c); i != std::string_view::npos) {
      return out.push_back(kMeant[i]);
    }
    if (c != 'u') fail();
    std::uint32_t x = four_digits();
    if (x >> 10 == 0x36 && text_.substr(at_, 2) == "\\u") {  // the first half of a pair
      const std::size_t before = at_;
      at_ += 2;
      const std::uint32_t second = four_digits();
      if (second >> 10 == 0x37) {
        x = 0x10000 + ((x & 0x3FF) << 10) + (second & 0x3FF);
      } else {
        at_ = before;
      }
    }
    append_character(x, out);
  }

  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out.append(text_.substr(begin, at_ - begin));
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) fail();
      if (text_[at_++] == '"') return out;
      escape(out);
    }
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - begin;
  }

  Json number() {
    const std::size_t begin = at_;
    took("-");
    const bool zero = peek() == '0';
    const std::size_t before = digits();
    if (before == 0 || (zero && before > 1)) fail();
    bool whole = true;
    if (took(".")) {
      whole = false;
      if (digits() == 0) fail();
    }
    if (took("e") || took("E")) {
      whole = false;
      if (!took("+")) took("-");
      if (digits() == 0) fail();
    }
    const std::string literal(text_.substr(begin, at_ - begin));
    if (whole) {
      std::int64_t x = 0;
      const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), x);
      if (error == std::errc()) return Json(x);
    }
    double x = 0.0;
    std::from_chars(literal.data(), literal.data() + literal.size(), x);
    return Json(x);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Json::Json(Object x) {
  std::sort(x.begin(), x.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto twice = std::adjacent_find(
      x.begin(), x.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != x.end()) throw std::invalid_argument("the name '" + twice->first + "' twice");
  value_ = std::move(x);
}

bool Json::flag(std::string_view what) const {
  return taken<bool>(value_, what, "true or false");
}

std::int64_t Json::whole(std::string_view what) const {
  return taken<std::int64_t>(value_, what, "a whole number");
}

std::size_t Json::size(std::string_view what, std::size_t least, std::size_t most) const {
  const std::int64_t x = whole(what);
  if (x < 0 || static_cast<std::uint64_t>(x) < least || static_cast<std::uint64_t>(x) > most) {
    throw std::invalid_argument(std::string(what) + " is " + std::to_string(x));
  }
  return static_cast<std::size_t>(x);
}

double Json::number(std::string_view what) const {
  if (is_whole()) return static_cast<double>(std::get<std::int64_t>(value_));
  return taken<double>(value_, what, "a number");
}

const std::string& Json::text(std::string_view what) const {
  return taken<std::string>(value_, what, "a string");
}

const Json::List& Json::list(std::string_view what) const {
  return taken<List>(value_, what, "a list");
}

std::vector<std::string> Json::texts(std::string_view what) const {
  std::vector<std::string> out;
  for (const Json& item : list(what)) out.push_back(item.text(what));
  return out;
}

const Json::Object& Json::object(std::string_view what) const {
  return taken<Object>(value_, what, "an object");
}

const Json* Json::find(std::string_view name) const {
  const auto* entries = std::get_if<Object>(&value_);
  if (entries == nullptr) return nullptr;
  const auto at = std::lower_bound(entries->begin(), entries->end(), name,
                                   [](const auto& e, std::string_view n) { return e.first < n; });
  return at != entries->end() && at->first == name ? &at->second : nullptr;
}

const Json& Json::at(std::string_view name) const {
  const Json* found = find(name);
  if (found == nullptr) throw std::invalid_argument("there is no '" + std::string(name) + "'");
  return *found;
}

Json parse_json(std::string_view text) {
  return JsonReading(text).whole();
}

}  // namespace structlearn::text
