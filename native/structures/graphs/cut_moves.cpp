// Moves of many labels at once, each the best of its kind by one cut.
#include <algorithm>

#include "structures/graphs/cuts.hpp"

namespace structlearn {
namespace {

// A node's options in a move: its own label and another, or none.
struct Move {
  std::int32_t alpha, beta;  // beta < 0: an expansion of alpha
  bool swap() const { return beta >= 0; }
  bool takes_part(std::int32_t k) const { return swap() ? k == alpha || k == beta : true; }
  std::size_t first(std::int32_t k) const { return static_cast<std::size_t>(swap() ? beta : k); }
  std::size_t second() const { return static_cast<std::size_t>(alpha); }
};

template <class Network>
class Climber {
 public:
  Climber(Network& net, const Pairwise& m, std::vector<std::int32_t>& y, Interrupt* interrupt)
      : net_(net),
        m_(m),
        y_(y),
        interrupt_(interrupt),
        forbidden_(m.forbidding_cost()),
        cost_now_(cost_of(y)) {}

  MoveResult run(const MoveSettings& settings) {
    std::vector<Move> moves;
    const auto K = static_cast<std::int32_t>(m_.labels);
    for (std::int32_t a = 0; a < K; ++a) {
      if (!settings.swap) moves.push_back({a, -1});
      for (std::int32_t b = a + 1; settings.swap && b < K; ++b) moves.push_back({a, b});
    }
    // Until each move in a row has failed.
    std::size_t in_vain = 0, tried = 0;
    result_.converged = moves.empty();
    while (!moves.empty() && tried < settings.max_cycles * moves.size()) {
      const bool gained = try_move(moves[tried++ % moves.size()]);
      if (!result_.complete) return result_;
      in_vain = gained ? 0 : in_vain + 1;
      if (in_vain == moves.size()) {
        result_.converged = true;
        break;
      }
    }
    return result_;
  }

 private:
  double cost(double score) const { return score == kMinusInfinity ? forbidden_ : -score; }
  double pair_cost(std::size_t e, std::size_t a, std::size_t b) const {
    return cost(m_.pair_score(e, a, b));
  }

  double cost_of(const std::vector<std::int32_t>& y) {
    double total = 0.0;
    for (std::size_t v = 0; v < m_.nodes; ++v) {
      total += cost(m_.node_score(v, static_cast<std::size_t>(y[v])));
    }
    net_.for_each_edge([&](std::size_t e, std::size_t p, std::size_t q, std::size_t, std::int32_t) {
      total += pair_cost(e, static_cast<std::size_t>(y[p]), static_cast<std::size_t>(y[q]));
    });
    return total - m_.clique_score(y.data());
  }

  bool try_move(const Move& move) {
    net_.clear();
    net_.for_each_node([&](std::size_t v, std::size_t at) {
      if (!move.takes_part(y_[v])) return;
      net_.excess(at) =
          cost(m_.node_score(v, move.second())) - cost(m_.node_score(v, move.first(y_[v])));
    });
    net_.for_each_edge([&](std::size_t e, std::size_t p, std::size_t q, std::size_t at,
                           std::int32_t arc) { add_edge(move, e, y_[p], y_[q], at, arc); });
    add_cliques(net_, m_, [&](std::size_t c) { return clique_term(move, c); }, y_.data());
    MaxFlow<Network> flow(net_);
    result_.complete = flow.run(interrupt_);
    if (!result_.complete) return false;
    proposal_ = y_;
    bool changed = false;
    net_.for_each_node([&](std::size_t v, std::size_t at) {
      if (!move.takes_part(y_[v])) return;
      proposal_[v] =
          flow.on_sink_side(at) ? move.alpha : static_cast<std::int32_t>(move.first(y_[v]));
      changed |= proposal_[v] != y_[v];
    });
    if (!changed) return false;
    const double cost = cost_of(proposal_);
    if (!(cost < cost_now_)) return false;
    cost_now_ = cost;
    y_.swap(proposal_);
    return true;
  }

  CliqueTerm clique_term(const Move& move, std::size_t c) const {
    const double* reward = m_.cliques.reward + c * m_.labels;
    const double slack = m_.cliques.slack[c];
    const std::int64_t *first = m_.cliques.members + m_.cliques.start[c],
                       *last = m_.cliques.members + m_.cliques.start[c + 1];
    CliqueTerm term;
    if (move.swap()) {
      const auto still =
          std::count_if(first, last, [&](std::int64_t v) { return !move.takes_part(y_[v]); });
      const double share = 1.0 - static_cast<double>(still) / slack;
      if (share <= 0.0) return term;
      term.moving = {move.alpha, move.beta};
      set_zero(term, reward[move.beta], share, slack);
      set_one(term, reward[move.alpha], share, slack);
      return term;
    }
    const auto [label, missing] = m_.cliques.common(c, y_.data());
    if (label == move.alpha && missing == 0.0) return term;  // it already has its maximum
    term.decided = move.alpha;
    set_one(term, reward[move.alpha], 1.0, slack);
    const double share = 1.0 - missing / slack;
    if (label != move.alpha && share > 0.0) {
      term.kept = label;
      set_zero(term, reward[label], share, slack);
    }
    return term;
  }

  static void set_zero(CliqueTerm& term, double reward, double share, double slack) {
    term.zero = reward * share;
    term.zero_step = reward / slack;
  }
  static void set_one(CliqueTerm& term, double reward, double share, double slack) {
    term.one = reward * share;
    term.one_step = reward / slack;
  }

  void add_edge(const Move& move, std::size_t e, std::int32_t yp, std::int32_t yq, std::size_t at,
                std::int32_t arc) {
    const bool p_moves = move.takes_part(yp), q_moves = move.takes_part(yq);
    const std::size_t a = move.second();
    if (p_moves && q_moves) {
      PairCosts c{pair_cost(e, move.first(yp), move.first(yq)), pair_cost(e, move.first(yp), a),
                  pair_cost(e, a, move.first(yq)), pair_cost(e, a, a)};
      double w = c.separation();
      if (w < 0.0) {  // dearer to differ, no cheaper to be what one was
        result_.truncated = true;
        c.up -= w;
        c.down -= w;
        w = 0.0;
      }
      add_pair(net_, at, arc, c, w);
    } else if (p_moves) {
      const auto fixed = static_cast<std::size_t>(yq);
      net_.excess(at) += pair_cost(e, a, fixed) - pair_cost(e, move.first(yp), fixed);
    } else if (q_moves) {
      const auto fixed = static_cast<std::size_t>(yp);
      net_.excess(net_.head(at, arc)) +=
          pair_cost(e, fixed, a) - pair_cost(e, fixed, move.first(yq));
    }
  }

  Network& net_;
  const Pairwise& m_;
  std::vector<std::int32_t>& y_;
  std::vector<std::int32_t> proposal_;
  Interrupt* interrupt_;
  MoveResult result_;
  double forbidden_, cost_now_;
};

}  // namespace

MoveResult climb_by_cuts(const Pairwise& m, const MoveSettings& settings,
                         std::vector<std::int32_t>& y, Interrupt* interrupt) {
  return with_network(m, [&](auto& net) {
    return Climber<std::decay_t<decltype(net)>>(net, m, y, interrupt).run(settings);
  });
}

}  // namespace structlearn
