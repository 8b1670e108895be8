// JSON, as the headers and descriptions of model files have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace structlearn::text {

// A value. What it is asked for and is not throws std::invalid_argument, which names the value by
// `what`.
class Json {
 public:
  using List = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // by name, each once

  Json() = default;
  explicit Json(bool x) : value_(x) {}
  explicit Json(std::int64_t x) : value_(x) {}
  explicit Json(double x) : value_(x) {}
  explicit Json(std::string x) : value_(std::move(x)) {}
  explicit Json(List x) : value_(std::move(x)) {}
  // Sorts the entries. Throws if a name is there twice.
  explicit Json(Object x);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_whole() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_whole() || std::holds_alternative<double>(value_); }
  bool flag(std::string_view what) const;
  std::int64_t whole(std::string_view what) const;
  // A whole number from `least` to `most`.
  std::size_t size(std::string_view what, std::size_t least, std::size_t most) const;
  double number(std::string_view what) const;  // a whole one too
  const std::string& text(std::string_view what) const;
  const List& list(std::string_view what) const;
  std::vector<std::string> texts(std::string_view what) const;
  const Object& object(std::string_view what) const;

  // An entry of an object; null if there is none.
  const Json* find(std::string_view name) const;
  // Throws if there is none.
  const Json& at(std::string_view name) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> value_;
};

// Reads a text of one value. Numbers that are no 64-bit whole numbers are doubles; NaN, Infinity
// and -Infinity are numbers too; halves of surrogate pairs are three bytes, like any character.
// Throws std::invalid_argument.
Json parse_json(std::string_view text);

}  // namespace structlearn::text
