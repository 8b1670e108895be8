// Sums over the outputs of a sequence that an automaton accepts, their marginals, draws, entropy.
//
// What is kept from one position to the next is a logarithm (in the units of the scores), so that
// nothing is lost however far apart states are. A step over the labels before works with
// exponentials, one multiply-add for each; a number that comes out below 1e-250 is worked out again
// with logarithms. The way back is the derivative of the way forward: the probability of what
// arrives is divided among the terms of its sum.
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

// Takes marginals as they are found.
class MarginalSink {
 public:
  virtual ~MarginalSink() = default;
  // p[w]: the probability of the segment of length d that starts at i, by window.
  virtual void segment(std::size_t i, std::size_t d, const double* p) = 0;
  // Those of the labels of the first segment and of the last.
  virtual void first(const double* p) = 0;
  virtual void last(const double* p) = 0;
  // Where the marginals of the transitions at position i are added; null if nobody wants them. The
  // same table for all positions if they are `summed`.
  virtual double* transition(std::size_t i) = 0;
  virtual bool summed() const = 0;
};

class ProductSums {
 public:
  // View, product and workspace are borrowed; while this lives nothing else of its kind may use the
  // workspace.
  ProductSums(const SequenceView&, const Product&, double eps, Workspace&);

  // eps log sum exp(score / eps); -inf if nothing is accepted, and then there is nothing else.
  double value() const { return value_; }
  void marginals(MarginalSink&);
  // In nats, as the sum over choices of how open each is: no difference of large numbers.
  double entropy();
  // A draw from P(y) ~ exp(score(y) / eps).
  void draw(Random&, Output& y);
  // The probability that the labels pass each stretch; of chains.
  std::vector<double> stretches(std::span<const Stretch>, const Neighbours&);

 private:
  struct Table {
    const double* E = nullptr;  // exponentials of the transitions
    double shift = 0.0;         // what was taken out of them
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

  // Lists what may have led to a state of the product, and the terms of its sum: what has ended
  // before L, what may come before position i, what the segment that ends before j began with.
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
  // What arrives at i, and what has ended before j: top + eps log mass, with mass 1 on chains.
  double *arrived_, *top_, *mass_;
  // What comes before i: exp(ended / eps), by row, less the row's `most`. What arrives at i: the
  // sum of these less the row's `peak`, or 0 where that was too small to be used.
  double *weight_, *total_, *most_, *peak_;
  double *step_, *back_;
  std::vector<double>& terms_;
  std::vector<std::uint32_t>& choices_;
};

}  // namespace structlearn
