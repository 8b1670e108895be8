#include "tasks/words/cutter.hpp"

#include <algorithm>

#include "tasks/words/line.hpp"
#include "text/corpus.hpp"

namespace structlearn::words {
namespace {

// Characters of a line that are held at most, and how far back a settled one is looked for.
constexpr std::size_t kMostHeld = std::size_t{1} << 15, kBack = 1 << 11;
// What the label of a character depends on besides, on either side.
constexpr std::size_t kAround = kLongestWord + kReach;

void append(std::uint32_t p, std::string& out) {
  if (p < 0x80) {
    out.push_back(static_cast<char>(p));
  } else if (p < 0x800) {
    out.push_back(static_cast<char>(0xC0 | p >> 6));
    out.push_back(static_cast<char>(0x80 | (p & 0x3F)));
  } else if (p < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | p >> 12));
    out.push_back(static_cast<char>(0x80 | (p >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (p & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | p >> 18));
    out.push_back(static_cast<char>(0x80 | (p >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (p >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (p & 0x3F)));
  }
}

}  // namespace

void Cutter::add(std::uint32_t point) {
  if (!model_.blanks() && separates(point)) {
    apart_ = true;
    return;
  }
  if (apart_ && points_.size() > runs_.back()) {
    if (points_.size() == context_) {  // all of the run was written
      points_.clear();
      runs_.assign(1, 0);
      context_ = 0;
      first_ = kMustBegin;
    } else {
      runs_.push_back(points_.size());
    }
  }
  apart_ = false;
  points_.push_back(point);
}

// Labels the characters that were not written.
void Cutter::decide() {
  const std::size_t n = points_.size() - context_;
  theta_.resize(points_.size());
  rule_.assign(n, kFree);
  part_.clear();
  runs_.push_back(points_.size());
  for (std::size_t r = 0; r + 1 < runs_.size(); ++r) {
    const std::size_t begin = runs_[r], end = runs_[r + 1];
    model_.score({points_.data() + begin, end - begin}, scratch_, theta_.data() + begin);
    part_.push_back(begin < context_ ? 0 : begin - context_);
    if (begin >= context_) rule_[begin - context_] = kMustBegin;
  }
  runs_.pop_back();
  part_.push_back(n);
  if (context_ > 0) rule_[0] = first_;
  decoder_.decide({points_.data() + context_, n}, part_, {theta_.data() + context_, n}, rule_,
                  model_.pairs(), words_, begins_);
}

void Cutter::write(std::uint32_t point, bool begins, std::string& out) {
  if (begins) {
    held_blanks_ = 0;  // blanks at the end of a word are none of it
    in_blank_ = true;
  }
  if (separates(point)) {
    if (!in_blank_) ++held_blanks_;
    return;
  }
  if (in_blank_) {
    if (written_) out.push_back(' ');
    written_ = true;
    in_blank_ = false;
    ++found_;
  }
  for (; held_blanks_ > 0; --held_blanks_) out.push_back('_');
  append(point, out);
}

// Writes what is settled; all of it at the end of a line.
void Cutter::settle(bool last, std::string& out) {
  const std::size_t n = points_.size() - context_;
  if (n > 0) {
    decide();
    std::size_t until = n;
    if (!last) {
      const std::size_t end = n - kAround;
      until = decoder_.settled(end, kBack, words_ != nullptr);
      // Where nothing is settled for so long, it is cut as it looks now: work stays bounded.
      if (until == 0) {
        until = end;
        for (std::size_t k = end; k > end - kBack; --k) {
          if (!begins_[k - 1]) continue;
          until = k - 1;
          break;
        }
      }
    }
    for (std::size_t i = 0; i < until; ++i) write(points_[context_ + i], begins_[i], out);
    if (!last) {
      const std::size_t next = context_ + until;
      first_ = begins_[until] ? kMustBegin : kMustGoOn;
      std::size_t run = 0;
      while (run + 1 < runs_.size() && runs_[run + 1] <= next) ++run;
      const std::size_t kept = std::max(runs_[run], next > kAround ? next - kAround : 0);
      std::vector<std::size_t> runs{0};
      for (++run; run < runs_.size(); ++run) runs.push_back(runs_[run] - kept);
      runs_ = std::move(runs);
      points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(kept));
      context_ = next - kept;
      return;
    }
  }
  points_.clear();
  runs_.assign(1, 0);
  context_ = 0;
  apart_ = false;
  first_ = kMustBegin;
  held_blanks_ = 0;
}

void Cutter::cut(std::string_view text, bool last, std::string& out) {
  std::string joined;
  if (!torn_.empty()) {
    joined = torn_ + std::string(text);
    text = joined;
    torn_.clear();
  }
  const std::size_t wrong = text::invalid_utf8(text);
  std::size_t whole = text.size();
  if (wrong < text.size()) {
    const bool may_be_torn = !last && text.size() - wrong < 4 &&
                             wrong + text::character_width(text[wrong]) > text.size();
    if (!may_be_torn) {
      const std::size_t at = lines_ + text::count_lines(text.substr(0, wrong)) + 1;
      throw text::BadLine(at, "not valid UTF-8: convert the file to UTF-8 first");
    }
    whole = wrong;
  }
  text::for_characters(text.substr(0, whole), [&](std::uint32_t point, std::size_t, std::size_t) {
    if (point == '\n') {
      settle(true, out);
      out.push_back('\n');
      written_ = false;
      ++lines_;
      return;
    }
    add(point);
    if (points_.size() - context_ >= kMostHeld) settle(false, out);
  });
  torn_.assign(text.substr(whole));
  if (last) {
    settle(true, out);
    written_ = false;
  }
}

void Cutter::places(std::string_view text,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>>& out) {
  const TextLine line = TextLine::of(text, model_.blanks());
  points_ = line.points;
  runs_.assign(line.runs.begin(), line.runs.end() - (line.runs.size() > 1 ? 1 : 0));
  if (!points_.empty()) decide();
  bool fresh = false;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (begins_[i]) fresh = true;
    if (separates(points_[i])) continue;
    if (fresh) out.emplace_back(line.place[i], 0);
    fresh = false;
    out.back().second = line.place[i] + 1;
  }
  points_.clear();
  runs_.assign(1, 0);
}

}  // namespace structlearn::words
