#include "tasks/dependencies/label_sets.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/hash.hpp"

namespace structlearn::parsing {
namespace {

using text::combine;

constexpr std::size_t kWords = kMaxLabels / 64;

// Head and modifier are not to be mixed up: combining two hashes does not tell their order.
std::uint64_t pair_key(const Sentence& s, int h, int m) {
  return combine(combine(combine(s[h].tag, 9), s[m].tag), h < m ? 1 : 2);
}
std::uint64_t word_key(const Sentence& s, int h, int m) {
  return combine(combine(s[m].tag, h == 0 ? 3 : 4), 5);
}
// All labels seen below the root, and all seen below words.
std::uint64_t place_key(int h) {
  return combine(h == 0 ? 6 : 7, 8);
}
void mark(LabelMask& mask, std::size_t label) {
  mask[label / 64] |= std::uint64_t{1} << (label % 64);
}

}  // namespace

LabelSets::LabelSets(std::size_t labels) {
  if (labels > kMaxLabels) {
    throw std::invalid_argument(std::to_string(labels) + " labels, more than " +
                                std::to_string(kMaxLabels));
  }
  for (std::size_t l = 0; l < labels; ++l) mark(all_, l);
}

LabelSets::LabelSets(std::size_t labels, std::span<const std::uint64_t> keys,
                     std::span<const std::uint64_t> masks)
    : LabelSets(labels) {
  if (masks.size() != keys.size() * kWords) throw std::invalid_argument("label sets do not fit");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    LabelMask mask;
    bool any = false;
    for (std::size_t w = 0; w < kWords; ++w) {
      mask[w] = masks[i * kWords + w];
      any = any || mask[w] != 0;
      if (mask[w] & ~all_[w]) throw std::invalid_argument("a label set with an unknown label");
    }
    if (!any) throw std::invalid_argument("an empty label set");
    sets_.emplace(keys[i], mask);
  }
}

void LabelSets::add(const Sentence& s, int h, int m, std::size_t label) {
  mark(sets_[pair_key(s, h, m)], label);
  mark(sets_[word_key(s, h, m)], label);
  mark(sets_[place_key(h)], label);
}

const LabelMask& LabelSets::find(const Sentence& s, int h, int m) const {
  if (const auto at = sets_.find(pair_key(s, h, m)); at != sets_.end()) return at->second;
  if (const auto at = sets_.find(word_key(s, h, m)); at != sets_.end()) return at->second;
  if (const auto at = sets_.find(place_key(h)); at != sets_.end()) return at->second;
  return all_;
}

void LabelSets::store(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& masks) const {
  keys.clear();
  masks.clear();
  for (const auto& entry : sets_) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  for (const std::uint64_t key : keys) {
    const LabelMask& mask = sets_.at(key);
    masks.insert(masks.end(), mask.begin(), mask.end());
  }
}

}  // namespace structlearn::parsing
