#include "text/lexicon.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "text/escapes.hpp"

namespace structlearn::text {
namespace {

constexpr std::string_view kUnseen = "?";
constexpr std::size_t kBeforeMerging = 1 << 16;

}  // namespace

Lexicon::Lexicon(std::span<const std::uint64_t> words, std::span<const std::uint32_t> value,
                 const std::vector<std::string>& names, std::span<const std::uint32_t> folded)
    : index_(words.size()) {
  for (const std::string& name : names) names_.add(name);
  if (names.empty() || names_.size() != names.size() || words.size() != value.size() ||
      (!folded.empty() && folded.size() != words.size() * kFolds) ||
      std::any_of(folded.begin(), folded.end(), [&](auto k) { return k >= names.size(); })) {
    throw std::invalid_argument("the lexicon does not fit together");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == 0 || index_.add(words[i]) != i || value[i] >= names.size()) {
      throw std::invalid_argument("the lexicon has a word twice, or a value that does not exist");
    }
  }
  value_.assign(value.begin(), value.end());
  folded_.assign(folded.begin(), folded.end());
}

void Lexicon::count(std::uint64_t word, std::uint32_t label, std::size_t fold,
                    std::uint32_t times) {
  counted_.push_back({index_.add(word), label, static_cast<std::uint32_t>(fold), times});
  if (counted_.size() > 2 * merged_ + kBeforeMerging) merge();
}

void Lexicon::merge() {
  std::sort(counted_.begin(), counted_.end());
  std::size_t n = 0;
  for (const Counted& one : counted_) {
    if (n > 0 && !(counted_[n - 1] < one)) {
      const std::uint64_t times = std::uint64_t{counted_[n - 1].times} + one.times;
      counted_[n - 1].times = static_cast<std::uint32_t>(std::min<std::uint64_t>(times, ~0u));
    } else {
      counted_[n++] = one;
    }
  }
  counted_.resize(n);
  merged_ = n;
}

std::vector<std::uint64_t> Lexicon::counts() {
  merge();
  const std::vector<std::uint64_t> words = index_.keys();
  std::vector<std::uint64_t> out;
  for (const Counted& one : counted_) {
    out.insert(out.end(), {words[one.word], one.label, one.fold, one.times});
  }
  return out;
}

void Lexicon::finish(const std::vector<std::string>& labels) {
  names_.add(kUnseen);
  merge();
  value_.assign(index_.size(), 0);
  folded_.assign(index_.size() * kFolds, 0);
  using Row = std::array<std::uint64_t, kFolds + 1>;  // a label's counts by fold, and the sum
  std::vector<std::pair<std::uint32_t, Row>> rows;
  std::vector<std::pair<std::uint64_t, std::string_view>> shown;
  for (std::size_t i = 0; i < counted_.size();) {
    const std::uint32_t word = counted_[i].word;
    rows.clear();
    Row total{};
    for (; i < counted_.size() && counted_[i].word == word; ++i) {
      if (rows.empty() || rows.back().first != counted_[i].label) {
        rows.push_back({counted_[i].label, Row{}});
      }
      for (const std::size_t at : {std::size_t{counted_[i].fold}, kAll}) {
        rows.back().second[at] += counted_[i].times;
        total[at] += counted_[i].times;
      }
    }
    for (std::size_t fold = 0; fold <= kFolds; ++fold) {
      const auto rest = [&](const Row& row) {
        return fold == kAll ? row[kAll] : row[kAll] - row[fold];
      };
      const std::uint64_t n = rest(total);
      std::uint32_t found = 0;
      if (n > 0) {
        shown.clear();
        for (const auto& [label, row] : rows) {
          if (rest(row) > 0 && rest(row) >= kShare * static_cast<double>(n))
            shown.emplace_back(rest(row), labels[label]);
        }
        std::sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) {
          return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        std::string name;
        bool first = true;
        for (const auto& [times, label] : shown) {
          if (!first) name.push_back('/');
          first = false;
          name.append(label == kUnseen ? "\\?" : escaped(label, "\\/ "));
        }
        found = names_.add(name);
      }
      (fold == kAll ? value_[word] : folded_[word * kFolds + fold]) = found;
    }
  }
  std::vector<Counted>().swap(counted_);
}

std::uint32_t Lexicon::value(std::uint64_t word, std::size_t fold) const {
  const std::uint32_t id = index_.find(word);
  if (id == FeatureIndex::kAbsent) return 0;
  if (fold == kAll || folded_.empty()) return value_[id];
  return folded_[id * kFolds + fold];
}

}  // namespace structlearn::text
