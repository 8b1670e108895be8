// Taggers of tokens and of segments.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "library/opened_model.hpp"
#include "models/calibration.hpp"
#include "models/container.hpp"
#include "numeric/pool.hpp"
#include "tasks/segments/segment_model.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/reader.hpp"
#include "tasks/tagging/stored_labels.hpp"
#include "text/column_names.hpp"
#include "text/corpus.hpp"
#include "text/json.hpp"
#include "text/template_specs.hpp"

namespace structlearn::library {
namespace {

using namespace structlearn::text;

constexpr std::size_t kMostColumns = std::size_t{1} << 15, kMostOrder = 4;

[[noreturn]] void needs_python(const std::string& what) {
  throw Unsupported("the model has " + what +
                    ", which the C library does not have: label with structlearn in Python");
}

TemplateResources resources_of(const Json& d, const Tensors& tensors) {
  TemplateResources r;
  for (const auto& [name, phrases] : d.at("phrases").object("the phrases")) {
    r.phrases[name] = read_phrases(phrases);
  }
  for (const auto& [name, stored] : stored_vectors(d.at("vectors"), tensors)) {
    r.vectors[name] =
        vector_table(stored.names, items<float>(tensors, stored.tensor, "F32"), stored.width);
  }
  r.lexica = stored_lexica(d.at("lexica"), tensors);
  r.function = [](const std::string& name, const std::string& argument) -> StringFunction {
    needs_python(name == "match" ? "the regular expression /" + argument + "/ in its templates"
                                 : "the function '" + argument + "' in its templates");
  };
  r.sentence = [](const std::string& name) -> decltype(Attribute::sentence_function) {
    needs_python("the function '" + name + "' in its templates");
  };
  return r;
}

class LabelModel final : public OpenedModel {
 public:
  explicit LabelModel(std::vector<char> content) : content_(std::move(content)) {
    Container file = parse_container({content_.data(), content_.size()}, "model");
    const Tensors& tensors = file.tensors;
    const Json d = parse_json(file.description);
    segments_ = d.at("task").text("the task") == "segments";
    if (const Json* constraints = d.find("constraints");
        constraints != nullptr && !constraints->list("the constraints").empty()) {
      needs_python("constraints");
    }
    if (d.find("emissions") != nullptr) needs_python("the emissions of a hidden Markov model");
    format_ = d.at("format").text("the format") == "conllu" ? Format::kConllu : Format::kColumns;
    const std::size_t columns = d.at("n_columns").size("the number of columns", 1, kMostColumns);
    if (format_ == Format::kConllu && columns != kConlluColumns) {
      throw std::invalid_argument("CoNLL-U of " + std::to_string(columns) + " columns");
    }
    features_ = std::make_shared<FeatureSet>(
        compiled(read_templates(d.at("templates")), format_, columns, resources_of(d, tensors)));
    std::vector<std::string> labels = d.at("labels").texts("the labels");
    if (segments_) {
      make_segments(d, tensors, labels);
    } else {
      make_tagger(d, tensors, std::move(labels));
    }
    LabelOptions options;
    options.columns = columns;
    options.targets = {d.at("target").size("the column of the labels", 0, columns - 1)};
    if (const Json* further = d.find("further"); further != nullptr) {
      for (const Json& column : further->list("the columns of further labels")) {
        options.targets.push_back(column.size("a column of labels", 0, columns - 1));
      }
    }
    ProbabilityScale scale = probability_scale(d.at("training"));
    temperature_ = scale.temperature;
    options.certainty = Confidence(scale.certainty);
    options_ = std::move(options);
    read_ = columns_read(*features_, Format::kColumns, options_.targets, false);
    read_.resize(columns, 0);
    labellers_.emplace([this] {
      auto labeller = std::make_unique<Labeller>(
          *features_, [this](const Corpus& corpus) { return reader(corpus); }, names_,
          Format::kColumns, options_);
      labeller->expect({options_.columns, '\t'});
      return labeller;
    });
    reader(Corpus(Format::kColumns));  // refuses what does not fit together
  }

  const char* kind() const override { return segments_ ? "segments" : "tagger"; }
  const std::vector<std::string>& labels() const override { return names_.names; }

  void label(const Tokens& tokens, const Question& asked, Labels& out) const override {
    const std::vector<std::optional<std::size_t>> sources = sources_of(tokens);
    std::unique_ptr<Labeller> labeller = labellers_->take();
    labeller->want({.nbest = asked.nbest,
                    .confidence = asked.confidence,
                    .scores = asked.probability,
                    .temperature = temperature_});
    labeller->begin();
    std::vector<std::string_view> cells(options_.columns, "_");
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto given = tokens.of(t);
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (sources[c]) cells[c] = given[*sources[c]];
      }
      labeller->add_token(cells);
    }
    std::vector<Answer> answers;
    try {
      labeller->answer(answers);
    } catch (const BadLine& error) {
      throw BadTokens(error.what());
    }
    const Answer& first = answers.front();
    const auto none = std::find(first.labels.begin(), first.labels.end(), nullptr);
    out.labellings = static_cast<std::size_t>(none - first.labels.begin());
    for (std::size_t n = 0; n < out.labellings; ++n) {
      for (const Answer& answer : answers) out.label.push_back(answer.labels[n]);
    }
    out.probability = first.scores;
    for (const Answer& answer : answers) {
      if (asked.confidence) out.confidence.push_back(answer.confidence);
    }
    labellers_->give_back(std::move(labeller));
  }

 private:
  void make_tagger(const Json& d, const Tensors& tensors, std::vector<std::string> labels) {
    const std::size_t most = std::numeric_limits<std::uint32_t>::max();
    names_ = label_names(std::move(labels), d.at("shown").texts("the labels as they are written"));
    TaggerShape shape;
    shape.labels = names_.labels.size();
    shape.order = d.at("order").size("the order", 0, kMostOrder);
    shape.hashed = d.at("hashed").flag("whether features are hashed");
    const Json* candidates = d.find("candidates");
    if (candidates != nullptr) shape.candidates = candidates->size("the candidates", 0, most);
    arrays_ = tagger_arrays(tensors, shape, d.at("precision").text("the precision"));
    tagger_ = std::make_unique<TaggerModel>(features_, tagger_weights(arrays_.arrays, shape));
  }

  void make_segments(const Json& d, const Tensors& tensors,
                     const std::vector<std::string>& labels) {
    names_ = segment_names(labels);
    ArrayViews arrays;
    for (const auto& [name, dtype] : kSegmentArrays) {
      arrays.put(std::string(name), tensor(tensors, name, dtype).data);
    }
    segment_ = std::make_unique<SegmentModel>(
        features_,
        segment_weights(arrays, labels.size(), d.at("max_length").size("max_length", 1, 1000)));
  }

  std::unique_ptr<LabelReader> reader(const Corpus& corpus) const {
    if (segments_) return std::make_unique<SegmentReader>(*segment_, corpus);
    return std::make_unique<TaggerReader>(*tagger_, corpus);
  }

  // Of each column of the training files the cell that stands for it.
  std::vector<std::optional<std::size_t>> sources_of(const Tokens& tokens) const {
    if (tokens.values != nullptr) throw BadTokens("cells of taggers have no numbers");
    const std::size_t n = tokens.of(0).size();
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.of(t).size() != n) {
        throw BadTokens("token " + std::to_string(t) + " has " +
                        std::to_string(tokens.of(t).size()) + " cells, the first one " +
                        std::to_string(n));
      }
    }
    if (n > options_.columns) {
      throw BadTokens("tokens have " + std::to_string(n) + " cells, the training files " +
                      std::to_string(options_.columns) + " columns");
    }
    auto sources = columns_for(format_, options_.columns, Format::kColumns, n);
    for (std::size_t c = 0; c < sources.size(); ++c) {
      if (read_[c] != 0 && !sources[c]) {
        throw BadTokens("the model reads the column '" +
                        column_names(format_, options_.columns)[c] +
                        "', for which tokens of so many cells have none: " + std::to_string(n));
      }
    }
    return sources;
  }

  std::vector<char> content_;  // which the arrays are views of
  bool segments_ = false;
  Format format_ = Format::kColumns;
  std::shared_ptr<const FeatureSet> features_;
  LabelNames names_;
  TaggerArrays arrays_;
  std::unique_ptr<TaggerModel> tagger_;
  std::unique_ptr<SegmentModel> segment_;
  double temperature_ = 1.0;
  LabelOptions options_;
  std::vector<std::uint8_t> read_;  // by column
  std::optional<Pool<Labeller>> labellers_;
};

}  // namespace

std::unique_ptr<OpenedModel> open_labels(std::vector<char> content) {
  return std::make_unique<LabelModel>(std::move(content));
}

}  // namespace structlearn::library
