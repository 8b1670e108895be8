// Arrays as model files hold them: whatever is accepted can be used.
#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "models/queries.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/packed_weights.hpp"
#include "tasks/tagging/reader.hpp"
#include "tasks/tagging/rounded_weights.hpp"
#include "text/lexicon.hpp"

namespace {

using namespace structlearn::text;

std::shared_ptr<const FeatureSet> word_features() {
  Template word;
  word.text = "w";
  word.atoms = {{0, 0}};
  return std::make_shared<FeatureSet>(std::vector<Attribute>(1), std::vector{word});
}

void use(const WeightTable& table, std::size_t outcomes) {
  TaggerWeights weights;
  weights.labels = outcomes;
  weights.state = table;
  weights.start = weights.end = std::vector<double>(outcomes, 0.0);
  weights.transition.assign(1, std::vector<double>(outcomes * outcomes, 0.0));
  static const auto features = word_features();
  const TaggerModel model(features, weights);
  std::vector<double> row(outcomes);
  for (std::uint64_t key = 0; key < 40; ++key) model.weights_of(key, false, row.data());
  for (const double x : row) fuzz::require(std::isfinite(x));
  unpack(table, outcomes);
  Corpus corpus(Format::kColumns);
  corpus.read("a\nb\n\nc\n");
  TaggerReader reader(model, corpus);
  structlearn::Output y;
  structlearn::best(reader, reader.scores(0, structlearn::Purpose::kBest), y);
}

void weight_table(fuzz::Input& in) {
  const std::size_t outcomes = 1 + in.below(8);
  const bool hashed = in.flag();
  const auto slots = in.array<std::uint64_t>();
  const auto weight = in.array<float>();
  const auto outcome = in.array<std::uint32_t>();
  const WeightTable table{slots, weight, outcome, hashed};
  table.check(outcomes);
  use(table, outcomes);
}

void rounded(fuzz::Input& in) {
  const std::size_t outcomes = 1 + in.below(8);
  RoundedWeights r;
  r.hashed = in.flag();
  r.column_width = in.flag() ? 2 : in.below(6);
  r.value_width = in.flag() ? 2 : in.below(4);
  r.scale = static_cast<double>(in.byte()) / 16.0;
  const auto keys = in.array<std::uint64_t>();
  const auto counts = in.array<std::uint16_t>();
  const auto columns = in.array<std::uint8_t>();
  const auto values = in.array<std::uint8_t>();
  r.keys = keys;
  r.counts = counts;
  r.columns = columns;
  r.values = values;
  const WeightArrays arrays = expanded(r, outcomes);
  const WeightTable table{arrays.slots, arrays.weight, arrays.outcome, r.hashed};
  table.check(outcomes);
  use(table, outcomes);
}

void packed(fuzz::Input& in) {
  structlearn::parsing::PackedWeights p;
  p.width = in.below(6);
  const auto present = in.array<std::uint8_t>();
  const auto codes = in.array<float>();
  const auto values = in.array<std::uint8_t>();
  p.present = present;
  p.values = values;
  p.codes = codes;
  const auto table = structlearn::parsing::unpacked(p, "weights");
  for (std::size_t i = 0; i < 8 * present.size(); ++i) fuzz::require(std::isfinite(table[i]));
  structlearn::parsing::copied(codes, "weights");
}

void label_sets(fuzz::Input& in) {
  const std::size_t labels = in.byte() + in.flag() * 200;
  const auto keys = in.array<std::uint64_t>();
  const auto masks = in.array<std::uint64_t>();
  const structlearn::parsing::LabelSets sets(labels, keys, masks);
  std::vector<std::uint64_t> k, m;
  sets.store(k, m);
  fuzz::require(m.size() == 4 * k.size());
}

void lexicon(fuzz::Input& in) {
  const std::vector<std::string> names(in.byte() % 5, "x");
  const auto words = in.array<std::uint64_t>();
  const auto value = in.array<std::uint32_t>();
  const Lexicon made(words, value, names);
  for (const std::uint64_t word : words) {
    fuzz::require(made.value(word, Lexicon::kAll) < made.names().size());
  }
  made.value(12345, Lexicon::kAll);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  try {
    switch (in.below(5)) {
      case 0:
        weight_table(in);
        break;
      case 1:
        rounded(in);
        break;
      case 2:
        packed(in);
        break;
      case 3:
        label_sets(in);
        break;
      default:
        lexicon(in);
    }
  } catch (const std::invalid_argument&) {  // the one error they document
  }
  return 0;
}
