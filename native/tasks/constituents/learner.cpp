#include "tasks/constituents/learner.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tasks/constituents/sums.hpp"

namespace structlearn::text {
namespace {

constexpr TreeFeatures::Place kPlaces[] = {
    TreeFeatures::Place::kFirst, TreeFeatures::Place::kMiddle, TreeFeatures::Place::kLast};

std::size_t symbol_of(const TreeWeights& sizes, const TreeInput& input, const TreeNode& node) {
  return node.label > 0 ? node.label : sizes.labels + input.tag[node.i];
}

// Calls features(keys, label) for each family of each node, and pair(entry) for each label pair.
template <class Features, class Pair>
void walk(const TreeWeights& sizes, const TreeInput& input, const BinaryTree& tree,
          std::vector<std::uint64_t>& keys, Features&& features, Pair&& pair) {
  const TreeFeatures extract(input.tokens);
  // Whose children come next, the innermost last: (label, place of the next child).
  struct Parent {
    std::uint32_t label;
    std::size_t place;
  };
  std::vector<Parent> open;
  for (const TreeNode& node : tree) {
    if (open.empty()) {
      if (!(node.rest)) pair(sizes.root(symbol_of(sizes, input, node)));
    } else {
      const Parent above = open.back();
      open.pop_back();
      if (!node.rest) {
        pair(sizes.pair(above.place, symbol_of(sizes, input, node), above.label));
        keys.clear();
        extract.child(kPlaces[above.place], node.i, node.j, keys);
        features(keys, above.label);
      }
    }
    keys.clear();
    if (node.j - node.i == 1) {
      extract.word(node.i, keys);
    } else if (node.rest) {
      extract.rest(node.i, node.j, keys);
    } else {
      extract.node(node.i, node.j, keys);
    }
    features(keys, node.label);
    if (node.j - node.i > 1) {
      keys.clear();
      extract.split(node.i, node.split, node.j, keys);
      features(keys, node.label);
      open.push_back({node.label, 2});
      open.push_back({node.label, node.rest ? std::size_t{1} : std::size_t{0}});
    }
  }
}

}  // namespace

TreeLearner::TreeLearner(TreeWeights sizes, std::vector<TreeExample> examples,
                         std::size_t min_count, double cost, double rate, bool log_loss)
    : sizes_(sizes), examples_(std::move(examples)), cost_(cost), rate_(rate), log_loss_(log_loss) {
  // Features of the gold trees, those that come often enough.
  std::unordered_map<std::uint64_t, std::uint32_t> count;
  std::vector<std::uint64_t> found;
  for (const TreeExample& e : examples_) {
    walk(
        sizes_, e.input, e.gold, scratch_,
        [&](const std::vector<std::uint64_t>& keys, std::uint32_t) {
          for (const std::uint64_t key : keys) {
            if (++count[key] == min_count) keys_.push_back(key);
          }
        },
        [](std::size_t) {});
  }
  index_ = KeyIndex(keys_);
  weights_.assign(keys_.size() * sizes_.labels, 0.0f);
  sums_.assign(weights_.size(), 0.0f);
  if (rate_ > 0.0) squares_.assign(weights_.size(), 0.0f);
  table_.assign(sizes_.table_size(), 0.0);
  table_sums_.assign(table_.size(), 0.0);
  table_squares_.assign(table_.size(), 0.0);
}

void TreeLearner::collect(const TreeInput& input, const BinaryTree& tree, float amount) {
  walk(
      sizes_, input, tree, scratch_,
      [&](const std::vector<std::uint64_t>& keys, std::uint32_t label) {
        for (const std::uint64_t key : keys) {
          const std::uint32_t row = index_.find(key);
          if (row != KeyIndex::kAbsent) {
            changes_.push_back({static_cast<std::uint64_t>(row) * sizes_.labels + label, amount});
          }
        }
      },
      [&](std::size_t entry) { changes_.push_back({weights_.size() + entry, amount}); });
}

void TreeLearner::step(std::size_t place, double gradient) {
  if (place < weights_.size()) {
    double by = gradient;
    if (rate_ > 0.0) {
      squares_[place] += static_cast<float>(gradient * gradient);
      by = rate_ * gradient / std::sqrt(static_cast<double>(squares_[place]));
    }
    weights_[place] += static_cast<float>(by);
    sums_[place] += static_cast<float>(steps_ * by);
    return;
  }
  place -= weights_.size();
  double by = gradient;
  if (rate_ > 0.0) {
    table_squares_[place] += gradient * gradient;
    by = rate_ * gradient / std::sqrt(table_squares_[place]);
  }
  table_[place] += by;
  table_sums_[place] += steps_ * by;
}

bool TreeLearner::step_all() {
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.place < b.place; });
  bool any = false;
  for (std::size_t c = 0; c < changes_.size();) {
    const std::uint64_t place = changes_[c].place;
    double total = 0.0;
    for (; c < changes_.size() && changes_[c].place == place; ++c) total += changes_[c].amount;
    if (total != 0.0) {
      any = true;
      step(place, total);
    }
  }
  steps_ += 1.0;
  return any;
}

bool TreeLearner::epoch(std::span<const std::uint32_t> order, Interrupt& interrupt,
                        std::size_t* wrong) {
  constexpr double kSmall = 1e-4;  // an expected count that is not worth a step
  // Expected features, taken away.
  struct Expected : TreeCounts {
    explicit Expected(TreeLearner& owner) : learner(owner) {}
    TreeLearner& learner;
    void features(std::span<const std::uint64_t> keys, const double* p) override {
      const std::size_t R = learner.sizes_.labels;
      for (const std::uint64_t key : keys) {
        const std::uint32_t row = learner.index_.find(key);
        if (row == KeyIndex::kAbsent) continue;
        for (std::size_t x = 0; x < R; ++x) {
          if (p[x] > kSmall) {
            learner.changes_.push_back(
                {static_cast<std::uint64_t>(row) * R + x, -static_cast<float>(p[x])});
          }
        }
      }
    }
    void pair(std::size_t entry, double p) override {
      learner.changes_.push_back({learner.weights_.size() + entry, -static_cast<float>(p)});
    }
  };
  TreeChart chart(sizes_, index_, weights_.data(), table_.data());
  TreeSums sums(sizes_, index_, weights_.data(), table_.data());
  Expected expected(*this);
  BinaryTree found;
  *wrong = 0;
  for (const std::uint32_t e : order) {
    if (interrupt.requested()) return false;
    const TreeExample& example = examples_[e];
    changes_.clear();
    collect(example.input, example.gold, 1.0f);
    if (log_loss_) {
      double gold = 0.0;
      for (const Change& c : changes_) {
        gold += c.place < weights_.size() ? static_cast<double>(weights_[c.place])
                                          : table_[c.place - weights_.size()];
      }
      *wrong += sums.inside(example.input) - gold > std::log(2.0);
      sums.outside(example.input, kSmall, &expected);
      step_all();
    } else {
      chart.parse(example.input, found, &example.gold, cost_);
      collect(example.input, found, -1.0f);
      *wrong += step_all();
    }
  }
  return true;
}

void TreeLearner::average(std::vector<float>& rows, std::vector<double>& table) const {
  rows.resize(weights_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<float>(weights_[i] - sums_[i] / steps_);
  }
  table.resize(table_.size());
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = table_[i] - table_sums_[i] / steps_;
}

}  // namespace structlearn::text
