// Message passing on graphs with cycles: sweeps back and forth over the nodes in order.
//
// For maxima, messages are scores: m(k) = max_j h(j) - m'(j) + s(j, k), h the sum of a node's
// scores and messages, m' the message in the other direction; tree-reweighted, h is divided by the
// number of chains through the node, and the normalisations sum to a bound (Kolmogorov 2006). For
// sums, messages are probabilities up to a factor, so that no exponential is left in the loop.
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "structures/graphs/pairwise.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kNoTable = static_cast<std::size_t>(-1), kNoEdge = kNoTable;

// An edge seen from one of its nodes. Message 2e goes to the later node, 2e + 1 to the earlier.
struct Link {
  std::uint32_t edge, other;
  bool first;  // this node is the edge's first
};

class Sweeper {
 public:
  Sweeper(const Pairwise& m, const MessageSettings& settings) : m_(m), s_(settings), K_(m.labels) {
    read_tables();
    start_.assign(m.nodes + 1, 0);
    for (std::size_t e = 0; e < m.n_edges; ++e) {
      for (const std::size_t v : m.edge(e)) ++start_[v + 1];
    }
    for (std::size_t v = 0; v < m.nodes; ++v) start_[v + 1] += start_[v];
    links_.resize(2 * m.n_edges);
    std::vector<std::size_t> at(start_.begin(), start_.end() - 1);
    for (std::size_t e = 0; e < m.n_edges; ++e) {
      const auto [p, q] = m.edge(e);
      if (p == q) throw std::invalid_argument("an edge from a node to itself");
      const auto id = static_cast<std::uint32_t>(e);
      links_[at[p]++] = {id, static_cast<std::uint32_t>(q), true};
      links_[at[q]++] = {id, static_cast<std::uint32_t>(p), false};
    }
    const double neutral = sum() ? 1.0 : 0.0;
    messages_.assign(2 * m.n_edges * K_, neutral);
    held_.resize(K_);
    out_.resize(K_);
    total_.resize(K_);
    weight_.assign(m.nodes, 1.0);
    if (s_.reweighted) {
      for (std::size_t v = 0; v < m.nodes; ++v) {
        std::size_t later = 0;
        for (const Link& l : links_of(v)) later += l.other > v;
        const std::size_t chains = std::max(later, links_of(v).size() - later);
        weight_[v] = 1.0 / static_cast<double>(std::max<std::size_t>(1, chains));
      }
    }
  }

  MessageResult run(std::vector<std::int32_t>& y, Interrupt* interrupt) {
    MessageResult result;
    result.bound = std::numeric_limits<double>::infinity();
    double best = kMinusInfinity;
    std::vector<std::int32_t> labels(m_.nodes);
    y.assign(m_.nodes, 0);
    for (result.rounds = 0; result.rounds < s_.max_rounds && !result.converged;) {
      change_ = 0.0;
      double bound = 0.0;
      for (std::size_t v = 0; v < m_.nodes; ++v) {
        if ((v & 1023) == 0 && interrupt != nullptr && interrupt->requested()) {
          result.complete = false;
          return result;
        }
        if (!sum()) choose(v, labels);
        send(v, true, bound);
      }
      bound = 0.0;
      for (std::size_t v = m_.nodes; v-- > 0;) send(v, false, bound);
      ++result.rounds;
      if (!sum()) {
        const double value = m_.score(labels.data());
        if (value > best || result.rounds == 1) {
          best = value;
          y = labels;
        }
      }
      if (s_.reweighted) {
        // The remainder of the nodes' own scores is at most the sum of their maxima.
        const double gained = result.bound - bound;
        if (bound < result.bound) result.bound = bound;
        // "Small" is relative to the gap, since scores have no unit. Without a labelling there is
        // no gap.
        const double left = best > kMinusInfinity ? result.bound - best : std::fabs(result.bound);
        result.converged =
            result.bound <= best || (result.rounds > 1 && gained <= s_.tolerance * left);
      } else {
        result.converged = change_ <= s_.tolerance;
      }
    }
    return result;
  }

  void beliefs(double* node, double* pair, std::vector<std::int32_t>& y) {
    for (std::size_t v = 0; v < m_.nodes; ++v) {
      gather(v);
      if (sum()) {
        double total = 0.0;
        for (const double x : total_) total += x;
        for (double& x : total_) x /= total;
        y[v] = static_cast<std::int32_t>(std::max_element(total_.begin(), total_.end()) -
                                         total_.begin());
      }
      std::copy(total_.begin(), total_.end(), node + v * K_);
    }
    if (pair == nullptr || !sum()) return;
    std::vector<double> mine(K_), theirs(K_);
    for (std::size_t e = 0; e < m_.n_edges; ++e) {
      const auto [p, q] = m_.edge(e);
      without(p, e, q, mine);
      without(q, e, p, theirs);
      const double* table = table_of(e);
      double* out = pair + e * K_ * K_;
      double total = 0.0;
      for (std::size_t a = 0; a < K_; ++a) {
        for (std::size_t b = 0; b < K_; ++b) {
          total += out[a * K_ + b] = mine[a] * table[a * K_ + b] * theirs[b];
        }
      }
      for (std::size_t i = 0; i < K_ * K_; ++i) out[i] /= total;
    }
  }

 private:
  bool sum() const { return s_.temperature > 0.0; }
  std::span<const Link> links_of(std::size_t v) const {
    return {links_.data() + start_[v], links_.data() + start_[v + 1]};
  }
  double* message(std::size_t e, std::size_t from, std::size_t to) {
    return messages_.data() + (2 * e + (from > to)) * K_;
  }
  const double* table_of(std::size_t e) const { return tables_.data() + place_[e] * K_ * K_; }
  const double* turned(std::size_t e) const { return turned_.data() + place_[e] * K_ * K_; }

  // The tables as [from, to] and transposed; their exponentials for sums.
  void read_tables() {
    place_.resize(m_.n_edges);
    std::array<std::size_t, 2> shared{kNoTable, kNoTable};
    std::size_t n = 0;
    for (std::size_t e = 0; e < m_.n_edges; ++e) {
      const std::size_t g = e >= m_.pairs[0].count;
      if (m_.pairs[g].step == 0) {
        if (shared[g] == kNoTable) shared[g] = n++;
        place_[e] = shared[g];
      } else {
        place_[e] = n++;
      }
    }
    tables_.resize(n * K_ * K_);
    turned_.resize(n * K_ * K_);
    std::vector<bool> done(n, false);
    for (std::size_t e = 0; e < m_.n_edges; ++e) {
      if (done[place_[e]]) continue;
      done[place_[e]] = true;
      double* table = tables_.data() + place_[e] * K_ * K_;
      double* other = turned_.data() + place_[e] * K_ * K_;
      double top = kMinusInfinity;
      for (std::size_t a = 0; a < K_; ++a) {
        for (std::size_t b = 0; b < K_; ++b) {
          table[a * K_ + b] = m_.pair_score(e, a, b);
          top = std::max(top, table[a * K_ + b]);
        }
      }
      if (sum() && top > kMinusInfinity) {
        for (std::size_t i = 0; i < K_ * K_; ++i) {
          table[i] = elementary::exp((table[i] - top) / s_.temperature);
        }
      }
      for (std::size_t a = 0; a < K_; ++a) {
        for (std::size_t b = 0; b < K_; ++b) other[b * K_ + a] = table[a * K_ + b];
      }
    }
    if (!sum()) return;
    own_.resize(m_.nodes * K_);
    for (std::size_t v = 0; v < m_.nodes; ++v) {
      const double* score = m_.label + v * K_;
      const double top = *std::max_element(score, score + K_);
      if (top == kMinusInfinity)
        throw Infeasible("no legal output is left: every output scores -inf");
      for (std::size_t k = 0; k < K_; ++k) {
        own_[v * K_ + k] = elementary::exp((score[k] - top) / s_.temperature);
      }
    }
  }

  // total_: a node's own scores plus all incoming messages.
  void gather(std::size_t v) {
    if (sum()) return without(v, kNoEdge, v, total_);
    std::copy(m_.label + v * K_, m_.label + (v + 1) * K_, total_.begin());
    for (const Link& l : links_of(v)) {
      const double* in = message(l.edge, l.other, v);
      for (std::size_t k = 0; k < K_; ++k) total_[k] += in[k];
    }
  }

  [[noreturn]] static void too_far_apart() {
    throw Infeasible(
        "no legal output is left, or the scores lie too far apart for message passing at this "
        "temperature");
  }

  // The same without the message of `other`, as probabilities: a product, as messages may be 0.
  void without(std::size_t v, std::size_t e, std::size_t other, std::vector<double>& out) {
    std::copy(own_.data() + v * K_, own_.data() + (v + 1) * K_, out.begin());
    for (const Link& l : links_of(v)) {
      if (l.edge == e && l.other == other) continue;
      const double* in = message(l.edge, l.other, v);
      double top = 0.0;
      for (std::size_t k = 0; k < K_; ++k) top = std::max(top, out[k] *= in[k]);
      if (!(top > 0.0)) too_far_apart();
      if (top < 1e-100) {
        for (double& x : out) x /= top;
      }
    }
  }

  // The best label given those of the earlier neighbours, and the messages of the later ones.
  void choose(std::size_t v, std::vector<std::int32_t>& labels) {
    std::copy(m_.label + v * K_, m_.label + (v + 1) * K_, total_.begin());
    for (const Link& l : links_of(v)) {
      if (l.other < v) {
        const double* row = (l.first ? turned(l.edge) : table_of(l.edge)) +
                            static_cast<std::size_t>(labels[l.other]) * K_;
        for (std::size_t k = 0; k < K_; ++k) total_[k] += row[k];
      } else {
        const double* in = message(l.edge, l.other, v);
        for (std::size_t k = 0; k < K_; ++k) total_[k] += in[k];
      }
    }
    labels[v] =
        static_cast<std::int32_t>(std::max_element(total_.begin(), total_.end()) - total_.begin());
  }

  // Messages of a node to its later (or earlier) neighbours.
  void send(std::size_t v, bool forth, double& bound) {
    if (!sum()) gather(v);
    if (s_.reweighted) {
      const double top = *std::max_element(total_.begin(), total_.end());
      bound += top;
      if (top > kMinusInfinity) {
        for (double& x : total_) x = (x - top) * weight_[v];
      }
    }
    for (const Link& l : links_of(v)) {
      if ((l.other > v) != forth) continue;
      double* out = message(l.edge, v, l.other);
      // Read as [the other's label, ours]: sums over our labels run along rows of the twin table.
      const double* table = l.first ? table_of(l.edge) : turned(l.edge);
      if (sum()) {
        without(v, l.edge, l.other, held_);
        send_sum(table, out);
      } else {
        const double* back = message(l.edge, l.other, v);
        for (std::size_t k = 0; k < K_; ++k) {
          held_[k] = back[k] == kMinusInfinity ? kMinusInfinity : total_[k] - back[k];
        }
        send_max(table, out, bound);
      }
    }
  }

  void send_sum(const double* table, double* out) {
    std::fill(out_.begin(), out_.end(), 0.0);
    for (std::size_t j = 0; j < K_; ++j) {
      const double h = held_[j];
      const double* row = table + j * K_;
      for (std::size_t k = 0; k < K_; ++k) out_[k] += h * row[k];
    }
    const double top = *std::max_element(out_.begin(), out_.end());
    if (!(top > 0.0)) too_far_apart();
    for (std::size_t k = 0; k < K_; ++k) {
      const double fresh = out_[k] / top;
      change_ = std::max(change_, std::fabs(fresh - out[k]));
      out[k] = s_.damping * out[k] + (1.0 - s_.damping) * fresh;
    }
  }

  void send_max(const double* table, double* out, double& bound) {
    std::fill(out_.begin(), out_.end(), kMinusInfinity);
    for (std::size_t j = 0; j < K_; ++j) {
      const double h = held_[j];
      const double* row = table + j * K_;
      for (std::size_t k = 0; k < K_; ++k) out_[k] = std::max(out_[k], h + row[k]);
    }
    const double top = *std::max_element(out_.begin(), out_.end());
    if (s_.reweighted) bound += top;
    for (std::size_t k = 0; k < K_; ++k) {
      const double fresh = top == kMinusInfinity ? kMinusInfinity : out_[k] - top;
      if (std::isfinite(fresh) && std::isfinite(out[k])) {
        change_ = std::max(change_, std::fabs(fresh - out[k]));
        out[k] = s_.damping * out[k] + (1.0 - s_.damping) * fresh;
      } else {
        change_ = std::max(change_, fresh == out[k] ? 0.0 : 1.0);
        out[k] = fresh;
      }
    }
  }

  const Pairwise& m_;
  const MessageSettings s_;
  std::size_t K_;
  std::vector<double> tables_, turned_, own_, messages_, weight_;
  std::vector<std::size_t> place_, start_;
  std::vector<Link> links_;
  std::vector<double> held_, out_, total_;
  double change_ = 0.0;
};

}  // namespace

MessageResult pass_messages(const Pairwise& m, const MessageSettings& settings,
                            std::vector<std::int32_t>& y, double* belief, double* pair_belief,
                            Interrupt* interrupt) {
  Sweeper sweeper(m, settings);
  const MessageResult result = sweeper.run(y, interrupt);
  if (result.complete && belief != nullptr) sweeper.beliefs(belief, pair_belief, y);
  return result;
}

}  // namespace structlearn
