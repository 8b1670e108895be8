// CRFsuite's model files, read without CRFsuite: first-order models, type "FOMC", version 100.
//
// A file has a header, the features (a weight for an attribute with a label, or for a pair of
// labels), the names of labels and attributes, and for each label and each attribute the list of
// its features. The names are in tables "CQDB": a header, 256 references to hash tables, records
// (number, length, string, a zero byte), and the offset of each number's record. Counts are not
// believed: each is compared with the bytes that would have to hold it before anything of that size
// is made.
//
// N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/strings.hpp"

namespace structlearn {

struct CrfsuiteModel {
  std::vector<std::string> labels;
  text::StringTable attributes;
  // The weights of attribute a: [row_ptr[a], row_ptr[a + 1]), labels in `column`, increasing.
  std::vector<std::uint32_t> row_ptr, column;
  std::vector<double> weight;
  std::vector<double> transition;  // by pair of labels; 0 where the file has no weight
};

inline constexpr std::size_t kCrfsuiteHeader = 48;

// Throws std::invalid_argument, "at byte 4, the size ...", unless a file of this size may be a
// model; `head` is its beginning.
void check_crfsuite_header(std::string_view head, std::size_t size);

// Throws std::invalid_argument.
CrfsuiteModel read_crfsuite(std::string_view data);

}  // namespace structlearn
