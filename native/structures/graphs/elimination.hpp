// Exact maxima and sums on graphs of small treewidth, by eliminating one node after another
// (Dechter 1999). A step joins all tables that mention its node and maximises, or sums, over its
// labels, which leaves a table over its neighbours. O(N K^(w + 1)) for tables of w + 1 nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace structlearn {

// The steps of an elimination order, computed once for a graph and a number of labels; const calls
// may run at the same time.
class Elimination {
 public:
  // `ends` (E, 2); `order` has every node once. The caller ensures that K^(w + 1) is small.
  Elimination(std::size_t nodes, std::size_t labels, const std::vector<std::int64_t>& ends,
              const std::vector<std::int64_t>& order);

  std::size_t nodes() const { return nodes_; }
  std::size_t labels() const { return labels_; }
  std::size_t edges() const { return edges_; }
  // The most neighbours of a node at its elimination.
  std::size_t width() const { return width_; }

  // The maximum over all labellings of label (N, K) and table (E, K, K) scores, with a labelling
  // that attains it; -inf if none is legal.
  double best(const double* label, const double* table, std::int64_t* y) const;

  // t log sum exp(score / t), the marginals of nodes (N, K) and edges (E, K, K), zero on entry, and
  // the entropy in nats. Without the last three if the value is -inf.
  double sums(const double* label, const double* table, double temperature, double* node,
              double* edge, double* entropy) const;

 private:
  enum class Source { kLabel, kTable, kMessage };
  // A table of a step: its place, and the strides of its entries along the step's axes.
  struct Member {
    Source source;
    std::size_t offset;
    std::size_t last;                 // along the node that is eliminated
    std::vector<std::size_t> stride;  // along its neighbours; 0 if it lacks them
  };
  struct Step {
    std::size_t node, rows, joined, message;  // rows: labellings of the neighbours
    std::vector<std::size_t> others;
    std::vector<Member> members;
  };

  template <class Body>
  void walk(const Step& step, const Member& member, Body&& body) const;
  template <class T>
  static T* begin(const Member& member, T* label, T* table, T* message);
  void join(const Step& step, const double* label, const double* table, const double* messages,
            double* joined) const;

  std::size_t nodes_, labels_, edges_, width_ = 0;
  std::size_t joined_size_ = 0, message_size_ = 0;
  std::vector<Step> steps_;
};

}  // namespace structlearn
