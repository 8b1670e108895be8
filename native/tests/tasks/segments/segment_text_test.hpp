// Features of segments, their numbers, and a model over them, on a text of a few words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/queries.hpp"
#include "tasks/segments/segment_model.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tests/check.hpp"
#include "text/vocabulary.hpp"

namespace test {

namespace text = structlearn::text;

inline std::shared_ptr<const text::FeatureSet> segment_features() {
  using text::Place;
  text::Attribute word, several;
  word.column = several.column = 0;
  several.multiple = true;
  several.function = [](std::string_view s, std::vector<std::string>& out) {
    for (const char c : s) out.emplace_back(1, c);
  };
  return std::make_shared<text::FeatureSet>(
      std::vector<text::Attribute>{word, several},
      std::vector<text::Template>{
          {"before", {{0, -1, Place::kBegin}}, text::Spelling::kNone, {}, true},
          {"begin", {{0, 0, Place::kBegin}}},
          {"letters", {{1, 0, Place::kInside}}},
          {"end after", {{0, 0, Place::kEnd}, {0, 1, Place::kEnd}}},
          {"whole", {{0, 0, Place::kWhole}}},
          {"length", {{0, 0, Place::kLength}, {1, 1, Place::kInside}}},
      });
}

inline void test_segment_texts() {
  context = "segments of a text";
  const auto features = segment_features();
  text::Corpus corpus(text::Format::kColumns);
  corpus.read("ab x\nc x\nab x\n\nab x\n\n");
  text::Extractor extractor(features, corpus);
  extractor.update();
  text::SegmentKeys keys;
  extractor.segment_keys(0, 3, keys);
  CHECK(keys.begin.end.size() == 3 && keys.own.end.size() == 9);
  // before and begin; letters of each token; end and after, not at the end of the sentence.
  CHECK(keys.begin.key.size() == 6 && keys.inside.key.size() == 5 && keys.end.key.size() == 2);
  CHECK(keys.begin.key[1] == keys.begin.key[5] && keys.begin.key[0] != keys.begin.key[2]);
  // The segment [0, 2): the words as one, and the letters of the tokens after each with the length.
  CHECK(extractor.named(0, 0, 2).size() == 1 + 1 + 3 + 1 + 1 + 3);

  text::Vocabulary vocabulary(features, 1, 0, "");
  vocabulary.add_label("0");
  vocabulary.add_label("1");
  const std::vector<std::int32_t> marks{1, -1, 1, 1}, wrong{1, 2, 1, 1};
  CHECK_THROWS(std::invalid_argument, vocabulary.add_segments(extractor, corpus, 3, wrong));
  vocabulary = text::Vocabulary(features, 1, 0, "");
  vocabulary.add_label("0");
  vocabulary.add_label("1");
  vocabulary.add_segments(extractor, corpus, 3, marks);
  vocabulary.freeze(0, 0, nullptr);
  CHECK(vocabulary.column() == std::vector<std::uint32_t>(vocabulary.size(), 1));
  // Segments that may be there are counted as if they were, one by one.
  text::Vocabulary open(features, 1, 0, "");
  open.add_label("0");
  open.add_label("1");
  using Open = text::Vocabulary::OpenSegment;
  const std::vector<std::int32_t> some{-2, -2, -2, 1};
  open.add_segments(extractor, corpus, 3, some, std::vector<Open>{{0, 2, 1}, {2, 3, 1}});
  open.freeze(0, 0, nullptr);
  CHECK(open.size() == vocabulary.size() && open.column() == vocabulary.column());
  const std::vector<Open> over{{2, 4, 1}};
  text::Vocabulary other(features, 1, 0, "");
  other.add_label("0");
  other.add_label("1");
  CHECK_THROWS(std::invalid_argument, other.add_segments(extractor, corpus, 3, some, over));
  text::TokenRows rows;
  vocabulary.segment_rows(extractor, corpus, 3, rows);
  CHECK(rows.sentence.back() == 12 && rows.begin.size() == 13);

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

  const text::LabelNames names{{"O", "B-X", "O", "I-X"}, {"B-X", "I-X", "O"}, {2, 0, 2, 1}};
  text::LabelOptions options;
  options.targets = {1};
  options.columns = 2;
  options.wanted.confidence = true;
  text::Labeller labeller(
      *features,
      [&model](const text::Corpus& c) { return std::make_unique<text::SegmentReader>(model, c); },
      names, text::Format::kColumns, options);
  std::string out;
  labeller.label("ab x\nc  x\n\n", 0, out);
  CHECK(out.rfind("ab B-X ", 0) == 0 && labeller.tokens() == 2);

  weights.start = {0.0};
  CHECK_THROWS(std::invalid_argument, text::SegmentModel(features, weights));
}

}  // namespace test
