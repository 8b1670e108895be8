#include "tasks/constituents/span_features.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace structlearn::text {
namespace {

constexpr std::uint64_t kBorder = 0xB0BDE5ull;

// X for capitals, x for other letters, d for digits, others as they are; runs are shortened.
std::uint64_t shape_of(std::string_view word) {
  std::string shape;
  for (const char raw : word) {
    const auto c = static_cast<unsigned char>(raw);
    char kind = raw;
    if (c >= 'A' && c <= 'Z')
      kind = 'X';
    else if ((c >= 'a' && c <= 'z') || c >= 0x80)
      kind = 'x';
    else if (c >= '0' && c <= '9')
      kind = 'd';
    const std::size_t n = shape.size();
    if (n >= 2 && shape[n - 1] == kind && shape[n - 2] == kind) continue;
    if (n < 12) shape.push_back(kind);
  }
  return hash_string(shape, 0x54A9Eull);
}

bool begins(std::string_view s, std::string_view with) {
  return s.substr(0, with.size()) == with;
}

// Makes keys of a number and parts; numbers tell templates apart.
class KeyMaker {
 public:
  explicit KeyMaker(std::uint64_t family) : seed_(hash_string({}, family)) {}
  template <class... Parts>
  std::uint64_t operator()(std::uint64_t number, Parts... parts) const {
    std::uint64_t h = combine(seed_, number);
    ((h = combine(h, parts)), ...);
    return nonzero(h);
  }

 private:
  std::uint64_t seed_;
};

template <class... Keys>
void append(std::vector<std::uint64_t>& keys, Keys... more) {
  keys.insert(keys.end(), {more...});
}

}  // namespace

void TreeTokens::assign(std::span<const std::string_view> words,
                        std::span<const std::string_view> tags,
                        std::span<const std::uint64_t> known) {
  n_ = words.size();
  word_.assign(n_ + 4, 0);
  tag_.assign(n_ + 4, 0);
  shape_.assign(n_ + 4, kBorder);
  for (std::size_t at : {std::size_t{0}, std::size_t{1}, n_ + 2, n_ + 3}) {
    word_[at] = tag_[at] = kBorder + (at < 2 ? 0 : 1);
  }
  for (auto* counts : {&verbs_, &conjunctions_, &commas_, &marks_}) counts->assign(n_ + 1, 0);
  for (std::size_t t = 0; t < n_; ++t) {
    const std::string_view w = words[t], tag = tags[t];
    shape_[t + 2] = shape_of(w);
    const std::uint64_t key = word_key(w);
    if (std::binary_search(known.begin(), known.end(), key)) {
      word_[t + 2] = key;
    } else {
      word_[t + 2] = combine(shape_[t + 2],
                             hash_string(w.substr(w.size() - std::min<std::size_t>(w.size(), 3))));
    }
    tag_[t + 2] = tag_key(tag);
    verbs_[t + 1] = static_cast<std::uint16_t>(verbs_[t] + (begins(tag, "VB") || tag == "MD"));
    conjunctions_[t + 1] = static_cast<std::uint16_t>(conjunctions_[t] + (tag == "CC"));
    commas_[t + 1] = static_cast<std::uint16_t>(commas_[t] + (tag == ","));
    const bool mark = tag == ":" || tag == "``" || tag == "''" || tag == "-LRB-" || tag == "-RRB-";
    marks_[t + 1] = static_cast<std::uint16_t>(marks_[t] + mark);
  }
}

std::uint64_t TreeTokens::contents(std::size_t i, std::size_t j) const {
  const auto count = [&](const std::vector<std::uint16_t>& running, int most) {
    return static_cast<std::uint64_t>(std::min<int>(running[j] - running[i], most));
  };
  return count(verbs_, 3) * 27 + count(conjunctions_, 2) * 9 + count(commas_, 2) * 3 +
         count(marks_, 2);
}

void TreeFeatures::node(std::size_t begin, std::size_t end,
                        std::vector<std::uint64_t>& keys) const {
  const auto i = static_cast<std::ptrdiff_t>(begin), j = static_cast<std::ptrdiff_t>(end);
  const KeyMaker key(1);
  const std::uint64_t length = length_class(end - begin);
  const std::uint64_t wb = x_.word(i - 1), wf = x_.word(i), wl = x_.word(j - 1), wn = x_.word(j);
  const std::uint64_t tb = x_.tag(i - 1), tf = x_.tag(i), tl = x_.tag(j - 1), tn = x_.tag(j);
  const std::uint64_t inside = x_.contents(begin, end);
  append(keys, key(0), key(1, length), key(2, wf), key(3, wl), key(4, wb), key(5, wn),
         key(6, tf, length), key(7, tl, length), key(8, tb, length), key(9, tn, length),
         key(10, wb, wf), key(11, wl, wn), key(12, tf, tl), key(13, tb, tn), key(14, tb, tf),
         key(15, tl, tn), key(16, tb, tf, tl, tn), key(17, tf, tl, tn), key(18, tb, tf, tl),
         key(19, wf, tl), key(20, tf, wl), key(21, wf, wl), key(22, wb, wn), key(23, tb, wf),
         key(24, wl, tn), key(25, wf, length), key(26, wb, tf), key(27, tl, wn),
         key(28, tf, tl, length), key(29, tf, x_.tag(i + 1)), key(30, x_.tag(j - 2), tl),
         key(31, x_.tag(i - 2), tb), key(32, tn, x_.tag(j + 1)), key(33, tb, tf, x_.tag(i + 1)),
         key(34, x_.tag(j - 2), tl, tn), key(35, inside), key(36, inside, tf),
         key(37, inside, tl, tn), key(38, tf, wb, tl, tn), key(39, wf, tl, tn), key(40, wf, tb, tn),
         key(41, tb, tf, tn), key(42, tb, tl, tn), key(43, tl, tn, x_.tag(j + 1)),
         key(44, x_.tag(i - 2), tb, tf), key(45, wb, wf, wn));
  if (end - begin <= 6) {
    std::uint64_t tags = 0, shapes = 0;
    for (auto t = i; t < j; ++t) {
      tags = combine(tags, x_.tag(t));
      shapes = combine(shapes, x_.shape(t));
    }
    append(keys, key(46, tags), key(47, tags, tb, tn), key(48, shapes), key(49, tags, wf),
           key(50, tags, wl));
  }
}

void TreeFeatures::word(std::size_t at, std::vector<std::uint64_t>& keys) const {
  const auto i = static_cast<std::ptrdiff_t>(at);
  const KeyMaker key(2);
  const std::uint64_t w = x_.word(i), t = x_.tag(i);
  const std::uint64_t wb = x_.word(i - 1), tb = x_.tag(i - 1), wn = x_.word(i + 1),
                      tn = x_.tag(i + 1);
  append(keys, key(0), key(1, w), key(2, t), key(3, t, tb), key(4, t, tn), key(5, t, tb, tn),
         key(6, w, tb), key(7, w, tn), key(8, t, wb), key(9, t, wn), key(10, t, wb, tn),
         key(11, t, tb, wn), key(12, t, tn, x_.tag(i + 2)), key(13, t, tb, x_.tag(i - 2)),
         key(14, t, tb, tn, x_.tag(i + 2)), key(15, t, tb, tn, x_.tag(i - 2)), key(16, w, tb, tn),
         key(17, t, x_.shape(i)), key(18, w, wb), key(19, w, wn), key(20, t, wb, wn));
}

void TreeFeatures::rest(std::size_t begin, std::size_t end,
                        std::vector<std::uint64_t>& keys) const {
  const auto i = static_cast<std::ptrdiff_t>(begin), j = static_cast<std::ptrdiff_t>(end);
  const KeyMaker key(3);
  const std::uint64_t length = length_class(end - begin);
  const std::uint64_t wb = x_.word(i - 1), wf = x_.word(i), wl = x_.word(j - 1), wn = x_.word(j);
  const std::uint64_t tb = x_.tag(i - 1), tf = x_.tag(i), tl = x_.tag(j - 1), tn = x_.tag(j);
  append(keys, key(0, length), key(1, wf), key(2, wl), key(3, wb), key(4, wn), key(5, tf, tl),
         key(6, tb, tf), key(7, tl, tn), key(8, tb, tf, tl, tn), key(9, tb, wf), key(10, wb, tf),
         key(11, wb, wf), key(12, tf, length), key(13, tb, tf, x_.tag(i + 1)),
         key(14, x_.contents(begin, end), tf), key(15, tf, tl, tn), key(16, wf, tl, tn),
         key(17, tb, tn));
}

void TreeFeatures::child(Place place, std::size_t begin, std::size_t end,
                         std::vector<std::uint64_t>& keys) const {
  const auto i = static_cast<std::ptrdiff_t>(begin), j = static_cast<std::ptrdiff_t>(end);
  const KeyMaker key(static_cast<std::uint64_t>(place));
  const std::uint64_t length = length_class(end - begin);
  const std::uint64_t tb = x_.tag(i - 1), tf = x_.tag(i), tl = x_.tag(j - 1), tn = x_.tag(j);
  append(keys, key(0, length), key(1, x_.word(i)), key(2, x_.word(j - 1)), key(3, tf, tl),
         key(4, place == Place::kLast ? x_.word(i - 1) : x_.word(j)), key(5, tb, tf),
         key(6, tl, tn), key(7, tf, length), key(8, tf, tl, tn), key(9, tb, tf, tl));
}

std::uint64_t TreeFeatures::seen(std::size_t family, std::size_t place, std::size_t at) const {
  const auto t = static_cast<std::ptrdiff_t>(at);
  switch (3 * family + place) {
    case 1:
      return combine(combine(0, x_.tag(t - 1)), x_.tag(t));  // not the same the other way round
    case 2:
    case 6:
      return x_.tag(t - 1);
    case 4:
      return x_.word(t);
    default:
      return x_.tag(t);
  }
}

std::uint64_t TreeFeatures::split_key(std::size_t family, std::uint64_t i, std::uint64_t k,
                                      std::uint64_t j) {
  static const std::array seeds = {hash_string({}, 21), hash_string({}, 22), hash_string({}, 23)};
  static_assert(seeds.size() == kSplitFamilies);
  return nonzero(combine(combine(combine(seeds[family], i), k), j));
}

std::uint64_t TreeFeatures::split_lengths(std::uint64_t left, std::uint64_t right) {
  return nonzero(combine(combine(hash_string({}, 20), left), right));
}

void TreeFeatures::split(std::size_t i, std::size_t k, std::size_t j,
                         std::vector<std::uint64_t>& keys) const {
  keys.push_back(split_lengths(length_class(k - i), length_class(j - k)));
  for (std::size_t f = 0; f < kSplitFamilies; ++f) {
    keys.push_back(split_key(f, seen(f, 0, i), seen(f, 1, k), seen(f, 2, j)));
  }
}

std::uint64_t TreeFeatures::length_class(std::size_t n) {
  if (n <= 6) return n;
  if (n <= 8) return 7;
  if (n <= 12) return 8;
  if (n <= 20) return 9;
  return 10;
}

}  // namespace structlearn::text
