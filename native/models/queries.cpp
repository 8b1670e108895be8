#include "models/queries.hpp"

#include <algorithm>

namespace structlearn {
namespace {

// The parts of an output, those of the first block in front and in their order.
std::size_t encode(const Scored& scored, const Output& y, std::vector<std::uint32_t>& parts) {
  parts.clear();
  scored.structure->encode(scored.layout, y, parts);
  const std::size_t first = scored.layout.block[scored.first].size();
  const auto others = std::stable_partition(parts.begin(), parts.end(),
                                            [&](std::uint32_t part) { return part < first; });
  return static_cast<std::size_t>(others - parts.begin());
}

double score_of(const Scored& scored, std::uint32_t part) {
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = scored.layout.block[b];
    if (block.present && part >= block.offset && part < block.offset + block.size()) {
      return scored.scores.block[b][part - block.offset];
    }
  }
  return kMinusInfinity;
}

}  // namespace

Solved best(Reader& reader, const Scored& scored, Output& y) {
  const Solved solved = scored.structure->solve(scored.layout, scored.scores, y, reader.workspace);
  if (solved.value != kMinusInfinity) {
    reader.to_model(y);
  } else if (auto makeshift = reader.makeshift()) {
    y = std::move(*makeshift);
  }
  return solved;
}

Ranked kbest(Reader& reader, const Scored& scored, std::size_t n) {
  Ranked ranked = scored.structure->kbest(scored.layout, scored.scores, n, reader.workspace);
  for (auto& [value, y] : ranked) reader.to_model(y);
  if (ranked.empty()) {
    if (auto makeshift = reader.makeshift()) ranked.emplace_back(kMinusInfinity, *makeshift);
  }
  return ranked;
}

double marginals(Reader& reader, const Scored& scored, double eps, std::vector<double>& p) {
  p.assign(scored.layout.parts, 0.0);
  Marginals out;
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = scored.layout.block[b];
    if (block.present) out.block[b] = p.data() + block.offset;
  }
  const double value =
      scored.structure->infer(scored.layout, scored.scores, eps, out, reader.workspace);
  p.resize(scored.layout.block[scored.first].size());
  reader.to_names(p);
  return value;
}

double log_partition(Reader& reader, const Scored& scored, double eps) {
  return scored.structure->infer(scored.layout, scored.scores, eps, {}, reader.workspace);
}

std::vector<Output> sample(Reader& reader, const Scored& scored, double eps, std::size_t n,
                           std::uint64_t seed) {
  std::vector<Output> drawn =
      scored.structure->sample(scored.layout, scored.scores, eps, n, seed, reader.workspace);
  for (Output& y : drawn) reader.to_model(y);
  if (drawn.empty()) {
    if (auto makeshift = reader.makeshift()) drawn.assign(n, *makeshift);
  }
  return drawn;
}

Entropy entropy(Reader& reader, const Scored& scored, double eps) {
  return entropy(*scored.structure, scored.layout, scored.scores, eps, reader.workspace);
}

double score(Reader& reader, const Scored& scored, Output y) {
  if (!reader.to_structure(y) || !scored.structure->allows(scored.layout, y)) return kMinusInfinity;
  std::vector<std::uint32_t> parts;
  encode(scored, y, parts);
  double sum = 0.0;
  for (const std::uint32_t part : parts) sum += score_of(scored, part);
  return sum;
}

std::vector<double> certainties(const Reader& reader, const Scored& scored, const Output& y,
                                const std::vector<double>& p) {
  const std::size_t names = reader.names(scored);
  std::vector<double> probability;
  for (const Part& part : reader.parts(y)) {
    double sum = 0.0;
    if (const std::size_t at = reader.find(part); at != Reader::kNowhere) {
      const std::size_t site = at / names;
      for (std::size_t k = 0; k < names; ++k) {
        if (reader.alike(site, at % names, k)) sum += p[site * names + k];
      }
    }
    probability.push_back(std::min(1.0, sum));
  }
  return probability;
}

Ranked rivals(Reader& reader, const Scored& scored) {
  Output y;
  const double value =
      scored.structure->solve(scored.layout, scored.scores, y, reader.workspace).value;
  if (value == kMinusInfinity) return {};
  std::vector<std::uint32_t> parts;
  const std::size_t n = encode(scored, y, parts),
                    outcomes = scored.layout.block[scored.first].outcomes;
  Ranked others(n);
  std::vector<double> kept(outcomes);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t site = parts[i] / outcomes, mine = parts[i] % outcomes;
    double* row = scored.parts + site * outcomes;
    std::copy_n(row, outcomes, kept.begin());
    for (std::size_t k = 0; k < outcomes; ++k) {
      if (reader.alike(site, mine, k)) row[k] = kMinusInfinity;
    }
    auto& [margin, rival] = others[i];
    margin = value - best(reader, scored, rival).value;
    if (margin == -kMinusInfinity) rival.clear();
    std::copy(kept.begin(), kept.end(), row);
  }
  return others;
}

}  // namespace structlearn
