#include "tasks/words/reader.hpp"

namespace structlearn::words {

const Scored& WordReader::scores(std::size_t input, Purpose) {
  const TextLine& line = lines_[input];
  const std::size_t n = line.points.size();
  theta_.resize(n);
  label_.assign(2 * n, 0.0);
  for (std::size_t r = 0; r + 1 < line.runs.size(); ++r) {
    const std::size_t begin = line.runs[r], end = line.runs[r + 1];
    model_.score({line.points.data() + begin, end - begin}, scratch_, theta_.data() + begin);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool forbidden = theta_[i] == WordModel::kForbidden;
    label_[2 * i] = forbidden ? kMinusInfinity : theta_[i] * model_.unit();
  }
  line.begins([&](std::size_t begin) {
    label_[2 * begin] = theta_[begin] * model_.unit();
    label_[2 * begin + 1] = kMinusInfinity;
  });
  pair_.assign(model_.pairs().begin(), model_.pairs().end());
  for (double& x : pair_) x *= model_.unit();
  scored_.structure = &chain_;
  scored_.layout = {};
  scored_.scores = {};
  scored_.layout.add(Chain::kLabel, n, 2, true);
  scored_.scores.block[Chain::kLabel] = scored_.parts = label_.data();
  scored_.layout.add(Chain::transition(1), 1, 4, false);
  scored_.scores.block[Chain::transition(1)] = pair_.data();
  return scored_;
}

std::vector<Part> WordReader::parts(const Output& y) const {
  std::vector<Part> found;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto at = static_cast<std::int32_t>(t);
    found.push_back({at, at + 1, y[t]});
  }
  return found;
}

Part WordReader::part(std::size_t site, std::size_t name) const {
  const auto at = static_cast<std::int32_t>(site);
  return {at, at + 1, static_cast<std::int32_t>(name)};
}

std::size_t WordReader::find(const Part& part) const {
  const auto at = static_cast<std::size_t>(part.begin);
  if (at >= scored_.layout.block[Chain::kLabel].sites) return kNowhere;
  if (part.label != 0 && part.label != 1) return kNowhere;
  return 2 * at + static_cast<std::size_t>(part.label);
}

std::size_t WordInputs::steps() const {
  std::size_t n = 0;
  for (const TextLine& line : lines_) n += line.points.size() * chain_steps(8, 1);
  return n;
}

}  // namespace structlearn::words
