#include "tasks/constituents/chart.hpp"

#include <algorithm>
#include <bit>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"

namespace structlearn::text {

KeyIndex::KeyIndex(std::span<const std::uint64_t> keys) {
  const std::size_t size = std::bit_ceil(2 * keys.size() + 2);
  mask_ = size - 1;
  key_.assign(size, 0);
  row_.assign(size, kAbsent);
  for (std::size_t r = 0; r < keys.size(); ++r) {
    std::size_t at = keys[r] & mask_;
    while (key_[at] != 0) at = (at + 1) & mask_;
    key_[at] = keys[r];
    row_[at] = static_cast<std::uint32_t>(r);
  }
}

BinaryTree binary_tree(std::span<const TreeSpan> spans, std::size_t n) {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ends(n);  // inner ones first
  for (std::size_t s = spans.size(); s-- > 0;) {
    ends[spans[s].begin].emplace_back(spans[s].end, spans[s].label);
  }
  for (auto& list : ends) std::sort(list.begin(), list.end());
  struct Open {
    std::uint32_t i, j, parent;
    bool may_be_rest;
  };
  BinaryTree tree;
  std::vector<Open> open{{0, static_cast<std::uint32_t>(n), 0, false}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    auto& list = ends[at.i];
    const bool labelled = !list.empty() && list.back().first == at.j;
    TreeNode node{at.i, at.j, 0, labelled ? list.back().second : 0, false};
    if (labelled) list.pop_back();
    if (at.j - at.i > 1) {
      if (!labelled) {
        node.label = at.parent;
        node.rest = at.may_be_rest;
      }
      node.split = list.empty() ? at.i + 1 : list.back().first;
      open.push_back({node.split, at.j, node.label, true});
      open.push_back({at.i, node.split, node.label, false});
    }
    tree.push_back(node);
  }
  return tree;
}

void labelled_spans(const BinaryTree& tree, std::vector<TreeSpan>& spans) {
  spans.clear();
  for (const TreeNode& node : tree) {
    if (node.label > 0 && !node.rest) spans.push_back({node.i, node.j, node.label});
  }
}

void TreeChart::add(double* out) {
  rows_.clear();
  for (const std::uint64_t key : keys_) {
    const std::uint32_t row = index_.find(key);
    if (row != KeyIndex::kAbsent) {
      rows_.push_back(weights_ + static_cast<std::size_t>(row) * sizes_.labels);
    }
  }
  kernels().add_rows(nullptr, 0, rows_.data(), rows_.size(), sizes_.labels, out);
  keys_.clear();
}

void TreeChart::as_child(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j,
                         double* out) {
  const std::size_t R = sizes_.labels;
  const double* from = node_.data() + at(i, j);
  kernels().max_step(from + 1, table_ + sizes_.pair(place, 1, 0), out, R - 1, 1, R);
  if (j == i + 1) {
    kernels().max_plus(from[0], table_ + sizes_.pair(place, R + input.tag[i], 0), out, R);
  }
  constexpr TreeFeatures::Place kPlaces[] = {
      TreeFeatures::Place::kFirst, TreeFeatures::Place::kMiddle, TreeFeatures::Place::kLast};
  TreeFeatures(input.tokens).child(kPlaces[place], i, j, keys_);
  add(out);
}

std::uint32_t TreeChart::child_label(const TreeInput& input, std::size_t place, std::size_t i,
                                     std::size_t j, std::size_t parent) const {
  const std::size_t R = sizes_.labels;
  const double* from = node_.data() + at(i, j);
  const auto score = [&](std::size_t label) {
    const std::size_t symbol = label == 0 ? R + input.tag[i] : label;
    return from[label] + table_[sizes_.pair(place, symbol, parent)];
  };
  std::size_t best = j == i + 1 ? 0 : 1;
  for (std::size_t label = best + 1; label < R; ++label) {
    if (score(label) > score(best)) best = label;
  }
  return static_cast<std::uint32_t>(best);
}

double TreeChart::parse(const TreeInput& input, BinaryTree& tree, const BinaryTree* gold,
                        double cost) {
  const std::size_t n = n_ = input.tokens.size(), R = sizes_.labels;
  const std::size_t size = n * (n + 1) * R;
  for (auto* chart : {&node_, &first_, &middle_, &follow_}) {
    if (chart->size() < size) chart->resize(size);
  }
  for (auto* splits : {&node_split_, &follow_split_}) {
    if (splits->size() < size) splits->resize(size);
  }
  scores_.resize(3 * R);
  const TreeFeatures features(input.tokens);
  std::vector<std::uint32_t> right(gold ? n * (n + 1) : 0);
  for (const TreeNode& g : gold ? *gold : BinaryTree{}) {
    if (!g.rest) right[g.i * (n + 1) + g.j] = g.label;
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j <= n; ++j) {
      double* node = node_.data() + at(i, j);
      double* follow = follow_.data() + at(i, j);
      std::int32_t* node_split = node_split_.data() + at(i, j);
      std::int32_t* follow_split = follow_split_.data() + at(i, j);
      double *split = scores_.data(), *span = split + R, *rest = span + R;
      std::fill(span, span + R, 0.0);
      if (j == i + 1) {
        features.word(i, keys_);
        add(span);
        std::copy(span, span + R, node);
        std::fill(node_split, node_split + R, 0);
      } else {
        std::fill(node, node + R, kMinusInfinity);
        std::fill(follow, follow + R, kMinusInfinity);
        for (std::size_t k = i + 1; k < j; ++k) {
          std::fill(split, split + R, 0.0);
          features.split(i, k, j, keys_);
          add(split);
          const double* first = first_.data() + at(i, k);
          const double* middle = middle_.data() + at(i, k);
          const double* after = follow_.data() + at(k, j);
          const auto place = static_cast<std::int32_t>(k);
          for (std::size_t x = 0; x < R; ++x) {
            const double both = after[x] + split[x], a = first[x] + both, b = middle[x] + both;
            node_split[x] = a > node[x] ? place : node_split[x];
            node[x] = a > node[x] ? a : node[x];
            follow_split[x] = b > follow[x] ? place : follow_split[x];
            follow[x] = b > follow[x] ? b : follow[x];
          }
        }
        features.node(i, j, keys_);
        add(span);
        for (std::size_t x = 0; x < R; ++x) node[x] += span[x];
        node[0] = kMinusInfinity;
        std::fill(rest, rest + R, 0.0);
        features.rest(i, j, keys_);
        add(rest);
        for (std::size_t x = 0; x < R; ++x) follow[x] += rest[x];
      }
      if (gold) {
        const std::uint32_t label = right[i * (n + 1) + j];
        for (std::size_t x = 1; x < R; ++x) node[x] += x == label ? -cost : cost;
      }
      if (i > 0 || j < n) {
        as_child(input, 0, i, j, first_.data() + at(i, j));
        as_child(input, 1, i, j, middle_.data() + at(i, j));
        if (j == i + 1) {
          as_child(input, 2, i, j, follow);
          std::fill(follow_split, follow_split + R, -1);
        } else {
          as_child(input, 2, i, j, rest);
          for (std::size_t x = 0; x < R; ++x) {
            follow_split[x] = rest[x] >= follow[x] ? -1 : follow_split[x];
            follow[x] = rest[x] >= follow[x] ? rest[x] : follow[x];
          }
        }
      }
    }
  }
  const double* whole = node_.data() + at(0, n);
  const auto root = [&](std::size_t label) {
    return whole[label] + table_[sizes_.root(label == 0 ? R + input.tag[0] : label)];
  };
  std::uint32_t best = n == 1 ? 0 : 1;
  for (std::uint32_t label = best + 1; label < R; ++label) {
    if (root(label) > root(best)) best = label;
  }
  tree.clear();
  std::vector<TreeNode> open{{0, static_cast<std::uint32_t>(n), 0, best, false}};
  while (!open.empty()) {
    TreeNode now = open.back();
    open.pop_back();
    if (now.j - now.i > 1) {
      const auto& splits = now.rest ? follow_split_ : node_split_;
      const std::uint32_t k = now.split =
          static_cast<std::uint32_t>(splits[at(now.i, now.j) + now.label]);
      const bool rest = now.j - k > 1 && follow_split_[at(k, now.j) + now.label] >= 0;
      const std::uint32_t last = rest ? now.label : child_label(input, 2, k, now.j, now.label);
      open.push_back({k, now.j, 0, last, rest});
      open.push_back(
          {now.i, k, 0, child_label(input, now.rest ? 1 : 0, now.i, k, now.label), false});
    }
    tree.push_back(now);
  }
  return root(best);
}

}  // namespace structlearn::text
