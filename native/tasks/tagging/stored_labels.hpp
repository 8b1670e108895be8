// Models that label tokens, as their files have them: from tensors to what they are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/array_views.hpp"
#include "models/container.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"
#include "text/json.hpp"
#include "text/lexicon.hpp"
#include "text/template_specs.hpp"

namespace structlearn::text {

// What says which arrays a tagger has.
struct TaggerShape {
  std::size_t labels = 0, order = 1, candidates = 0;
  bool hashed = false;  // features are known by some bits of their keys only
};

// The arrays of a tagger as it looks them up: views of the file, or of what was made of arrays of
// fewer bits.
struct TaggerArrays {
  ArrayViews arrays;
  // Of each table of rounded weights the numbers of the features that have some, in no order.
  std::map<std::string, std::vector<std::uint32_t>> kept;

  TaggerArrays() = default;
  TaggerArrays(TaggerArrays&&) = default;
  TaggerArrays& operator=(TaggerArrays&&) = default;

 private:
  friend TaggerArrays tagger_arrays(const Tensors&, const TaggerShape&, const std::string&);
  std::deque<WeightArrays> tables_;
  std::deque<std::vector<double>> scores_;
};

// `precision` of the weights: float32, float16 or int8. Throws std::invalid_argument where arrays
// are missing, of another type, or do not fit together.
TaggerArrays tagger_arrays(const Tensors&, const TaggerShape&, const std::string& precision);

// Weights that borrow the arrays. Throws std::invalid_argument.
TaggerWeights tagger_weights(const ArrayViews&, const TaggerShape&);
// A table of the weights of features, NAME.slots and so on, and scores, of which -inf rules
// something out. Both are empty where there are no such arrays.
WeightTable weight_table(const ArrayViews&, const std::string& name);
std::vector<double> score_table(const ArrayViews&, const std::string& name);

// Throws std::invalid_argument unless there is a name for each label, and each label is there once
// or `repeated`.
LabelNames label_names(std::vector<std::string> labels, const std::vector<std::string>& shown,
                       bool repeated = false);

// Lexica of templates, and the names, tensors and widths of vectors, by the name of each.
std::map<std::string, std::shared_ptr<const Lexicon>> stored_lexica(const Json&, const Tensors&);
struct StoredVectors {
  std::vector<std::string> names;
  std::string tensor;
  std::size_t width;
};
std::map<std::string, StoredVectors> stored_vectors(const Json&, const Tensors&);

}  // namespace structlearn::text
