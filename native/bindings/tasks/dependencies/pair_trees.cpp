#include "bindings/tasks/dependencies/pair_trees.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/buffers.hpp"
#include "tasks/dependencies/part_scorer.hpp"
#include "tasks/dependencies/projective_search.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::parsing;

// The trees over the arcs of one sentence.
class PairTrees {
 public:
  // Arcs by ascending word and head. Scores: labels of each arc, siblings, grandparents.
  PairTrees(std::size_t n, nb::handle heads, nb::handle words, std::size_t labels,
            nb::handle scores)
      : labels_(labels), width_(label_width(labels)) {
    const Bytes h(heads), w(words), x(scores);
    const auto head = h.as<std::uint16_t>("heads"), word = w.as<std::uint16_t>("words");
    const auto score = x.as<double>("scores");
    bool fits = n < 0xFFFF && labels > 0 && labels <= kMaxLabels && head.size() == word.size();
    Candidates candidates;
    candidates.begin.assign(n + 2, 0);
    for (std::size_t a = 0; fits && a < head.size(); ++a) {
      fits = word[a] > 0 && word[a] <= n && head[a] <= n && head[a] != word[a] &&
             (a == 0 || word[a - 1] < word[a] || (word[a - 1] == word[a] && head[a - 1] < head[a]));
      if (fits) ++candidates.begin[word[a] + 1u];
    }
    for (std::size_t m = 0; m <= n; ++m) candidates.begin[m + 1] += candidates.begin[m];
    candidates.head.assign(head.begin(), head.end());
    if (fits) parts_.set(candidates, true);
    const std::size_t pairs = fits ? parts_.siblings() + parts_.grands() : 0;
    if (!fits || score.size() != parts_.arcs() * labels + pairs) {
      throw std::invalid_argument("arcs and scores do not fit together");
    }
    theta_.assign(parts_.arcs() * width_, kMinusInfinity);
    for (std::size_t a = 0; a < parts_.arcs(); ++a) {
      std::copy_n(score.data() + a * labels, labels, theta_.data() + a * width_);
    }
    theta_.insert(theta_.end(), score.end() - static_cast<std::ptrdiff_t>(pairs), score.end());
  }

  // (log-sum, entropy, the probability of each part).
  nb::tuple sums(double temperature) const {
    ProjectiveSums sums;
    std::vector<double> p, out;
    const double value = sums.fill(labelled(), check(temperature));
    const double entropy = sums.marginals(p);
    for (std::size_t a = 0; a < parts_.arcs(); ++a) {
      out.insert(out.end(), p.data() + a * width_, p.data() + a * width_ + labels_);
    }
    out.insert(out.end(), p.data() + parts_.arcs() * width_, p.data() + p.size());
    return nb::make_tuple(value, entropy, to_bytes(out));
  }

  std::vector<std::pair<double, Output>> kbest(std::size_t k) const {
    return ProjectiveSearch().kbest(labelled(), k);
  }

  std::vector<Output> sample(std::size_t n, double temperature, std::uint64_t seed) const {
    ProjectiveSums sums;
    std::vector<Output> drawn;
    if (sums.fill(labelled(), check(temperature)) == kMinusInfinity) return drawn;
    for (std::size_t s = 0; s < n; ++s) {
      Random random(seed, s);
      drawn.push_back(sums.draw(random));
    }
    return drawn;
  }

  // Of a projective tree, heads of words 1..n and then labels; -inf where an arc is not there.
  double score(const Output& y) const {
    const auto n = static_cast<std::size_t>(parts_.n);
    if (y.size() != 2 * n) throw std::invalid_argument("a head and a label for each word");
    std::vector<std::int32_t> heads(n + 1, -1);
    std::vector<double> arc(parts_.arcs(), kMinusInfinity);
    for (std::size_t m = 1; m <= n; ++m) {
      const std::uint32_t a = parts_.find(heads[m] = y[m - 1], static_cast<int>(m));
      const auto label = static_cast<std::size_t>(y[n + m - 1]);
      if (a == Parts::kNone || label >= labels_) return kMinusInfinity;
      arc[a] = theta_[a * width_ + label];
    }
    const double* siblings = labelled().siblings();
    return parts_.score(heads, {arc.data(), siblings, siblings + parts_.siblings()});
  }

 private:
  LabelledParts labelled() const { return {parts_, width_, theta_.data()}; }
  static double check(double temperature) {
    if (!(temperature > 0.0)) throw std::invalid_argument("temperature must be above 0");
    return temperature;
  }

  Parts parts_;
  std::size_t labels_, width_;
  std::vector<double> theta_;
};

}  // namespace

void bind_pair_trees(nb::module_& m) {
  nb::class_<PairTrees>(m, "PairTrees")
      .def(nb::init<std::size_t, nb::handle, nb::handle, std::size_t, nb::handle>(), nb::arg("n"),
           nb::arg("heads"), nb::arg("words"), nb::arg("labels"), nb::arg("scores"))
      .def("sums", &PairTrees::sums, nb::arg("temperature"))
      .def("kbest", &PairTrees::kbest, nb::arg("k"))
      .def("sample", &PairTrees::sample, nb::arg("n"), nb::arg("temperature"), nb::arg("seed"))
      .def("score", &PairTrees::score, nb::arg("tree"));
}

}  // namespace structlearn::python
