#include "models/decision.hpp"

#include <utility>

#include "numeric/elementary.hpp"

namespace structlearn {

void decide(Reader& reader, const Scored& scored, const Wanted& wanted, Decision& found) {
  found.value = kMinusInfinity;
  found.scores.clear();
  if (wanted.nbest > 1) {
    found.outputs.clear();
    for (auto& [score, y] : kbest(reader, scored, wanted.nbest)) {
      if (found.outputs.empty()) found.value = score;
      found.outputs.push_back(std::move(y));
      found.scores.push_back(score);
    }
  } else {
    found.outputs.resize(1);
    found.value = best(reader, scored, found.outputs[0]).value;
    found.scores.assign(1, found.value);
  }
  if (found.value == kMinusInfinity) return;
  if (wanted.scores) {
    const double all = log_partition(reader, scored, wanted.temperature);
    for (double& score : found.scores) {
      score = elementary::exp((score - all) / wanted.temperature);
    }
  } else {
    found.scores.clear();
  }
  if (wanted.confidence || wanted.marginals) {
    marginals(reader, scored, wanted.temperature, found.probability);
  }
  if (!wanted.confidence) return;
  const std::vector<Part> parts = reader.parts(found.outputs[0]);
  const std::vector<double> sure = certainties(reader, scored, found.outputs[0], found.probability);
  found.confidence.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    found.confidence.resize(static_cast<std::size_t>(parts[i].end), sure[i]);
  }
}

}  // namespace structlearn
