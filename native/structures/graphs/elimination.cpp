#include "structures/graphs/elimination.hpp"

#include <algorithm>

#include "numeric/softmax.hpp"

namespace structlearn {

Elimination::Elimination(std::size_t nodes, std::size_t labels,
                         const std::vector<std::int64_t>& ends,
                         const std::vector<std::int64_t>& order)
    : nodes_(nodes), labels_(labels), edges_(ends.size() / 2) {
  std::vector<std::size_t> position(nodes);
  for (std::size_t k = 0; k < nodes; ++k) position[static_cast<std::size_t>(order[k])] = k;
  // A table waits for the first of its nodes to be eliminated. Its axes: nodes with strides.
  struct Table {
    Source source;
    std::size_t offset;
    std::vector<std::pair<std::size_t, std::size_t>> axes;
  };
  std::vector<std::vector<Table>> waiting(nodes);
  for (std::size_t v = 0; v < nodes; ++v) {
    waiting[v].push_back({Source::kLabel, v * labels, {{v, 1}}});
  }
  for (std::size_t e = 0; e < edges_; ++e) {
    const auto p = static_cast<std::size_t>(ends[2 * e]),
               q = static_cast<std::size_t>(ends[2 * e + 1]);
    waiting[position[p] < position[q] ? p : q].push_back(
        {Source::kTable, e * labels * labels, {{p, labels}, {q, 1}}});
  }
  for (const std::int64_t at : order) {
    const auto v = static_cast<std::size_t>(at);
    Step step{v, 1, joined_size_, message_size_, {}, {}};
    for (const Table& table : waiting[v]) {
      for (const auto& axis : table.axes) {
        if (axis.first != v) step.others.push_back(axis.first);
      }
    }
    // Nodes eliminated last come first.
    std::sort(step.others.begin(), step.others.end(),
              [&](std::size_t a, std::size_t b) { return position[a] > position[b]; });
    step.others.erase(std::unique(step.others.begin(), step.others.end()), step.others.end());
    for (const Table& table : waiting[v]) {
      Member member{table.source, table.offset, 0, std::vector<std::size_t>(step.others.size(), 0)};
      for (const auto& [node, stride] : table.axes) {
        if (node == v) {
          member.last = stride;
          continue;
        }
        const auto place = std::find(step.others.begin(), step.others.end(), node);
        member.stride[static_cast<std::size_t>(place - step.others.begin())] = stride;
      }
      step.members.push_back(std::move(member));
    }
    width_ = std::max(width_, step.others.size());
    for (std::size_t a = 0; a < step.others.size(); ++a) step.rows *= labels;
    joined_size_ += step.rows * labels;
    message_size_ += step.rows;
    if (!step.others.empty()) {
      Table message{Source::kMessage, step.message, {}};
      std::size_t stride = step.rows;
      for (const std::size_t u : step.others) message.axes.emplace_back(u, stride /= labels);
      waiting[step.others.back()].push_back(std::move(message));
    }
    waiting[v].clear();
    steps_.push_back(std::move(step));
  }
}

// Calls body(row, start of the member's entries for it) for all labellings of the neighbours.
template <class Body>
void Elimination::walk(const Step& step, const Member& member, Body&& body) const {
  const std::size_t axes = step.others.size();
  std::vector<std::size_t> digit(axes, 0);
  std::size_t at = 0;
  for (std::size_t row = 0; row < step.rows; ++row) {
    body(row, at);
    for (std::size_t a = axes; a-- > 0;) {
      if (++digit[a] < labels_) {
        at += member.stride[a];
        break;
      }
      at -= member.stride[a] * (labels_ - 1);
      digit[a] = 0;
    }
  }
}

template <class T>
T* Elimination::begin(const Member& member, T* label, T* table, T* message) {
  T* const from = member.source == Source::kLabel   ? label
                  : member.source == Source::kTable ? table
                                                    : message;
  return from + member.offset;
}

void Elimination::join(const Step& step, const double* label, const double* table,
                       const double* messages, double* joined) const {
  std::fill(joined, joined + step.rows * labels_, 0.0);
  for (const Member& member : step.members) {
    const double* from = begin(member, label, table, messages);
    walk(step, member, [&](std::size_t row, std::size_t at) {
      double* to = joined + row * labels_;
      for (std::size_t k = 0; k < labels_; ++k) to[k] += from[at + k * member.last];
    });
  }
}

double Elimination::best(const double* label, const double* table, std::int64_t* y) const {
  std::vector<double> messages(message_size_), joined;
  std::vector<std::uint32_t> choice(message_size_);
  double value = 0.0;
  for (const Step& step : steps_) {
    joined.resize(std::max(joined.size(), step.rows * labels_));
    join(step, label, table, messages.data(), joined.data());
    for (std::size_t row = 0; row < step.rows; ++row) {
      const double* from = joined.data() + row * labels_;
      const double* top = std::max_element(from, from + labels_);
      choice[step.message + row] = static_cast<std::uint32_t>(top - from);
      messages[step.message + row] = *top;
    }
    if (step.others.empty()) value += messages[step.message];
  }
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    std::size_t row = 0;
    for (const std::size_t u : step.others) row = row * labels_ + static_cast<std::size_t>(y[u]);
    y[step.node] = choice[step.message + row];
  }
  return value;
}

double Elimination::sums(const double* label, const double* table, double temperature, double* node,
                         double* edge, double* entropy) const {
  // The result of a step: P(label of the node | labels of its neighbours), and its entropy.
  std::vector<double> messages(message_size_), conditional(joined_size_), open(message_size_);
  double value = 0.0;
  for (const Step& step : steps_) {
    double* joined = conditional.data() + step.joined;
    join(step, label, table, messages.data(), joined);
    for (std::size_t row = 0; row < step.rows; ++row) {
      double* p = joined + row * labels_;
      // No mass arrives where there is no labelling.
      messages[step.message + row] =
          softmax_with_entropy(p, labels_, temperature, &open[step.message + row]);
    }
    if (step.others.empty()) value += messages[step.message];
  }
  if (value == kMinusInfinity) return value;
  // Backward pass: the mass of the neighbours' labels, passed down to all tables of a step.
  std::vector<double>& mass = messages;
  std::fill(mass.begin(), mass.end(), 0.0);
  *entropy = 0.0;
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    double* joint = conditional.data() + step.joined;
    for (std::size_t row = 0; row < step.rows; ++row) {
      const double above = step.others.empty() ? 1.0 : mass[step.message + row];
      *entropy += above * open[step.message + row];
      for (std::size_t k = 0; k < labels_; ++k) joint[row * labels_ + k] *= above;
    }
    for (const Member& member : step.members) {
      double* to = begin(member, node, edge, mass.data());
      walk(step, member, [&](std::size_t row, std::size_t at) {
        for (std::size_t k = 0; k < labels_; ++k) {
          to[at + k * member.last] += joint[row * labels_ + k];
        }
      });
    }
  }
  return value;
}

}  // namespace structlearn
