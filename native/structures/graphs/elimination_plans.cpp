#include "structures/graphs/elimination_plans.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace structlearn {
namespace {

// The most entries of one table, and of all of them, that elimination may make.
constexpr std::size_t kLargestTable = std::size_t{1} << 16, kMostInTables = std::size_t{1} << 25;
constexpr std::size_t kWidest = 24;
// The most nodes in the plans that are remembered, some 400 bytes each.
constexpr std::size_t kMostHeld = std::size_t{1} << 18;
// The number of least connected nodes whose fill is compared.
constexpr std::size_t kCandidates = 32;

using Adjacent = std::vector<std::uint32_t>;  // ascending

// How many pairs of a node's neighbours are not joined yet, counted from both sides.
std::size_t fill_of(const std::vector<Adjacent>& near, std::size_t v) {
  std::size_t fill = 0;
  for (const std::uint32_t u : near[v]) {
    std::size_t joined = 0;
    auto at = near[u].begin();
    for (const std::uint32_t other : near[v]) {
      at = std::lower_bound(at, near[u].end(), other);
      if (at == near[u].end()) break;
      joined += *at == other;
    }
    fill += near[v].size() - 1 - joined;
  }
  return fill;
}

// The most neighbours for which a table over K labels each, with the node itself, is not too large.
std::size_t widest(std::size_t labels) {
  const std::size_t most = labels > 1 ? kLargestTable : 2;
  std::size_t width = 0;
  for (std::size_t size = labels * labels; size <= most && width < kWidest; size *= labels) ++width;
  return width;
}

bool small_enough(const Pairwise& m, std::size_t width) {
  std::size_t entries = m.nodes;
  for (std::size_t i = 0; i <= width; ++i) {
    entries *= m.labels;
    if (entries > kMostInTables) return false;
  }
  return true;
}

std::vector<std::int64_t> ends_of(const Pairwise& m) {
  std::vector<std::int64_t> ends;
  ends.reserve(2 * m.n_edges);
  for (std::size_t e = 0; e < m.n_edges; ++e) {
    for (const std::size_t v : m.edge(e)) ends.push_back(static_cast<std::int64_t>(v));
  }
  return ends;
}

template <class T>
void append(std::string& key, const T* from, std::size_t n) {
  key.append(reinterpret_cast<const char*>(from), n * sizeof(T));
}

}  // namespace

std::optional<std::vector<std::int64_t>> min_fill_order(std::size_t nodes, const std::int64_t* ends,
                                                        std::size_t edges, std::size_t most) {
  std::vector<Adjacent> near(nodes);
  for (std::size_t e = 0; e < edges; ++e) {
    const auto p = static_cast<std::uint32_t>(ends[2 * e]),
               q = static_cast<std::uint32_t>(ends[2 * e + 1]);
    if (p == q) continue;
    near[p].push_back(q);
    near[q].push_back(p);
  }
  for (Adjacent& others : near) {
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
  }
  // Nodes by their degree, the earliest to have it first, so that only the least connected are
  // examined.
  std::vector<std::set<std::pair<std::size_t, std::size_t>>> by_degree;
  std::vector<std::size_t> since(nodes);
  std::size_t clock = 0;
  const auto put = [&](std::size_t v) {
    const std::size_t degree = near[v].size();
    if (by_degree.size() <= degree + 1) by_degree.resize(degree + 2);
    since[v] = clock++;
    by_degree[degree].emplace(since[v], v);
  };
  for (std::size_t v = 0; v < nodes; ++v) put(v);
  std::vector<std::int64_t> order;
  order.reserve(nodes);
  Adjacent joined;
  while (order.size() < nodes) {
    std::size_t degree = 0;
    while (by_degree[degree].empty()) ++degree;
    if (degree > most) return std::nullopt;
    std::size_t v = by_degree[degree].begin()->second;
    if (degree > 1) {
      std::pair<std::size_t, std::size_t> least{static_cast<std::size_t>(-1), 0};
      for (std::size_t d = degree; d <= std::min(degree + 1, most); ++d) {
        std::size_t seen = 0;
        for (const auto& [when, u] : by_degree[d]) {
          if (seen++ == kCandidates) break;
          least = std::min(least, {fill_of(near, u), u});
        }
      }
      v = least.second;
    }
    order.push_back(static_cast<std::int64_t>(v));
    by_degree[near[v].size()].erase({since[v], v});
    for (const std::uint32_t u : near[v]) {
      const std::size_t before = near[u].size();
      joined.clear();
      std::set_union(near[u].begin(), near[u].end(), near[v].begin(), near[v].end(),
                     std::back_inserter(joined));
      std::erase_if(joined, [&](std::uint32_t x) { return x == u || x == v; });
      near[u] = joined;
      if (near[u].size() == before) continue;
      by_degree[before].erase({since[u], u});
      put(u);
    }
    near[v].clear();
  }
  return order;
}

std::optional<std::vector<std::int64_t>> elimination_order(const Pairwise& m) {
  if (m.cliques.count > 0) return std::nullopt;
  const std::size_t most = widest(m.labels);
  if (m.height == 0) return min_fill_order(m.nodes, m.ends, m.n_edges, most);
  if (std::min(m.height, m.width) > most) return std::nullopt;
  std::vector<std::int64_t> order(m.nodes);
  const bool by_rows = m.height > m.width;
  for (std::size_t k = 0; k < m.nodes; ++k) {
    const std::size_t v = by_rows ? k : k % m.height * m.width + k / m.height;
    order[k] = static_cast<std::int64_t>(v);
  }
  return order;
}

std::shared_ptr<const Elimination> EliminationPlans::find(const Pairwise& m) {
  if (m.cliques.count > 0) return nullptr;
  if (m.height > 0 && std::min(m.height, m.width) > widest(m.labels)) return nullptr;
  std::string key;
  const std::array<std::size_t, 4> sizes{m.nodes, m.labels, m.height, m.width};
  append(key, sizes.data(), sizes.size());
  if (m.height == 0) append(key, m.ends, 2 * m.n_edges);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
  }
  std::shared_ptr<const Elimination> plan;
  if (const auto order = elimination_order(m)) {
    plan = std::make_shared<Elimination>(m.nodes, m.labels, ends_of(m), *order);
    if (!small_enough(m, plan->width())) plan = nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (held_ + m.nodes > kMostHeld) {
    plans_.clear();
    held_ = 0;
  }
  if (plans_.emplace(std::move(key), plan).second) held_ += m.nodes;
  return plan;
}

}  // namespace structlearn
