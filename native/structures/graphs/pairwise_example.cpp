#include "structures/graphs/pairwise_example.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace structlearn {
namespace {

constexpr std::size_t kLabel = 0;
constexpr std::array<std::size_t, 2> kGridTables{1, 2}, kGridStrengths{3, 4};
constexpr std::size_t kEdge = 1, kPotts = 2, kClique = 3;

// The content of a graph's topology, as far as it is valid.
struct GraphTopology {
  bool complete = false;
  std::span<const std::int64_t> ends, start, members;

  explicit GraphTopology(std::span<const std::int64_t> row) {
    if (!take(row, 2, 0, ends)) return;
    complete = row.empty();
    if (complete) return;
    if (!take(row, 1, 1, start)) return;
    members = row;
    complete = !start.empty();
  }

 private:
  // A count n, then factor * n + extra numbers.
  static bool take(std::span<const std::int64_t>& row, std::size_t factor, std::size_t more,
                   std::span<const std::int64_t>& out) {
    if (row.empty() || row[0] < 0) return false;
    const auto n = static_cast<std::size_t>(row[0]);
    if (n > row.size() || factor * n + more > row.size() - 1) return false;
    out = row.subspan(1, factor * n + more);
    row = row.subspan(1 + factor * n + more);
    return true;
  }
};

bool among(std::span<const std::int64_t> nodes, std::size_t n) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [n](std::int64_t v) { return v >= 0 && static_cast<std::size_t>(v) < n; });
}

// A block of edges, one row per edge or one for all.
bool fits_edges(const Block& block, std::size_t edges, std::size_t outcomes) {
  return !block.present ||
         (block.outcomes == outcomes && block.sites == (block.anchored ? edges : 1));
}

bool fits_cliques(const GraphTopology& t, const Block& block, std::size_t nodes,
                  std::size_t labels) {
  if (!block.present) return true;
  if (t.start.empty() || block.outcomes != labels ||
      block.sites != (block.anchored ? t.start.size() - 1 : 1)) {
    return false;
  }
  if (t.start.front() != 0 || static_cast<std::size_t>(t.start.back()) != t.members.size()) {
    return false;
  }
  for (std::size_t c = 0; c + 1 < t.start.size(); ++c) {
    if (t.start[c] >= t.start[c + 1]) return false;
  }
  return among(t.members, nodes);
}

}  // namespace

bool PairwiseExample::fits(const PairwiseKind& kind, const Layout& layout) {
  const Block& label = layout.block[kLabel];
  const std::size_t N = label.sites, K = label.outcomes;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (!label.present || N == 0 || K == 0 || N >= kMost) return false;
  if (kind.grid) {
    if (layout.topology.size() != 2 || layout.topology[0] <= 0 || layout.topology[1] <= 0) {
      return false;
    }
    const auto height = static_cast<std::size_t>(layout.topology[0]),
               width = static_cast<std::size_t>(layout.topology[1]);
    if (height > N || width > N || height * width != N) return false;
    const std::array<std::size_t, 2> edges{height * (width - 1), (height - 1) * width};
    bool fine = edges[0] + edges[1] < kMost;
    for (std::size_t g = 0; g < 2; ++g) {
      fine = fine && fits_edges(layout.block[kGridTables[g]], edges[g], K * K) &&
             fits_edges(layout.block[kGridStrengths[g]], edges[g], 1);
    }
    return fine;
  }
  const GraphTopology t(layout.topology);
  if (!t.complete || !among(t.ends, N) || t.ends.size() / 2 >= kMost) return false;
  for (std::size_t i = 0; i < t.ends.size(); i += 2) {
    if (t.ends[i] == t.ends[i + 1]) return false;
  }
  return fits_edges(layout.block[kEdge], t.ends.size() / 2, K * K) &&
         fits_edges(layout.block[kPotts], t.ends.size() / 2, 1) &&
         fits_cliques(t, layout.block[kClique], N, K);
}

PairwiseExample::PairwiseExample(const PairwiseKind& kind, const Layout& layout,
                                 const double* theta)
    : layout_(layout), theta_(theta) {
  const Block& label = layout.block[kLabel];
  model_.nodes = label.sites;
  model_.labels = label.outcomes;
  model_.label = theta + label.offset;
  const auto present = [&layout](std::size_t b) {
    return layout.block[b].present ? &layout.block[b] : nullptr;
  };
  if (kind.grid) {
    model_.height = static_cast<std::size_t>(layout.topology[0]);
    model_.width = static_cast<std::size_t>(layout.topology[1]);
    model_.pairs[0].count = model_.height * (model_.width - 1);
    model_.pairs[1].count = (model_.height - 1) * model_.width;
    for (std::size_t g = 0; g < 2; ++g) {
      groups_[g] = {present(kGridTables[g]), present(kGridStrengths[g]), 0};
    }
  } else {
    const GraphTopology t(layout.topology);
    model_.ends = t.ends.data();
    model_.pairs[0].count = t.ends.size() / 2;
    groups_[0] = {present(kEdge), present(kPotts), 0};
    clique_ = present(kClique);
    if (clique_ != nullptr && t.start.size() > 1) {
      const std::size_t count = t.start.size() - 1, K = model_.labels;
      const double* from = theta + clique_->offset;
      for (std::size_t c = 0; c < count; ++c) {
        const double* row = from + (clique_->anchored ? c * K : 0);
        reward_.insert(reward_.end(), row, row + K);
        const auto size = static_cast<double>(t.start[c + 1] - t.start[c]);
        slack_.push_back(std::max(1.0, kind.tolerance * size));
      }
      model_.cliques = {count, t.start.data(), t.members.data(), reward_.data(), slack_.data()};
    }
  }
  model_.n_edges = model_.pairs[0].count + model_.pairs[1].count;
  groups_[1].first = model_.pairs[0].count;
  for (std::size_t g = 0; g < 2; ++g) set_pairs(g, theta);
}

void PairwiseExample::set_pairs(std::size_t g, const double* theta) {
  const Group& group = groups_[g];
  PairScores& s = model_.pairs[g];
  const std::size_t K = model_.labels;
  if (group.table == nullptr && group.strength == nullptr) return;
  if (group.table == nullptr) {
    s.strength = theta + group.strength->offset;
    s.step = group.strength->anchored ? 1 : 0;
    return;
  }
  s.table = theta + group.table->offset;
  s.step = group.table->anchored ? K * K : 0;
  if (group.strength == nullptr) return;
  // Both: the strengths are subtracted from the tables.
  const double* strength = theta + group.strength->offset;
  const std::size_t strength_step = group.strength->anchored ? 1 : 0;
  const bool one = s.step == 0 && strength_step == 0;
  const std::size_t rows = one ? 1 : s.count;
  merged_[g].reserve(rows * K * K);
  for (std::size_t e = 0; e < rows; ++e) {
    for (std::size_t i = 0; i < K * K; ++i) {
      const double lost = i / K == i % K ? 0.0 : strength[e * strength_step];
      merged_[g].push_back(s.table[e * s.step + i] - lost);
    }
  }
  s.table = merged_[g].data();
  s.step = one ? 0 : K * K;
}

bool PairwiseExample::strengths_are_finite() const {
  const auto finite = [this](const Block* block) {
    if (block == nullptr) return true;
    const double* from = theta_ + block->offset;
    return std::all_of(from, from + block->size(), [](double x) { return std::isfinite(x); });
  };
  return finite(groups_[0].strength) && finite(groups_[1].strength) && finite(clique_);
}

void PairwiseExample::encode(const std::int32_t* y, PartVector& p) const {
  const std::size_t K = model_.labels;
  const auto label = [y](std::size_t v) { return static_cast<std::size_t>(y[v]); };
  p.clear(false);
  for (std::size_t v = 0; v < model_.nodes; ++v) {
    p.add(layout_.block[kLabel].offset + v * K + label(v), 1.0);
  }
  std::vector<double> counts;
  for (std::size_t g = 0; g < 2; ++g) {
    const Block* table = groups_[g].table;
    if (table == nullptr) continue;
    if (!table->anchored) counts.assign(K * K, 0.0);
    for (std::size_t e = 0; e < model_.pairs[g].count; ++e) {
      const auto [a, b] = model_.edge(groups_[g].first + e);
      const std::size_t pair = label(a) * K + label(b);
      if (table->anchored) {
        p.add(table->offset + e * K * K + pair, 1.0);
      } else {
        counts[pair] += 1.0;
      }
    }
    for (std::size_t i = 0; !table->anchored && i < K * K; ++i) {
      if (counts[i] != 0.0) p.add(table->offset + i, counts[i]);
    }
  }
  for (std::size_t g = 0; g < 2; ++g) {
    const Block* strength = groups_[g].strength;
    if (strength == nullptr) continue;
    double unequal = 0.0;
    for (std::size_t e = 0; e < model_.pairs[g].count; ++e) {
      const auto [a, b] = model_.edge(groups_[g].first + e);
      if (y[a] == y[b]) continue;
      unequal += 1.0;
      if (strength->anchored) p.add(strength->offset + e, -1.0);
    }
    if (!strength->anchored && unequal > 0.0) p.add(strength->offset, -unequal);
  }
  if (clique_ == nullptr) return;
  counts.assign(clique_->anchored ? 0 : K, 0.0);
  for (std::size_t c = 0; c < model_.cliques.count; ++c) {
    const auto [common, missing] = model_.cliques.common(c, y);
    const double share = 1.0 - missing / slack_[c];
    if (share <= 0.0) continue;
    if (clique_->anchored) {
      p.add(clique_->offset + c * K + static_cast<std::size_t>(common), share);
    } else {
      counts[static_cast<std::size_t>(common)] += share;
    }
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] != 0.0) p.add(clique_->offset + k, counts[k]);
  }
}

void PairwiseExample::gather(const std::vector<double>& node, const std::vector<double>& pair,
                             std::vector<double>& p) const {
  const std::size_t K = model_.labels;
  p.assign(layout_.parts, 0.0);
  std::copy(node.begin(), node.end(), p.data() + layout_.block[kLabel].offset);
  for (std::size_t g = 0; g < 2; ++g) {
    const Block *table = groups_[g].table, *strength = groups_[g].strength;
    for (std::size_t e = 0; e < model_.pairs[g].count; ++e) {
      const double* from = pair.data() + (groups_[g].first + e) * K * K;
      if (table != nullptr) {
        double* to = p.data() + table->offset + (table->anchored ? e * K * K : 0);
        for (std::size_t i = 0; i < K * K; ++i) to[i] += from[i];
      }
      if (strength == nullptr) continue;
      double unequal = 0.0;
      for (std::size_t i = 0; i < K * K; ++i) {
        if (i / K != i % K) unequal += from[i];
      }
      p[strength->offset + (strength->anchored ? e : 0)] -= unequal;
    }
  }
}

}  // namespace structlearn
