// Losses of padded batches of chains: values and gradients of all examples in one call.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "bindings/structures/native_structure.hpp"
#include "bindings/structures/scores.hpp"
#include "structures/chains/chain.hpp"
#include "structures/examples.hpp"

namespace structlearn::python {
namespace {

enum class PaddedScratch { kRaised, kLabel, kTransition, kStart, kEnd };

std::string in_example(std::size_t b) {
  return "example " + std::to_string(b);
}

// Whether every label within the lengths is known; throws where one, or a length, is out of range.
bool all_known(const std::int64_t* y, const std::int64_t* lengths, std::size_t batch,
               std::size_t longest, std::size_t labels) {
  bool known = true;
  for (std::size_t b = 0; b < batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > static_cast<std::int64_t>(longest)) {
      throw std::invalid_argument("lengths must be within 0.." + std::to_string(longest) + ": " +
                                  in_example(b) + " has " + std::to_string(lengths[b]));
    }
    for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[b]); ++t) {
      const std::int64_t label = y[b * longest + t];
      if (label >= static_cast<std::int64_t>(labels)) {
        throw std::invalid_argument("y has labels beyond 0.." + std::to_string(labels - 1) +
                                    "; unknown ones are -100");
      }
      known = known && label >= 0;
    }
  }
  return known;
}

template <class T>
std::vector<double> checked(const Input<T, nb::ndim<1>>& x, std::size_t n, const char* name) {
  if (x.shape(0) != n) throw std::invalid_argument(std::string(name) + " has the wrong size");
  std::vector<double> wide(x.data(), x.data() + n);
  check_values(wide.data(), n, name, -1);
  return wide;
}

// infer(raised) - score(y), and its gradient: (B, L, K), (B, K * K), (B, K) and (B, K), which are
// written. False, and nothing written, where a label is unknown. A sequence of length 0 has one
// output, without parts.
template <class T>
bool chain_losses(Input<T, nb::ndim<3>> label, Input<T, nb::ndim<3>> raised,
                  Input<T, nb::ndim<1>> transition, Input<T, nb::ndim<1>> start,
                  Input<T, nb::ndim<1>> end, Input<std::int64_t, nb::ndim<1>> lengths,
                  Input<std::int64_t, nb::ndim<2>> y, double eps, std::size_t threads,
                  InOut<double, nb::ndim<1>> value, InOut<T, nb::ndim<3>> label_grad,
                  InOut<T, nb::ndim<2>> transition_grad, InOut<T, nb::ndim<2>> start_grad,
                  InOut<T, nb::ndim<2>> end_grad) {
  const std::size_t B = label.shape(0), L = label.shape(1), K = label.shape(2);
  if (raised.size() != B * L * K || y.size() != B * L || lengths.size() != B || value.size() != B ||
      label_grad.size() != B * L * K || start_grad.size() != B * K ||
      transition_grad.size() != B * K * K || end_grad.size() != B * K || !(eps > 0.0)) {
    throw std::invalid_argument("the blocks do not fit together");
  }
  if (!all_known(y.data(), lengths.data(), B, L, K)) return false;
  const std::vector<double> between = checked(transition, K * K, "transition");
  const std::vector<double> first = checked(start, K, "start"), last = checked(end, K, "end");
  const Chain chain;
  interruptible([&](Interrupt& interrupt) {
    for_examples(B, threads, 64, interrupt, [&](std::size_t b, Workspace& ws) {
      const std::size_t n = static_cast<std::size_t>(lengths.data()[b]);
      if (n == 0) {
        value.data()[b] = 0.0;
        std::fill_n(label_grad.data() + b * L * K, L * K, T{0});
        std::fill_n(transition_grad.data() + b * K * K, K * K, T{0});
        std::fill_n(start_grad.data() + b * K, K, T{0});
        std::fill_n(end_grad.data() + b * K, K, T{0});
        return;
      }
      const std::int64_t* gold = y.data() + b * L;
      const T* given = raised.data() + b * L * K;
      double* scores = ws.real(PaddedScratch::kRaised, n * K);
      std::copy(given, given + n * K, scores);
      check_values(scores, n * K, "label", static_cast<std::ptrdiff_t>(b));
      double* labels = ws.real(PaddedScratch::kLabel, n * K);
      double* pairs = ws.real(PaddedScratch::kTransition, K * K);
      double* starts = ws.real(PaddedScratch::kStart, K);
      double* ends = ws.real(PaddedScratch::kEnd, K);
      std::fill(pairs, pairs + K * K, 0.0);
      Layout layout;
      layout.add(Chain::kLabel, n, K, true);
      layout.add(Chain::kStart, 1, K, false);
      layout.add(Chain::kEnd, 1, K, false);
      layout.add(Chain::transition(1), 1, K * K, false);
      Scores theta;
      Marginals counts;
      theta.block[Chain::kLabel] = scores;
      theta.block[Chain::kStart] = first.data();
      theta.block[Chain::kEnd] = last.data();
      theta.block[Chain::transition(1)] = between.data();
      counts.block[Chain::kLabel] = labels;
      counts.block[Chain::kStart] = starts;
      counts.block[Chain::kEnd] = ends;
      counts.block[Chain::transition(1)] = pairs;
      const double sum = chain.infer(layout, theta, eps, counts, ws);
      check_sum(sum, static_cast<std::ptrdiff_t>(b));
      double score = 0.0;
      const T* plain = label.data() + b * L * K;
      for (std::size_t t = 0; t < n; ++t) {
        const std::size_t k = static_cast<std::size_t>(gold[t]);
        score += static_cast<double>(plain[t * K + k]);
        labels[t * K + k] -= 1.0;
        if (t == 0) continue;
        const std::size_t pair = static_cast<std::size_t>(gold[t - 1]) * K + k;
        score += between[pair];
        pairs[pair] -= 1.0;
      }
      const std::size_t begin = static_cast<std::size_t>(gold[0]);
      const std::size_t finish = static_cast<std::size_t>(gold[n - 1]);
      score += first[begin] + last[finish];
      starts[begin] -= 1.0;
      ends[finish] -= 1.0;
      if (score == kMinusInfinity) {
        throw std::invalid_argument(in_example(b) +
                                    ": the gold output is forbidden: a part of it scores -inf");
      }
      value.data()[b] = sum - score;
      T* out = label_grad.data() + b * L * K;
      std::copy(labels, labels + n * K, out);
      std::fill(out + n * K, out + L * K, T{0});
      std::copy(pairs, pairs + K * K, transition_grad.data() + b * K * K);
      std::copy(starts, starts + K, start_grad.data() + b * K);
      std::copy(ends, ends + K, end_grad.data() + b * K);
    });
  });
  return true;
}

template <class T>
void bind_chain_losses(nb::module_& m) {
  m.def("chain_losses", &chain_losses<T>, nb::arg("label").noconvert(),
        nb::arg("raised").noconvert(), nb::arg("transition").noconvert(),
        nb::arg("start").noconvert(), nb::arg("end").noconvert(), nb::arg("lengths").noconvert(),
        nb::arg("y").noconvert(), nb::arg("temperature"), nb::arg("threads"),
        nb::arg("value").noconvert(), nb::arg("label_grad").noconvert(),
        nb::arg("transition_grad").noconvert(), nb::arg("start_grad").noconvert(),
        nb::arg("end_grad").noconvert());
}

}  // namespace

void bind_padded(nb::module_& m) {
  bind_chain_losses<float>(m);
  bind_chain_losses<double>(m);
}

}  // namespace structlearn::python
