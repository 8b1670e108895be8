#include "tasks/words/training.hpp"

#include <algorithm>
#include <stdexcept>

namespace structlearn::words {
namespace {

// In the set of tags of a word that is in another dictionary.
constexpr std::uint64_t kListed = std::uint64_t{1} << 63;
constexpr std::uint8_t kMostTags = 62;

}  // namespace

void Training::add(std::vector<std::uint32_t> points, std::string_view marks,
                   std::span<const std::uint8_t> tags) {
  const std::size_t n = points.size();
  if (marks.size() != n || (!tags.empty() && tags.size() != n)) {
    throw std::invalid_argument("a mark for each character");
  }
  // Copies of a text are in one fold: what the others say of its words is what new texts get.
  std::uint64_t print = 1;
  for (const std::uint32_t point : points) print = text::combine(print, point);
  const std::uint64_t fold = std::uint64_t{1} << (print % kFolds);
  for (std::size_t i = 0; i < n;) {
    std::size_t end = i + 1;
    while (end < n && marks[end] == kGoesOn) ++end;
    const bool whole = marks[i] == kBegins && (end == n || marks[end] == kBegins);
    if (whole) {
      const std::uint32_t word = trie_.add({points.data() + i, end - i});
      if (word != kNoWord) {
        if (word == known_.size()) {
          known_.emplace_back();
          words_.emplace_back(points.begin() + static_cast<std::ptrdiff_t>(i),
                              points.begin() + static_cast<std::ptrdiff_t>(end));
        }
        Known& known = known_[word];
        known.folds |= fold;
        ++known.count;
        const std::uint8_t tag = tags.empty() ? 0 : std::min(tags[i], kMostTags);
        auto at = std::find_if(known.tags.begin(), known.tags.end(),
                               [tag](const auto& one) { return one.first == tag; });
        if (at == known.tags.end()) at = known.tags.insert(at, {tag, 0});
        at->second |= fold;
      }
    }
    i = end;
  }
  texts_.push_back(std::move(points));
  fold_.push_back(fold);
}

void Training::add_word(std::span<const std::uint32_t> word) {
  const std::uint32_t number = trie_.add(word);
  if (number == kNoWord) return;
  if (number == known_.size()) {
    known_.emplace_back();
    words_.emplace_back(word.begin(), word.end());
  }
  known_[number].listed = true;
}

// The number of the set of tags that a word has in these folds; sets are numbered from 1.
std::uint16_t Training::set_of(const Known& known, std::uint64_t folds) {
  std::uint64_t set = known.listed ? kListed : 0;
  for (const auto& [tag, where] : known.tags) {
    if (where & folds) set |= std::uint64_t{1} << tag;
  }
  const auto [at, added] = sets_.try_emplace(set, static_cast<std::uint16_t>(sets_.size() + 1));
  if (added) {
    if (sets_.size() >= 0xFFFF) throw std::length_error("words have too many sets of tags");
    tag_sets.push_back(set);
  }
  return at->second;
}

// Calls each(place, key, n-gram's row or 0) for the features of a text, place by place.
template <class Each>
void Training::places(std::size_t number, Each&& each) {
  const std::vector<std::uint32_t>& text = texts_[number];
  const std::uint64_t others = ~fold_[number];
  Run run;
  run.set(text);
  std::vector<Match> matches;
  match_words(
      text.size(),
      [&](std::size_t i, auto&& found) {
        trie_.match(text, i, [&](std::size_t end, std::uint32_t word) {
          const Known& known = known_[word];
          if (!known.listed && (known.folds & others) == 0) return;
          found(end, word, set_of(known, others));
        });
      },
      matches);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (std::size_t n = 1; n <= kLongestGram; ++n) {
      for (std::size_t row = 0; row < places_of(n); ++row) {
        // The place i has row r of the n-gram that begins at i - r + 2 * kReach - n.
        const std::size_t at = i + 2 * kReach - n - row;
        each(i, key_of(kGram + n - 1, run.gram(at, n)), n, row);
        each(i, key_of(kTypes + n - 1, run.types(at, n)), n, row);
      }
    }
    const auto once = [&](std::uint64_t key) { each(i, key, std::size_t{0}, std::size_t{0}); };
    length_keys(matches[i], once);
    tag_keys(matches[i], once);
    word_keys(matches[i], once);
  }
}

void Training::finish(std::uint32_t min_count, std::uint32_t min_words) {
  // Words that are too rare are in no fold.
  for (Known& known : known_) {
    if (known.count < min_words) known.folds = 0;
  }
  struct Counted {
    std::uint32_t count = 0, width = 0;
  };
  std::unordered_map<std::uint64_t, Counted> counted;
  site.assign(1, 0);
  for (std::size_t t = 0; t < texts_.size(); ++t) {
    places(t, [&](std::size_t, std::uint64_t key, std::size_t n, std::size_t) {
      Counted& one = counted[key];
      ++one.count;
      one.width = static_cast<std::uint32_t>(n == 0 ? 1 : places_of(n));
    });
    site.push_back(site.back() + static_cast<std::int64_t>(texts_[t].size()));
  }
  keys.clear();
  for (const auto& [key, one] : counted) {
    // An n-gram that is there once is seen from each of its places.
    if (one.count >= min_count * one.width) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  first.clear();
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  number.reserve(keys.size());
  size_ = 0;
  for (const std::uint64_t key : keys) {
    first.push_back(static_cast<std::uint32_t>(size_));
    number.emplace(key, static_cast<std::uint32_t>(size_));
    size_ += counted[key].width;
  }
  if (size_ > 0x7FFFFFFF) throw std::length_error("there are too many features: raise min_count");
  indptr.assign(1, 0);
  indices.clear();
  for (std::size_t t = 0; t < texts_.size(); ++t) {
    std::size_t at = 0;
    places(t, [&](std::size_t i, std::uint64_t key, std::size_t, std::size_t row) {
      for (; at < i; ++at) indptr.push_back(static_cast<std::int64_t>(indices.size()));
      const auto found = number.find(key);
      if (found != number.end()) {
        indices.push_back(static_cast<std::int32_t>(found->second + row));
      }
    });
    for (; at < texts_[t].size(); ++at) {
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }
  // Outside training nothing is left out.
  tags_of_words.clear();
  std::vector<std::vector<std::uint32_t>> kept;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    tags_of_words.push_back(known_[w].listed || known_[w].folds ? set_of(known_[w], ~0ULL)
                                                                : kNoTags);
  }
}

}  // namespace structlearn::words
