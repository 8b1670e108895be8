#include <algorithm>
#include <vector>

#include "structures/chains/chain.hpp"
#include "structures/chains/chain_view.hpp"

namespace structlearn {
namespace {

// A prefix in the beam: its last labels, and the previous prefix that it extends.
struct Prefix {
  double score;
  double arrived;      // before the scores of its position were added, for ties as in Viterbi
  std::size_t window;  // the last min(t + 1, order) labels, the newest varying fastest
  std::uint32_t label, from;
};

// The beam of each position. Prefixes are sorted by their windows, so that ties go to the first
// label, as in Viterbi.
class Search {
 public:
  Search(const Layout& layout, const Scores& scores, std::size_t width)
      : v_(layout, scores), width_(width), beams_(v_.L) {
    seen_.assign(v_.order == 0 ? 1 : v_.states, kNone);
  }

  std::size_t length() const { return v_.L; }
  bool pruned() const { return pruned_; }
  const std::vector<Prefix>& at(std::size_t t) const { return beams_[t]; }

  // The score of label k at position t after the window, without the top order.
  double node(double score, std::size_t t, std::size_t k, std::size_t window) const {
    score += v_.label[t * v_.K + k];
    if (t == 0 && v_.start != nullptr) score += v_.start[k];
    if (t == v_.L - 1 && v_.end != nullptr) score += v_.end[k];
    for (std::size_t j = 1; j < v_.order && j <= t; ++j) {
      if (v_.table[j].data != nullptr) score += v_.at(j, t)[window % v_.table[j].size];
    }
    return score;
  }

  // The prefix made by adding label k to one that ends at position t - 1.
  Prefix extend(double score, std::size_t before, std::size_t t, std::size_t k) const {
    Prefix next{score, score, 0, static_cast<std::uint32_t>(k), 0};
    if (v_.order > 0) {
      if (t >= v_.order) next.arrived += v_.top(t)[before * v_.K + k];
      next.window = (t >= v_.order ? before % v_.stay : before) * v_.K + k;
    }
    next.score = node(next.arrived, t, k, next.window);
    return next;
  }

  // Fills the beam of position t; false if it would be empty.
  bool step(std::size_t t) {
    std::vector<Prefix>& beam = beams_[t];
    beam.clear();
    const Prefix nothing{0.0, 0.0, 0, 0, 0};
    const std::span<const Prefix> before =
        t == 0 ? std::span<const Prefix>(&nothing, 1) : std::span<const Prefix>(beams_[t - 1]);
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t k = 0; k < v_.K; ++k) {
        Prefix next = extend(before[i].score, before[i].window, t, k);
        if (next.score == kMinusInfinity) continue;
        next.from = static_cast<std::uint32_t>(i);
        std::uint32_t& slot = seen_[next.window];
        if (slot == kNone) {
          slot = static_cast<std::uint32_t>(beam.size());
          beam.push_back(next);
        } else if (better(next, beam[slot])) {
          beam[slot] = next;
        }
      }
    }
    for (const Prefix& p : beam) seen_[p.window] = kNone;
    if (beam.size() > width_) {
      pruned_ = true;
      const auto first = [](const Prefix& a, const Prefix& b) {
        return a.score > b.score || (a.score == b.score && a.window < b.window);
      };
      std::nth_element(beam.begin(), beam.begin() + static_cast<std::ptrdiff_t>(width_), beam.end(),
                       first);
      beam.resize(width_);
    }
    std::sort(beam.begin(), beam.end(),
              [](const Prefix& a, const Prefix& b) { return a.window < b.window; });
    return !beam.empty();
  }

  std::size_t best(std::size_t t) const {
    const std::vector<Prefix>& beam = beams_[t];
    std::size_t best = 0;
    for (std::size_t i = 1; i < beam.size(); ++i) {
      if (beam[i].score > beam[best].score) best = i;
    }
    return best;
  }

  bool has(std::size_t t, std::size_t window) const {
    const std::vector<Prefix>& beam = beams_[t];
    const auto found =
        std::lower_bound(beam.begin(), beam.end(), window,
                         [](const Prefix& p, std::size_t w) { return p.window < w; });
    return found != beam.end() && found->window == window;
  }

  // The labels of the best prefix that ends at position t.
  void trace(std::size_t t, Output& y) const {
    y.resize(t + 1);
    std::size_t i = best(t);
    for (std::size_t s = t + 1; s-- > 0;) {
      y[s] = static_cast<std::int32_t>(beams_[s][i].label);
      i = beams_[s][i].from;
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Prefixes with the same window have the same future. Below the top order nothing merges; when
  // two merge, Viterbi compares their scores before the common ones.
  bool better(const Prefix& a, const Prefix& b) const {
    return v_.order == 0 ? a.score > b.score : a.arrived > b.arrived;
  }

  ChainView v_;
  std::size_t width_;
  bool pruned_ = false;
  std::vector<std::vector<Prefix>> beams_;
  std::vector<std::uint32_t> seen_;  // by window: its place in the growing beam
};

// The gold prefix at each position, as the search would score it.
std::vector<Prefix> gold_prefixes(const Search& search, const Output& y) {
  std::vector<Prefix> prefixes;
  Prefix at{0.0, 0.0, 0, 0, 0};
  for (std::size_t t = 0; t < y.size(); ++t) {
    at = search.extend(at.score, at.window, t, static_cast<std::size_t>(y[t]));
    prefixes.push_back(at);
  }
  return prefixes;
}

}  // namespace

BeamOutput Chain::beam(const Layout& layout, const Scores& scores, std::size_t width, Output& y,
                       Workspace&) const {
  for (;; width *= 2) {
    Search search(layout, scores, width);
    const std::size_t L = search.length();
    std::size_t t = 0;
    while (t < L && search.step(t)) ++t;
    if (t == L) {
      search.trace(L - 1, y);
      return {search.at(L - 1)[search.best(L - 1)].score, search.pruned()};
    }
    if (!search.pruned()) return {};
  }
}

Violation Chain::violation(const Layout& layout, const Scores& scores,
                           std::span<const std::uint32_t> gold_parts, const BeamSettings& settings,
                           Workspace& ws) const {
  enum Scratch { kFound, kGold };
  Output &y = ws.integer[kFound], &gold = ws.integer[kGold];
  const Block& label = layout.block[kLabel];
  gold.assign(label.sites, 0);
  for (const std::uint32_t j : gold_parts) {
    if (j < label.offset || j >= label.offset + label.size()) continue;
    const std::size_t local = j - label.offset;
    gold[local / label.outcomes] = static_cast<std::int32_t>(local % label.outcomes);
  }
  const auto updating = [&](const Search& search, std::size_t t, const Prefix& known) {
    Violation found;
    found.amount = search.at(t)[search.best(t)].score - known.score;
    search.trace(t, y);
    encode_prefix(layout, y, found.found);
    encode_prefix(layout, {gold.data(), t + 1}, found.gold);
    return found;
  };
  for (std::size_t width = settings.width;; width *= 2) {
    Search search(layout, scores, width);
    const std::size_t L = search.length();
    const std::vector<Prefix> known = gold_prefixes(search, gold);
    std::size_t worst = 0;
    double most = kMinusInfinity;
    std::size_t t = 0;
    for (; t < L && search.step(t); ++t) {
      if (settings.update_at == UpdateAt::kEarly && !search.has(t, known[t].window)) {
        return updating(search, t, known[t]);
      }
      const double amount = search.at(t)[search.best(t)].score - known[t].score;
      if (amount >= most) {
        most = amount;
        worst = t;
      }
    }
    if (t < L) {
      if (search.pruned()) continue;
      return {kMinusInfinity, {}, {}};
    }
    search.trace(L - 1, y);
    if (y == gold) return {};
    if (settings.update_at != UpdateAt::kMaxViolation) worst = L - 1;
    return updating(search, worst, known[worst]);
  }
}

}  // namespace structlearn
