// Features of segments, their numbers, and a model over them, on a text of a few words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/queries.hpp"
#include "tasks/segments/segment_model.hpp"
#include "tests/check.hpp"

namespace test {

namespace text = structlearn::text;

inline std::shared_ptr<const text::SegmentFeatures> segment_features() {
  using Place = text::SegmentAtom::Place;
  text::Attribute word, several;
  word.column = several.column = 0;
  several.multiple = true;
  several.function = [](std::string_view s, std::vector<std::string>& out) {
    for (const char c : s) out.emplace_back(1, c);
  };
  auto attributes = std::make_shared<text::FeatureSet>(std::vector<text::Attribute>{word, several},
                                                       std::vector<text::Template>{});
  std::vector<text::SegmentTemplate> templates{
      {"before", {{Place::kBegin, 0, -1}}, true},
      {"begin", {{Place::kBegin, 0, 0}}, false},
      {"letters", {{Place::kInside, 1, 0}}, false},
      {"end after", {{Place::kEnd, 0, 0}, {Place::kEnd, 0, 1}}, false},
      {"whole", {{Place::kWhole, 0, 0}}, false},
      {"length", {{Place::kLength, 0, 0}, {Place::kInside, 1, 1}}, false},
  };
  return std::make_shared<text::SegmentFeatures>(attributes, std::move(templates));
}

inline void test_segment_texts() {
  context = "segments of a text";
  const auto features = segment_features();
  text::Corpus corpus(text::Format::kColumns);
  corpus.read("ab x\nc x\nab x\n\nab x\n\n");
  text::SegmentExtractor extractor(features, corpus, 3);
  extractor.update();
  text::SegmentKeys keys;
  extractor.keys(0, keys);
  CHECK(keys.begin.end.size() == 3 && keys.both.end.size() == 9);
  // before and begin; letters of each token; end and after, not at the end of the sentence.
  CHECK(keys.begin.key.size() == 6 && keys.inside.key.size() == 5 && keys.end.key.size() == 2);
  CHECK(keys.begin.key[1] == keys.begin.key[5] && keys.begin.key[0] != keys.begin.key[2]);
  // The segment [0, 2): the words as one, and the letters of the tokens after each with the length.
  CHECK(extractor.named(0, 0, 2).size() == 1 + 1 + 3 + 1 + 1 + 3);

  text::SegmentVocabulary vocabulary;
  vocabulary.add(extractor, corpus, {1, 0, 1, 1});
  text::SegmentRows rows;
  vocabulary.rows(extractor, corpus, rows);
  CHECK(rows.site.back() == 12 && rows.begin.size() == 13);

  // A weight of 1 for label 1 on every feature of the gold segments.
  const std::vector<std::uint64_t> known = vocabulary.index().keys();
  std::vector<std::uint32_t> row_ptr{0}, column;
  for (std::size_t f = 0; f < known.size(); ++f) {
    column.push_back(1);
    row_ptr.push_back(static_cast<std::uint32_t>(f + 1));
  }
  const std::vector<double> w(known.size(), 1.0);
  const text::WeightArrays packed = text::pack(known, row_ptr, column, w, 2, 0.0);
  text::SegmentWeights weights;
  weights.labels = 2;
  weights.max_length = 3;
  weights.table = {packed.slots, packed.weight, packed.outcome, false};
  weights.start = weights.end = {0.0, 0.0};
  weights.transition = {0.0, 0.0, 0.0, 0.0};
  const text::SegmentModel model(features, weights);
  text::SegmentReader reader(model, corpus);
  const structlearn::Scored& scored = reader.scores(0, structlearn::Purpose::kBest);
  for (std::size_t site = 0; site < 9; ++site) {
    if (site / 3 + site % 3 + 1 > 3) continue;
    const auto n = static_cast<double>(rows.begin[site + 1] - rows.begin[site]);
    CHECK_NEAR(scored.parts[2 * site + 1], n, 1e-12);
    CHECK(site % 3 == 0 || scored.parts[2 * site] == structlearn::kMinusInfinity);
  }
  structlearn::Output y;
  structlearn::best(reader, scored, y);
  CHECK(y.size() == 3 && y[0] == 1 && y[1] != 0 && y[2] != 0);
  std::vector<double> p;
  structlearn::marginals(reader, scored, 1.0, p);
  CHECK(structlearn::certainties(reader, scored, y, p).size() == reader.parts(y).size());

  const text::SegmentNames names{{"O", "B-X"}, {"O", "I-X"}};
  text::SegmentLabeller labeller(model, names, text::Format::kColumns, {1, 2, true, 1.0});
  std::string out;
  labeller.label("ab x\nc  x\n\n", 0, out);
  CHECK(out.rfind("ab B-X ", 0) == 0 && labeller.tokens() == 2);

  weights.start = {0.0};
  CHECK_THROWS(std::invalid_argument, text::SegmentModel(features, weights));
}

}  // namespace test
