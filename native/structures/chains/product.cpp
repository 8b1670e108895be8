#include "structures/chains/product.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace structlearn {
namespace {

constexpr std::uint32_t kNever = UINT32_MAX;

}  // namespace

Product::Product(Automaton automaton, bool segments) : automaton_(std::move(automaton)) {
  find_reach(segments);
  lay_out_rows();
  group_steps();
  list_before();
}

void Product::find_reach(bool segments) {
  const Automaton& a = automaton_;
  const std::size_t S = a.states, K = a.symbols;
  if (a.positions == 0) {
    depth_.assign(S, kNever);
    height_.assign(S, kNever);
    std::vector<std::uint32_t> open{static_cast<std::uint32_t>(a.start)};
    depth_[a.start] = 0;
    for (std::size_t n = 0; n < open.size(); ++n) {
      for (std::size_t k = 0; k < K; ++k) {
        const std::int32_t to = a.next[open[n] * K + k];
        if (to < 0 || depth_[static_cast<std::size_t>(to)] != kNever) continue;
        depth_[static_cast<std::size_t>(to)] = depth_[open[n]] + 1;
        open.push_back(static_cast<std::uint32_t>(to));
      }
    }
    // Few rounds: products are numbered breadth first, so most transitions lead up.
    for (std::size_t s = 0; s < S; ++s) height_[s] = a.accepting[s] ? 0 : kNever;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t s = S; s-- > 0;) {
        for (std::size_t k = 0; k < K; ++k) {
          const std::int32_t to = a.next[s * K + k];
          if (to < 0 || height_[static_cast<std::size_t>(to)] == kNever) continue;
          const std::uint32_t through = height_[static_cast<std::size_t>(to)] + 1;
          if (through >= height_[s]) continue;
          height_[s] = through;
          changed = true;
        }
      }
    }
    return;
  }
  const std::size_t L = a.positions;
  // Forwards the reachable states, then backwards those of them that can reach acceptance.
  reach_.assign((L + 1) * S, 0);
  reach_[a.start] = 1;
  for (std::size_t t = 0; t < L; ++t) {
    const std::uint8_t* before = reach_.data() + t * S;
    std::uint8_t* after = reach_.data() + (t + 1) * S;
    if (segments) std::copy(before, before + S, after);
    for (std::size_t s = 0; s < S; ++s) {
      if (!before[s]) continue;
      for (std::size_t k = 0; k < K; ++k) {
        const std::int32_t to = a.rows(t)[s * K + k];
        if (to >= 0) after[to] = 1;
      }
    }
  }
  for (std::size_t s = 0; s < S; ++s) reach_[L * S + s] &= a.accepting[s];
  for (std::size_t t = L; t-- > 0;) {
    std::uint8_t* before = reach_.data() + t * S;
    const std::uint8_t* after = before + S;
    for (std::size_t s = 0; s < S; ++s) {
      if (!before[s]) continue;
      bool useful = segments && after[s];
      for (std::size_t k = 0; k < K && !useful; ++k) {
        const std::int32_t to = a.rows(t)[s * K + k];
        useful = to >= 0 && after[to];
      }
      before[s] = useful;
    }
  }
}

void Product::lay_out_rows() {
  const Automaton& a = automaton_;
  const std::size_t S = a.states, K = a.symbols;
  std::vector<std::uint8_t> enters(S * K, 0);
  for (std::size_t j = 0; j < a.next.size(); ++j) {
    if (a.next[j] >= 0) enters[static_cast<std::size_t>(a.next[j]) * K + j % K] = 1;
  }
  slot_.assign(S * K, -1);
  wide_.resize(S);
  row_.push_back(0);
  for (std::size_t s = 0; s < S; ++s) {
    const std::uint8_t* labels = enters.data() + s * K;
    const auto n = static_cast<std::size_t>(std::count(labels, labels + K, std::uint8_t{1}));
    wide_[s] = 2 * n > K;
    for (std::uint32_t k = 0; k < K; ++k) {
      if (labels[k]) slot_[s * K + k] = static_cast<std::int32_t>(slot_label_.size());
      if (!labels[k] && !wide_[s]) continue;
      slot_label_.push_back(k);
      slot_state_.push_back(static_cast<std::uint32_t>(s));
    }
    row_.push_back(static_cast<std::uint32_t>(slot_label_.size()));
  }
}

void Product::group_steps() {
  const Automaton& a = automaton_;
  const std::size_t K = a.symbols;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::vector<std::uint32_t>> group;
  std::vector<std::uint32_t> targets;
  std::vector<std::int32_t> number(a.states, -1);  // of the group that leads there
  step_ptr_.push_back(0);
  for (std::size_t i = 0; i < a.next.size() / K; ++i) {
    targets.clear();
    for (std::uint32_t k = 0; k < K; ++k) {
      const std::int32_t to = a.next[i * K + k];
      if (to < 0) continue;
      std::int32_t& n = number[static_cast<std::size_t>(to)];
      if (n < 0) {
        n = static_cast<std::int32_t>(targets.size());
        targets.push_back(static_cast<std::uint32_t>(to));
        if (group.size() < targets.size()) group.emplace_back();
        group[static_cast<std::size_t>(n)].clear();
      }
      group[static_cast<std::size_t>(n)].push_back(k);
    }
    for (std::size_t n = 0; n < targets.size(); ++n) {
      number[targets[n]] = -1;
      const auto [at, added] =
          known.try_emplace(group[n], static_cast<std::uint32_t>(sets_.size()));
      if (added) {
        const auto first = static_cast<std::uint32_t>(listed_.size());
        listed_.insert(listed_.end(), group[n].begin(), group[n].end());
        LabelSet set{first, static_cast<std::uint32_t>(listed_.size()), -1};
        if (4 * group[n].size() > K) {
          set.mask = static_cast<std::int32_t>(factor_.size() / K);
          added_.resize(added_.size() + K, -std::numeric_limits<double>::infinity());
          factor_.resize(factor_.size() + K, 0.0);
          for (const std::uint32_t k : group[n]) {
            added_[added_.size() - K + k] = 0.0;
            factor_[factor_.size() - K + k] = 1.0;
          }
        }
        sets_.push_back(set);
      }
      steps_.push_back({targets[n], at->second});
    }
    step_ptr_.push_back(static_cast<std::uint32_t>(steps_.size()));
  }
}

void Product::list_before() {
  const Automaton& a = automaton_;
  const std::size_t S = a.states, K = a.symbols;
  before_ptr_.assign(a.next.size() + 1, 0);
  const auto place = [&](std::size_t j) {
    const std::size_t table = j / (S * K);
    return (table * S + static_cast<std::size_t>(a.next[j])) * K + j % K;
  };
  for (std::size_t j = 0; j < a.next.size(); ++j) {
    if (a.next[j] >= 0) ++before_ptr_[place(j) + 1];
  }
  for (std::size_t i = 0; i < a.next.size(); ++i) before_ptr_[i + 1] += before_ptr_[i];
  before_.resize(before_ptr_.back());
  std::vector<std::uint32_t> at(before_ptr_.begin(), before_ptr_.end() - 1);
  for (std::size_t j = 0; j < a.next.size(); ++j) {
    if (a.next[j] >= 0) before_[at[place(j)]++] = static_cast<std::uint32_t>(j / K % S);
  }
}

}  // namespace structlearn
