// CRFsuite's model files, written so that CRFsuite reads them: first-order models, type "FOMC",
// version 100.
//
// N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields; B. Jenkins
// (2006), lookup3.c, hashlittle(), public domain: the hash of the tables of names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace structlearn {

// Borrowed. Names have no zero byte in them.
struct CrfsuiteContent {
  std::vector<std::string_view> labels, attributes;
  // The weights of attribute a: [row_ptr[a], row_ptr[a + 1]), labels in `column`.
  std::span<const std::uint32_t> row_ptr, column;
  std::span<const double> weight;
  std::span<const double> transition;  // by pair of labels
};

// Weights of 0 are left out, and attributes without others. Throws std::invalid_argument unless
// everything fits together and into a file, whose places are numbers of 32 bits.
std::string crfsuite_file(const CrfsuiteContent&);

// The hash of a string of at least one byte.
std::uint32_t jenkins_hash(std::string_view);

}  // namespace structlearn
