// Segments of a corpus, counted and in terms of their features' numbers.
#include <algorithm>
#include <stdexcept>

#include "text/vocabulary.hpp"

namespace structlearn::text {

void Vocabulary::add_segments(Extractor& extractor, const Corpus& corpus, std::size_t max_length,
                              std::span<const std::int32_t> marks,
                              std::span<const OpenSegment> open) {
  if (frozen_) throw std::logic_error("the vocabulary is frozen");
  SegmentKeys keys;
  std::size_t next = 0;
  for (std::size_t s = 0; s < corpus.sentences(); ++s, ++sentences_) {
    extractor.segment_keys(s, max_length, keys);
    const std::size_t first = corpus.sentence(s), n = corpus.sentence(s + 1) - first;
    const auto count = [&](std::size_t b, std::size_t e, std::int32_t of) {
      const auto label = static_cast<std::uint32_t>(of);
      if (b >= e || e > n || e - b > max_length)
        throw std::invalid_argument("a segment is too long");
      if (label >= label_.size()) throw std::invalid_argument("a label that was not added");
      const auto add = [&](const Keys& part, std::size_t row) {
        for (std::size_t j = row == 0 ? 0 : part.end[row - 1]; j < part.end[row]; ++j) {
          const std::uint32_t id = number(part.key[j], corpus.copies(s));
          if (id >= sighting_.size()) {
            sighting_.push_back({static_cast<std::uint32_t>(sentences_),
                                 static_cast<std::uint32_t>(b), part.origin[j],
                                 static_cast<std::uint16_t>(e - b)});
          }
          observe(id, label);
        }
      };
      add(keys.begin, b);
      add(keys.end, e - 1);
      for (std::size_t t = b; t < e; ++t) add(keys.inside, t);
      add(keys.own, b * max_length + (e - b - 1));
    };
    for (std::size_t b = 0, e = 1; b < n; b = e) {
      for (e = b + 1; e < n && marks[first + e] == kGoesOn; ++e) {
      }
      if (marks[first + b] != kOpen) count(b, e, marks[first + b]);
    }
    for (; next < open.size() && open[next].begin < first + n; ++next) {
      if (open[next].begin < first) break;
      count(open[next].begin - first, open[next].end - first, open[next].label);
    }
  }
  if (next < open.size()) throw std::invalid_argument("open segments are not in order");
}

void Vocabulary::segment_rows(Extractor& extractor, const Corpus& corpus, std::size_t max_length,
                              TokenRows& out) const {
  // A key's number is looked up once a token, not once a segment that has it.
  struct Numbers {
    std::vector<std::int32_t> feature;
    std::vector<std::size_t> begin;
  };
  Numbers begins, ends, insides, own;
  SegmentKeys keys;
  const std::size_t D = max_length, sentences = corpus.sentences();
  out.begin.reserve(corpus.tokens() * D + 1);
  out.sentence.reserve(sentences + 1);
  const auto look_up = [&](const Keys& part, Numbers& into) {
    into.feature.clear();
    into.begin.assign(1, 0);
    std::size_t j = 0;
    for (const std::uint32_t end : part.end) {
      for (; j < end; ++j) {
        if (j + kAhead < part.key.size()) index_.prefetch(part.key[j + kAhead]);
        const std::uint32_t id = index_.find(part.key[j]);
        if (id != FeatureIndex::kAbsent) into.feature.push_back(static_cast<std::int32_t>(id));
      }
      into.begin.push_back(into.feature.size());
    }
  };
  const auto append = [&](const Numbers& part, std::size_t from, std::size_t to) {
    out.feature.insert(out.feature.end(),
                       part.feature.begin() + static_cast<std::ptrdiff_t>(part.begin[from]),
                       part.feature.begin() + static_cast<std::ptrdiff_t>(part.begin[to]));
  };
  bool reserved = false;
  for (std::size_t s = 0; s < sentences; ++s) {
    extractor.segment_keys(s, D, keys);
    look_up(keys.begin, begins);
    look_up(keys.end, ends);
    look_up(keys.inside, insides);
    look_up(keys.own, own);
    const std::size_t n = corpus.sentence(s + 1) - corpus.sentence(s);
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t e = b + 1; e <= b + D; ++e) {
        if (e <= n) {
          append(begins, b, b + 1);
          append(ends, e - 1, e);
          append(insides, b, e);
          append(own, b * D + (e - b - 1), b * D + (e - b));
        }
        out.begin.push_back(static_cast<std::int64_t>(out.feature.size()));
      }
    }
    out.sentence.push_back(static_cast<std::int64_t>(out.begin.size()) - 1);
    // Growing by doubling would take up to twice the memory: what is to come is like what was.
    if (!reserved && s * 16 >= sentences) {
      reserved = true;
      const double done =
          static_cast<double>(corpus.sentence(s + 1)) / static_cast<double>(corpus.tokens());
      out.feature.reserve(
          static_cast<std::size_t>(1.1 * static_cast<double>(out.feature.size()) / done));
    }
  }
}

}  // namespace structlearn::text
