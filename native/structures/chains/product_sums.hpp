// Sums over accepted outputs of a sequence, their marginals, samples and entropy.
//
// The values carried from one position to the next are logarithms (in the units of the scores), so
// that no precision is lost however far apart states are. A step over the previous labels uses
// exponentials, one multiply-add for each; a result below 1e-250 is recomputed with logarithms. The
// backward pass is the derivative of the forward pass: the probability of an arrival is divided
// among the terms of its sum.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/elementary.hpp"
#include "numeric/random.hpp"
#include "structures/chains/product_rows.hpp"
#include "structures/chains/stretch.hpp"

namespace structlearn {

// A receiver of marginals.
class MarginalSink {
 public:
  virtual ~MarginalSink() = default;
  // p[w]: the probability of the segment of length d that starts at i, by window.
  virtual void segment(std::size_t i, std::size_t d, const double* p) = 0;
  // Those of the labels of the first and the last segment.
  virtual void first(const double* p) = 0;
  virtual void last(const double* p) = 0;
  // The target of the transition marginals at position i; null if not needed. The same table for
  // all positions if they are `summed`.
  virtual double* transition(std::size_t i) = 0;
  virtual bool summed() const = 0;
};

class ProductSums {
 public:
  // View, product and workspace are borrowed; during its lifetime no other object of its kind may
  // use the workspace.
  ProductSums(const SequenceView&, const Product&, double eps, Workspace&);

  // eps log sum exp(score / eps); -inf if nothing is accepted, and then nothing else is valid.
  double value() const { return value_; }
  void marginals(MarginalSink&);
  // In nats, as the sum over choices of their entropies: no difference of large numbers.
  double entropy();
  // A sample from P(y) ~ exp(score(y) / eps).
  void draw(Random&, Output& y);
  // The probability that the labels pass each stretch; for chains.
  std::vector<double> stretches(std::span<const Stretch>, const Neighbours&);

 private:
  struct Table {
    const double* E = nullptr;  // exponentials of the transitions
    double shift = 0.0;         // the shift subtracted from them
  };

  double* at(double* x, std::size_t i) const { return x + i * rows_.stride(); }
  double ended(std::size_t j, std::size_t slot) const {
    const double top = at(top_, j)[slot];
    if (mass_ == nullptr || top == kMinusInfinity) return top;
    return top + eps_ * elementary::log(at(mass_, j)[slot]);
  }
  Table table(std::size_t i);

  void arrive(std::size_t i);
  void grow(std::size_t i);
  void weigh(std::size_t i);
  void step(std::size_t i, std::size_t s, const double* E);
  void scatter(std::size_t i, std::size_t s);
  void settle(std::size_t i, std::size_t s, double shift);
  void end(std::size_t j);

  // Lists the predecessors of a state of the product, and the terms of its sum: the sums ended
  // before L, the predecessors of position i, the starts of the segment that ends before j.
  void choose_last();
  void choose_before(std::size_t i, std::size_t slot);
  void choose_length(std::size_t j, std::size_t slot);
  void add_choice(std::size_t place, double term) {
    choices_.push_back(static_cast<std::uint32_t>(place));
    terms_.push_back(term);
  }

  void divide_lengths(std::size_t j, const double* ended, double* arrived, MarginalSink&);
  void divide_labels(std::size_t i, const double* arrived, double* ended, MarginalSink&);
  void divide_grown(std::size_t i, const double* arrived, double* ended);
  void gather(std::size_t i, std::size_t s, const double* ratio);
  void step_back(std::size_t i, std::size_t s, const double* E, double* ended, double* counts);
  const double* by_window(std::size_t i, const double* p);
  const double* by_label(std::size_t i, const double* p);

  const SequenceView& v_;
  const Product& p_;
  ProductRows rows_;
  double eps_, value_ = kMinusInfinity;
  Workspace& ws_;
  // The arrivals at i, and the sums ended before j: top + eps log mass, with mass 1 on chains.
  double *arrived_, *top_, *mass_;
  // Predecessors of i: exp(ended / eps), by row, shifted by the row's `most`. Arrivals at i: the
  // sum of these shifted by the row's `peak`, or 0 if that was too small to use.
  double *weight_, *total_, *most_, *peak_;
  double *step_, *back_;
  std::vector<double>& terms_;
  std::vector<std::uint32_t>& choices_;
};

}  // namespace structlearn
