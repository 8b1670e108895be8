// From text to text: lines of characters to lines of words with blanks between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/words/decoder.hpp"
#include "tasks/words/model.hpp"

namespace structlearn::words {

// Cuts a text that comes in pieces of any size. What is held of a line is bounded: of a longer one
// that is written which nothing that follows can change. Not to be shared between threads.
class Cutter {
 public:
  // `words`: those of the user; null: none.
  Cutter(const WordModel& model, const UserWords* words) : model_(model), words_(words) {}

  // Appends what can be written. `last`: the text ends. Throws BadLine where it is not UTF-8;
  // `line`: lines before the whole text that was given since the last end.
  void cut(std::string_view text, bool last, std::string& out);
  // Whether nothing is held of a line that has not ended.
  bool idle() const { return points_.empty() && torn_.empty() && !written_; }
  std::size_t words() const { return found_; }
  std::size_t line() const { return lines_; }
  void set_line(std::size_t lines) { lines_ = lines; }

  // The words of a line as places in it, counted in characters: begin and end of each.
  void places(std::string_view line, std::vector<std::pair<std::uint32_t, std::uint32_t>>& out);

 private:
  void add(std::uint32_t point);
  void settle(bool last, std::string& out);
  void decide();
  void write(std::uint32_t point, bool begins, std::string& out);

  const WordModel& model_;
  const UserWords* words_;
  WordModel::Scratch scratch_;
  Decoder decoder_;
  // Of the line that has not ended: some characters that were written, then those that were not.
  std::vector<std::uint32_t> points_;
  std::vector<std::size_t> runs_{0};
  std::size_t context_ = 0;
  bool apart_ = false;               // a blank came last
  std::uint8_t first_ = kMustBegin;  // of the first character that was not written
  bool written_ = false;             // something of the line
  bool in_blank_ = false;            // the word that is being written is a blank
  std::uint32_t held_blanks_ = 0;    // of the word that is being written, not yet written
  std::string torn_;                 // the beginning of a character
  std::vector<std::int32_t> theta_;
  std::vector<std::uint8_t> rule_, begins_;
  std::vector<std::size_t> part_;
  std::size_t found_ = 0, lines_ = 0;
};

}  // namespace structlearn::words
