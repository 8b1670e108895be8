// Sums over accepted outputs: exact over small products, else with an error bound.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "numeric/elementary.hpp"
#include "structures/chains/constrained_example.hpp"
#include "structures/chains/product_sums.hpp"

namespace structlearn {
namespace {

enum class ConstrainedSumScratch { kMarginals, kSeen };

// Automata that reject at least this share of what the worst one rejects join together with it.
constexpr double kAlso = 0.1;

}  // namespace

double ConstrainedSequence::sum_over(const Product& product, const Layout& layout,
                                     const Scores& scores, double eps, const Marginals& out,
                                     Workspace& ws) const {
  return with_view(layout, scores, ws, [&](const SequenceView& v, const auto& own) {
    ProductSums sums(v, product, eps, ws);
    if (sums.value() == kMinusInfinity || out.block[0] == nullptr) return sums.value();
    if constexpr (std::is_same_v<std::decay_t<decltype(own)>, ChainView>) {
      ChainMarginals sink(own, layout, out);
      sums.marginals(sink);
    } else {
      SegmentMarginals sink(own, layout, out);
      sums.marginals(sink);
    }
    return sums.value();
  });
}

ConstrainedSequence::Certificate ConstrainedSequence::sum(const Layout& layout,
                                                          const Scores& scores, double eps,
                                                          const Marginals& out,
                                                          Workspace& ws) const {
  std::vector<std::uint32_t> members;
  return sum(Example(*this, layout), layout, scores, eps, out, members, ws);
}

// The certificate, and the members of the product that it covers.
ConstrainedSequence::Certificate ConstrainedSequence::sum(
    const Example& example, const Layout& layout, const Scores& scores, double eps,
    const Marginals& out, std::vector<std::uint32_t>& members, Workspace& ws) const {
  members = example.every();
  if (const auto product = example.product({members})) {
    return {sum_over(*product, layout, scores, eps, out, ws), product->states(), members.size()};
  }
  members.clear();
  Output& y = ws.integer[ConstrainedSumScratch::kMarginals];
  if (search(example, layout, scores, y, members, ws).value == kMinusInfinity) return {};
  Marginals found = out;
  if (out.block[0] == nullptr) {  // bound the remainder by marginals
    double* p = ws.real(ConstrainedSumScratch::kMarginals, layout.parts);
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      if (layout.block[b].present) found.block[b] = p + layout.block[b].offset;
    }
    found.by_position = false;
  }
  Certificate proof;
  // The mass that each automaton rejects, among all outputs; NaN: not yet computed.
  std::vector<double> among_all(example.size(), std::nan(""));
  while (true) {
    const std::shared_ptr<const Product> product = example.product({members});
    if (!product) incapable(example, members, proof.bound);
    proof.states = product->states();
    proof.automata = members.size();
    proof.value = members.empty() ? free_->infer(layout, scores, eps, found, ws)
                                  : sum_over(*product, layout, scores, eps, found, ws);
    std::vector<std::uint32_t> worst;
    proof.bound =
        rejected(example, layout, scores, eps, found, members, proof.value, among_all, worst, ws);
    if (proof.bound <= settings_.tolerance) return proof;
    members.insert(members.end(), worst.begin(), worst.end());
    std::sort(members.begin(), members.end());
    if (worst.size() > 1 && !example.product({members})) {  // add only the worst one
      for (std::size_t i = 1; i < worst.size(); ++i) std::erase(members, worst[i]);
    }
  }
}

void ConstrainedSequence::incapable(const Example& example,
                                    const std::vector<std::uint32_t>& members, double bound) const {
  char share[32];
  std::snprintf(share, sizeof share, "%.1e", bound);
  throw Incapable("sums over the outputs that these constraints allow need a product of " +
                  example.described(members) + ". Without the last of them a share of up to " +
                  share +
                  " of the sum is missing. What works: argmax, solve, kbest and the learners that "
                  "need only these (perceptron, structured SVM); shorter sequences, a larger "
                  "max_states or tolerance");
}

// An upper bound of the share of the sum that the non-members reject, and those that reject most of
// it, the worst first.
double ConstrainedSequence::rejected(const Example& example, const Layout& layout,
                                     const Scores& scores, double eps, const Marginals& out,
                                     const std::vector<std::uint32_t>& members, double value,
                                     std::vector<double>& among_all,
                                     std::vector<std::uint32_t>& worst, Workspace& ws) const {
  const std::size_t L = length(layout), K = layout.block[0].outcomes;
  const std::size_t D = std::max<std::size_t>(max_length_, 1);
  double* seen = ws.real(ConstrainedSumScratch::kSeen,
                         L * K);  // P(a label is read at a position)
  std::fill_n(seen, L * K, 0.0);
  for (std::size_t i = 0; i < L; ++i) {
    for (std::size_t d = 0; d < std::min(D, L - i); ++d) {
      const double* p = out.block[0] + (i * D + d) * K;
      for (std::size_t k = 0; k < K; ++k) seen[i * K + k] += p[k];
    }
  }
  struct Share {
    std::uint32_t automaton;
    double most;
  };
  std::vector<Share> shares;
  for (std::uint32_t c = 0; c < example.size(); ++c) {
    if (std::binary_search(members.begin(), members.end(), c)) continue;
    // To be rejected a sequence has to leave the start: by expected counts (Markov's inequality).
    const Departures leaves = example.departures(c);
    if (leaves.fewest == kNeverRejects) continue;
    double expected = 0.0;
    for (std::size_t i = 0; i < L; ++i) {
      const std::size_t table = example[c].positions == 0 ? 0 : i * example[c].symbols;
      for (std::size_t k = 0; k < K; ++k) {
        if (leaves.label[table + example.symbol(i, k)]) expected += seen[i * K + k];
      }
    }
    shares.push_back({c, leaves.fewest == 0 ? 1.0 : std::min(1.0, expected / leaves.fewest)});
  }
  const auto sort = [&] {
    std::stable_sort(shares.begin(), shares.end(),
                     [](const Share& a, const Share& b) { return a.most > b.most; });
  };
  sort();
  double rest = 0.0;
  for (const Share& share : shares) rest += share.most;
  // The mass rejected among all outputs is at least that among the outputs that the members accept.
  for (std::size_t n = 0; n < shares.size() && rest > settings_.tolerance; ++n) {
    Share& share = shares[n];
    double& sum = among_all[share.automaton];
    if (std::isnan(sum)) {
      const auto product = example.product({{}, share.automaton});
      sum = product ? sum_over(*product, layout, scores, eps, {}, ws) : value;
    }
    const double most = std::min(share.most, elementary::exp((sum - value) / eps));
    rest += most - share.most;
    share.most = most;
  }
  sort();
  double known = 0.0, most = 0.0;
  rest = 0.0;
  for (const Share& share : shares) rest += share.most;
  std::size_t n = 0;
  for (; n < shares.size() && known + rest > settings_.tolerance; ++n) {
    Share& share = shares[n];
    if (known > settings_.tolerance && share.most < kAlso * most) break;
    rest -= share.most;
    if (const auto product = example.product({members, share.automaton})) {
      const double broken = sum_over(*product, layout, scores, eps, {}, ws);
      share.most = std::min(share.most, elementary::exp((broken - value) / eps));
    }
    known += share.most;
    most = std::max(most, share.most);
  }
  if (known + rest <= settings_.tolerance) return known + std::max(rest, 0.0);
  shares.resize(n);
  sort();
  for (const Share& share : shares) {
    if (share.most >= kAlso * most) worst.push_back(share.automaton);
  }
  return known + rest;
}

std::vector<double> ConstrainedSequence::stretches(const Layout& layout, const Scores& scores,
                                                   double eps, std::span<const Stretch> stretches,
                                                   const Neighbours& fits, Workspace& ws) const {
  const Example example(*this, layout);
  std::vector<std::uint32_t> members = example.every();
  std::shared_ptr<const Product> product = example.product({members});
  if (!product) {
    sum(example, layout, scores, eps, {}, members, ws);
    product = example.product({members});
  }
  return with_view(layout, scores, ws, [&](const SequenceView& v, auto&&) {
    ProductSums sums(v, *product, eps, ws);
    if (sums.value() == kMinusInfinity) return std::vector<double>(stretches.size());
    return sums.stretches(stretches, fits);
  });
}

std::optional<double> ConstrainedSequence::exact_entropy(const Layout& layout, const Scores& scores,
                                                         double eps, Workspace& ws) const {
  const Example example(*this, layout);
  std::vector<std::uint32_t> members;
  sum(example, layout, scores, eps, {}, members, ws);
  const auto product = example.product({members});
  return with_view(layout, scores, ws, [&](const SequenceView& v, auto&&) {
    ProductSums sums(v, *product, eps, ws);
    return sums.value() == kMinusInfinity ? 0.0 : sums.entropy();
  });
}

std::vector<Output> ConstrainedSequence::sample(const Layout& layout, const Scores& scores,
                                                double eps, std::size_t n, std::uint64_t seed,
                                                Workspace& ws) const {
  const Example example(*this, layout);
  std::vector<std::uint32_t> members;
  if (sum(example, layout, scores, eps, {}, members, ws).value == kMinusInfinity) return {};
  const auto product = example.product({members});
  return with_view(layout, scores, ws, [&](const SequenceView& v, auto&&) {
    ProductSums sums(v, *product, eps, ws);
    std::vector<Output> drawn(n);
    for (std::size_t i = 0; i < n; ++i) {
      Random random(seed, i);
      std::vector<std::uint32_t> others;
      do {  // rejection by the other automata is as rare as certified
        others = members;
        sums.draw(random, drawn[i]);
      } while (example.add_rejecting(drawn[i], others));
    }
    return drawn;
  });
}

}  // namespace structlearn
