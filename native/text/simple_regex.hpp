// Wapiti's regular expressions: . for any byte, classes of bytes (\a letters, \d digits, \l lower
// case, \p punctuation, \s blanks, \u upper case, \w letters and digits; in upper case what is not
// in the class), \ before any other byte for itself, ^ and $ at the ends, and after a byte * for as
// few repeats as there can be, ? for one if possible.
//
// T. Lavergne, O. Cappé & F. Yvon (2010), Practical very large scale CRFs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace structlearn::text {

class SimpleRegex {
 public:
  // Throws std::invalid_argument.
  explicit SimpleRegex(std::string_view expression);

  // Where the first match begins, and its length as Wapiti has it: bytes that were read in vain
  // after a `?` count too, one beyond the end at most. In time |expression| times |text|.
  std::optional<std::pair<std::size_t, std::size_t>> search(std::string_view text) const;

 private:
  enum class Times : std::uint8_t { kOnce, kMany, kOptional };
  struct Item {
    char kind = 0;  // '.', '=' for the byte itself, else the letter of a class
    char byte = 0;
    Times times = Times::kOnce;
    bool matches(std::string_view text, std::size_t at) const;
  };
  class Search;
  std::vector<Item> items_;
  bool from_begin_ = false, to_end_ = false;
};

}  // namespace structlearn::text
