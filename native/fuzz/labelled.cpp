// Text in, text with labels out: the loop that taggers run over files, with a small model.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"
#include "tasks/tagging/reader.hpp"
#include "text/functions.hpp"

namespace {

using namespace structlearn::text;

struct SmallModel {
  LabelNames names;
  WeightArrays state;
  std::unique_ptr<TaggerModel> model;

  SmallModel() {
    names.labels = {"A", "B-x", "I-x"};
    names.names = names.labels;
    names.name_of = {0, 1, 2};
    std::vector<std::uint32_t> row_ptr{0}, column;
    std::vector<double> w;
    for (int f = 0; f < 32; ++f) {
      for (std::uint32_t k = 0; k < 3; ++k) {
        column.push_back(k);
        w.push_back(0.1 * ((f * 7 + static_cast<int>(k) * 3) % 11) - 0.5);
      }
      row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
    }
    state = pack({}, row_ptr, column, w, 3, 0.0);
    Attribute word, low;
    word.column = low.column = 0;
    low.function = [](std::string_view s, std::vector<std::string>& out) {
      out.push_back(lower(s));
    };
    Attribute first;
    first.kind = Attribute::Kind::kFirst;
    std::vector<Template> templates(3);
    templates[0].text = "w";
    templates[0].atoms = {{0, 0}, {0, -1}};
    templates[0].mark_boundaries = true;
    templates[1].text = "l";
    templates[1].atoms = {{1, 1}};
    templates[2].text = "f";
    templates[2].atoms = {{2, 0}};
    TaggerWeights weights;
    weights.labels = 3;
    weights.state = {state.slots, state.weight, state.outcome, true};
    weights.start = weights.end = {0.1, 0.2, -0.3};
    weights.transition.assign(1, {0.0, 0.1, -1e30, 0.2, 0.0, 0.3, 0.1, 0.0, 0.5});
    auto features = std::make_shared<FeatureSet>(std::vector<Attribute>{word, low, first},
                                                 std::move(templates));
    model = std::make_unique<TaggerModel>(std::move(features), std::move(weights));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SmallModel small;
  fuzz::Input in(data, size);
  const Format format = in.flag() ? Format::kConllu : Format::kColumns;
  LabelOptions options;
  options.targets = {format == Format::kConllu ? std::size_t{3} : std::size_t{1}};
  options.columns = format == Format::kConllu ? 10 : 2;
  options.wanted.nbest = 1 + in.below(3);
  options.wanted.confidence = in.flag();
  options.wanted.marginals = in.flag();
  options.known = in.flag();
  Labeller labeller(small.model->features(), readers_of(*small.model), small.names, format,
                    options);
  const std::string text(in.rest());
  const std::size_t cut = last_sentence_end(text);
  std::string out;
  try {  // in two pieces, as files are read
    labeller.label(std::string_view(text).substr(0, cut), 0, out);
    labeller.label(std::string_view(text).substr(cut), count_lines(text.substr(0, cut)), out);
  } catch (const BadLine&) {
    return 0;
  }
  // What was written can be read, and has the same tokens.
  Corpus again(format);
  again.read(out);
  fuzz::require(again.tokens() == labeller.tokens());
  return 0;
}
