#include "text/word_emissions.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "numeric/elementary.hpp"

namespace structlearn::text {
namespace {

// Keeps logarithms finite where a product of tiny probabilities underflows.
double safe_log(double p) {
  return elementary::log(std::max(p, 1e-300));
}

double sum(const double* row, std::size_t n) {
  double total = 0.0;
  for (std::size_t k = 0; k < n; ++k) total += row[k];
  return total;
}

void add(const double* row, std::size_t n, double* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] += row[k];
}

// The coarser probabilities may be those that are written.
void smooth(const double* counts, const double* coarser, double strength, std::size_t n,
            double* out) {
  const double total = sum(counts, n) + strength;
  for (std::size_t k = 0; k < n; ++k) out[k] = (counts[k] + strength * coarser[k]) / total;
}

bool all_below(std::span<const std::uint32_t> numbers, std::size_t n) {
  return std::all_of(numbers.begin(), numbers.end(), [n](std::uint32_t i) { return i < n; });
}

void check(const WordCounts& c, std::size_t words) {
  bool fits = words > 0 && c.table.size() == words * c.labels && !c.parent.empty() &&
              c.suffix.size() == words && c.rare.size() == c.rare_leaf.size() &&
              (c.lower.empty() || c.lower.size() == words) && all_below(c.rare, words) &&
              all_below(c.rare_leaf, c.parent.size()) && all_below(c.suffix, c.parent.size()) &&
              all_below(c.lower, words) && c.alpha > 0 && c.word_alpha > 0;
  for (std::size_t s = 1; fits && s < c.parent.size(); ++s) fits = c.parent[s] < s;
  for (std::size_t i = 0; fits && i < c.table.size(); ++i) {
    fits = c.table[i] >= 0 && std::isfinite(c.table[i]);
  }
  for (std::size_t w = 0; fits && w < words; ++w) {
    fits = sum(c.table.data() + w * c.labels, c.labels) > 0;
  }
  if (!fits) throw std::invalid_argument("the counts of words make no sense");
}

}  // namespace

WordEmissions::WordEmissions(const WordCounts& c) : labels_(c.labels), alpha_(c.alpha) {
  const std::size_t K = labels_, words = K == 0 ? 0 : c.table.size() / K;
  check(c, words);
  const auto counts = [&](std::size_t word) { return c.table.data() + word * K; };

  std::vector<double> all(K, 0.0), frequency(K, 1.0 / static_cast<double>(K));
  for (std::size_t w = 0; w < words; ++w) add(counts(w), K, all.data());
  smooth(all.data(), frequency.data(), alpha_, K, frequency.data());

  // Of the suffixes, those of longer ones before those of shorter ones.
  given_suffix_.assign(c.parent.size() * K, 0.0);
  const auto of_suffix = [&](std::size_t s) { return given_suffix_.data() + s * K; };
  for (std::size_t i = 0; i < c.rare.size(); ++i) {
    add(counts(c.rare[i]), K, of_suffix(c.rare_leaf[i]));
  }
  for (std::size_t s = c.parent.size() - 1; s > 0; --s)
    add(of_suffix(s), K, of_suffix(c.parent[s]));
  smooth(of_suffix(0), frequency.data(), alpha_, K, of_suffix(0));
  for (std::size_t s = 1; s < c.parent.size(); ++s) {
    smooth(of_suffix(s), of_suffix(c.parent[s]), alpha_, K, of_suffix(s));
  }

  for (std::size_t w = 0; w < c.lower.size(); ++w) {
    lower_counts_.resize(std::max(lower_counts_.size(), (c.lower[w] + std::size_t{1}) * K), 0.0);
    add(counts(w), K, lower_counts_.data() + c.lower[w] * K);
  }

  const auto size = static_cast<double>(words);
  const double total = sum(all.data(), K), mass = size / (total + size);  // of words never seen
  log_unseen_ = safe_log(mass);
  log_normaliser_.resize(K);
  for (std::size_t k = 0; k < K; ++k) log_normaliser_[k] = mass * given_suffix_[k];
  scores_.resize(words * K);
  std::vector<double> prior(words);
  for (std::size_t w = 0; w < words; ++w) {
    double* const given = scores_.data() + w * K;
    spelled(c.suffix[w], c.lower.empty() ? kUnseen : c.lower[w], given);
    smooth(counts(w), given, c.word_alpha, K, given);
    prior[w] = (1.0 - mass) * sum(counts(w), K) / total;
    for (std::size_t k = 0; k < K; ++k) log_normaliser_[k] += prior[w] * given[k];
  }
  for (double& z : log_normaliser_) z = safe_log(z);
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    scores_[i] = safe_log(prior[i / K]) + safe_log(scores_[i]) - log_normaliser_[i % K];
  }
}

void WordEmissions::spelled(std::uint32_t suffix, std::uint32_t lower, double* out) const {
  std::copy_n(given_suffix_.data() + suffix * labels_, labels_, out);
  if (lower != kUnseen) smooth(lower_counts_.data() + lower * labels_, out, alpha_, labels_, out);
}

void WordEmissions::known(std::uint32_t word, double* out) const {
  if (word >= scores_.size() / labels_) throw std::invalid_argument("there is no such word");
  std::copy_n(scores_.data() + word * labels_, labels_, out);
}

void WordEmissions::unknown(std::uint32_t suffix, std::uint32_t lower, double* out) const {
  if (suffix >= given_suffix_.size() / labels_ ||
      (lower != kUnseen && lower >= lower_counts_.size() / labels_)) {
    throw std::invalid_argument("there is no such suffix");
  }
  spelled(suffix, lower, out);
  for (std::size_t k = 0; k < labels_; ++k) {
    out[k] = log_unseen_ + safe_log(out[k]) - log_normaliser_[k];
  }
}

}  // namespace structlearn::text
