#include "tasks/words/decoder.hpp"

#include <algorithm>

namespace structlearn::words {
namespace {

constexpr std::int64_t kNever = INT64_MIN / 4;

}  // namespace

void Decoder::decide(std::span<const std::uint32_t> points, std::span<const std::size_t> runs,
                     std::span<const std::int32_t> theta, std::span<const std::uint8_t> rule,
                     const std::array<std::int32_t, 4>& pairs, const UserWords* words,
                     std::vector<std::uint8_t>& begins) {
  const std::size_t n = points.size();
  best_.resize(n);
  from_.resize(n);
  begins.assign(n, 0);
  if (n == 0) return;
  if (words != nullptr) {
    start_.assign(n, 0);
    for (auto& row : best_) row[kOne] = row[kLast] = kNever;
  }
  const std::int64_t bb = pairs[0], bi = pairs[1], ib = pairs[2], ii = pairs[3];
  std::size_t run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<std::int64_t, kStates>& now = best_[i];
    std::array<std::uint8_t, kStates>& from = from_[i];
    // The best cut of what comes before, if a word begins here, and if one goes on.
    std::int64_t arrive = 0, stay = 0;
    if (i > 0) {
      const std::array<std::int64_t, kStates>& before = best_[i - 1];
      arrive = before[kBegin] + bb;
      from[kBegin] = kBegin;
      const auto better = [&](std::int64_t value, State state) {
        if (value <= arrive) return;
        arrive = value;
        from[kBegin] = state;
      };
      better(before[kInside] + ib, kInside);
      if (words != nullptr) {
        better(before[kOne] + bb, kOne);
        better(before[kLast] + ib, kLast);
      }
      stay = before[kBegin] + bi;
      from[kInside] = kBegin;
      if (before[kInside] + ii > stay) {
        stay = before[kInside] + ii;
        from[kInside] = kInside;
      }
    }
    now[kBegin] = rule[i] == kMustGoOn ? kNever : arrive + theta[i];
    now[kInside] = rule[i] == kMustBegin ? kNever : stay;
    if (words == nullptr) continue;
    while (runs[run + 1] <= i) ++run;
    from[kOne] = from[kBegin];
    if (rule[i] == kMustGoOn || arrive <= kNever) continue;
    words->trie.match(points.first(runs[run + 1]), i, [&](std::size_t end, std::uint32_t word) {
      for (std::size_t k = i + 1; k < end; ++k) {
        if (rule[k] == kMustBegin) return;
      }
      std::int64_t value = arrive + theta[i] + words->weight[word];
      if (end == i + 1) {
        now[kOne] = value;
        return;
      }
      value += bi + static_cast<std::int64_t>(end - i - 2) * ii;
      if (value <= best_[end - 1][kLast]) return;
      best_[end - 1][kLast] = value;
      start_[end - 1] = static_cast<std::uint32_t>(i);
    });
  }
  std::size_t state = kBegin;
  const std::size_t states = words != nullptr ? kStates : kOne;
  for (std::size_t k = kInside; k < states; ++k) {
    if (best_[n - 1][k] > best_[n - 1][state]) state = k;
  }
  trace(n - 1, state, begins);
}

// Marks where words begin on the way back from a state.
void Decoder::trace(std::size_t at, std::size_t state, std::vector<std::uint8_t>& begins) const {
  for (;;) {
    if (state == kLast) at = start_[at];
    const bool begin = state != kInside;
    begins[at] = begin;
    if (at == 0) return;
    state = from_[at][begin ? kBegin : kInside];
    --at;
  }
}

std::size_t Decoder::settled(std::size_t end, std::size_t reach, bool words) const {
  if (end == 0 || end > best_.size()) return 0;
  const std::size_t last = end - 1, stop = last > reach ? last - reach : 0;
  std::vector<std::uint16_t> begin(end - stop, 0), inside(end - stop, 0);
  std::uint16_t traces = 0;
  const auto follow = [&](std::size_t at, std::size_t state) {
    ++traces;
    for (;;) {
      if (state == kLast) {
        at = start_[at];
        if (at >= stop) ++begin[at - stop];
      } else if (at >= stop) {
        ++(state == kInside ? inside : begin)[at - stop];
      }
      if (at <= stop) return;
      state = from_[at][state == kInside ? kInside : kBegin];
      --at;
    }
  };
  follow(last, kBegin);
  follow(last, kInside);
  if (words) {
    // A word that is wanted may begin before `end` and end behind it.
    const std::size_t least = last > kLongestWord ? last - kLongestWord : 0;
    for (std::size_t at = std::max(least, stop); at < last; ++at) follow(at, kBegin);
  }
  const std::size_t most = words && last > kLongestWord ? last - kLongestWord : last;
  for (std::size_t at = std::min(most, last); at > stop && at > 0; --at) {
    if (begin[at - stop] == traces || (!words && inside[at - stop] == traces)) return at;
  }
  return 0;
}

}  // namespace structlearn::words
