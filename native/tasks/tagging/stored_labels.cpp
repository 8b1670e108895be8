#include "tasks/tagging/stored_labels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tasks/tagging/rounded_weights.hpp"

namespace structlearn::text {
namespace {

std::string window_name(std::size_t order) {
  return "transition" + std::to_string(order);
}

// Whether a table's features are known by some bits of their keys only.
bool is_hashed(const std::string& table, const TaggerShape& shape) {
  return shape.hashed && (table == "state" || table == "first");
}

// The scores of all label windows, of a file that has those which are not 0.
std::vector<double> spread_scores(const Tensors& tensors, const std::string& name,
                                  std::size_t size) {
  const auto places = items<std::uint32_t>(tensors, name + ".places", "U32");
  const auto scores = items<double>(tensors, name + ".scores", "F64");
  if (places.size() != scores.size() ||
      std::any_of(places.begin(), places.end(), [&](std::uint32_t at) { return at >= size; })) {
    throw std::invalid_argument("the scores of '" + name + "' do not fit together");
  }
  std::vector<double> dense(size, 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) dense[places[i]] = scores[i];
  return dense;
}

WeightArrays expanded_table(const Tensors& tensors, const std::string& table, bool halves,
                            bool hashed, std::size_t outcomes) {
  const std::string columns = table + ".columns";
  const auto at = tensors.find(columns);
  const bool wide = at != tensors.end() && at->second.dtype == "U32";
  const auto scale = items<double>(tensors, table + ".scale", "F64");
  if (scale.empty()) throw std::invalid_argument("the weights of '" + table + "' have no scale");
  RoundedWeights rounded;
  rounded.hashed = hashed;
  rounded.keys = items<std::uint64_t>(tensors, table + ".keys", "U64");
  rounded.counts = items<std::uint16_t>(tensors, table + ".counts", "U16");
  rounded.columns = tensor(tensors, columns, wide ? "U32" : "U16").data;
  rounded.column_width = wide ? 4 : 2;
  rounded.values = tensor(tensors, table + ".rounded", halves ? "F16" : "I8").data;
  rounded.value_width = halves ? 2 : 1;
  rounded.scale = scale[0];
  return expanded(rounded, outcomes);
}

// body(number, name, value) for the entries of an object by name.
template <class Body>
void numbered(const Json& given, const char* what, Body&& body) {
  std::size_t number = 0;
  for (const auto& [name, value] : given.object(what)) body(number++, name, value);
}

}  // namespace

TaggerArrays tagger_arrays(const Tensors& tensors, const TaggerShape& shape,
                           const std::string& precision) {
  TaggerArrays found;
  ArrayViews& arrays = found.arrays;
  const auto take = [&](const std::string& name, std::string_view dtype) {
    arrays.put(name, tensor(tensors, name, dtype).data);
  };
  if (precision != "float32" && precision != "float16" && precision != "int8") {
    throw std::invalid_argument("precision must be float32, float16 or int8, got '" + precision +
                                "'");
  }
  std::vector<std::string> tables{"state"};
  const auto pair = tensors.lower_bound("pair.");
  if (pair != tensors.end() && pair->first.starts_with("pair.")) tables.emplace_back("pair");
  take("start", "F64");
  take("end", "F64");
  std::size_t size = shape.labels;
  for (std::size_t m = 1; m <= shape.order; ++m) {
    const std::string name = window_name(m);
    if (shape.candidates > 0) continue;
    if (__builtin_mul_overflow(size, shape.labels, &size) || size > std::size_t{1} << 40) {
      throw std::invalid_argument("too many labels for the order");
    }
    if (tensors.find(name + ".places") == tensors.end()) {
      take(name, "F64");
    } else {
      arrays.put_items<double>(name,
                               found.scores_.emplace_back(spread_scores(tensors, name, size)));
    }
  }
  if (shape.candidates > 0) {
    tables.emplace_back("first");
    for (std::size_t m = 1; m <= shape.order; ++m) tables.push_back(window_name(m));
    if (tensors.find("forbidden") != tensors.end()) take("forbidden", "U8");
  }
  for (const std::string& table : tables) {
    if (precision == "float32") {
      take(table + ".slots", "U64");
      take(table + ".weight", "F32");
      take(table + ".outcome", "U32");
      continue;
    }
    const std::size_t outcomes = table == "pair" ? shape.labels * shape.labels : shape.labels;
    WeightArrays& made = found.tables_.emplace_back(
        expanded_table(tensors, table, precision == "float16", is_hashed(table, shape), outcomes));
    arrays.put_items<std::uint64_t>(table + ".slots", made.slots);
    arrays.put_items<float>(table + ".weight", made.weight);
    arrays.put_items<std::uint32_t>(table + ".outcome", made.outcome);
    found.kept[table] = std::move(made.kept);
  }
  return found;
}

TaggerWeights tagger_weights(const ArrayViews& arrays, const TaggerShape& shape) {
  TaggerWeights w;
  w.labels = shape.labels;
  w.order = shape.order;
  w.candidates = shape.candidates;
  w.state = weight_table(arrays, "state");
  w.state.hashed = shape.hashed;
  w.pair = weight_table(arrays, "pair");
  w.start = score_table(arrays, "start");
  w.end = score_table(arrays, "end");
  if (shape.order > 4) throw std::invalid_argument("the order is above 4");
  for (std::size_t m = 1; m <= shape.order; ++m) {
    if (shape.candidates > 0) {
      w.windows.push_back(weight_table(arrays, window_name(m)));
    } else {
      w.transition.push_back(score_table(arrays, window_name(m)));
    }
  }
  if (shape.candidates > 0) {
    w.first = weight_table(arrays, "first");
    w.first.hashed = shape.hashed;
    w.forbidden = ForbiddenLabels(arrays.items<std::uint8_t>("forbidden"), w.labels);
  }
  return w;
}

WeightTable weight_table(const ArrayViews& arrays, const std::string& name) {
  WeightTable t;
  t.slots = arrays.items<std::uint64_t>(name + ".slots");
  t.weight = arrays.items<float>(name + ".weight");
  t.outcome = arrays.items<std::uint32_t>(name + ".outcome");
  return t;
}

std::vector<double> score_table(const ArrayViews& arrays, const std::string& name) {
  const auto values = arrays.items<double>(name);
  for (const double x : values) {
    if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) {
      throw std::invalid_argument(name + " has a score that is not a number");
    }
  }
  return {values.begin(), values.end()};
}

LabelNames label_names(std::vector<std::string> labels, const std::vector<std::string>& shown,
                       bool repeated) {
  if (labels.size() != shown.size()) throw std::invalid_argument("a name for every label");
  LabelNames names;
  names.labels = std::move(labels);
  names.names = shown;
  std::sort(names.names.begin(), names.names.end());
  names.names.erase(std::unique(names.names.begin(), names.names.end()), names.names.end());
  for (const std::string& name : shown) names.name_of.push_back(names.find(name));
  std::vector<std::string_view> sorted(names.labels.begin(), names.labels.end());
  std::sort(sorted.begin(), sorted.end());
  if (!repeated && std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw std::invalid_argument("a label is there twice");
  }
  return names;
}

std::map<std::string, std::shared_ptr<const Lexicon>> stored_lexica(const Json& given,
                                                                    const Tensors& tensors) {
  std::map<std::string, std::shared_ptr<const Lexicon>> lexica;
  numbered(given, "the lexica", [&](std::size_t number, const std::string& name, const Json& told) {
    const std::string prefix = "lexicon" + std::to_string(number);
    const auto words = items<std::uint64_t>(tensors, prefix + ".words", "U64");
    const auto value = items<std::uint32_t>(tensors, prefix + ".value", "U32");
    lexica[name] = std::make_shared<Lexicon>(words, value, told.texts("the names of a lexicon"));
  });
  return lexica;
}

std::map<std::string, StoredVectors> stored_vectors(const Json& given, const Tensors& tensors) {
  std::map<std::string, StoredVectors> vectors;
  numbered(given, "the vectors", [&](std::size_t n, const std::string& name, const Json& words) {
    const std::string key = "vectors." + std::to_string(n);
    const Tensor& found = tensor(tensors, key, "F32");
    if (found.shape.size() != 2) throw std::invalid_argument(key + " is no table");
    vectors[name] = {words.texts("the names of vectors"), key, found.shape[1]};
  });
  return vectors;
}

}  // namespace structlearn::text
