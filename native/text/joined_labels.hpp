// Labels whose parts are in several columns: the cells of a token joined by a mark.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/corpus.hpp"

namespace structlearn::text {

inline constexpr char kLabelMark = '|';

// Sets `out` to the label of a token; to `unknown` if the cells of all these columns are unknown.
void joined_label(const Corpus&, std::size_t token, std::span<const std::size_t> columns,
                  std::string_view unknown, std::string& out);

// Replaces the first of these columns by the labels of its tokens. Throws BadLine if they could not
// be split again: only cells of the last column may have the mark in them.
void join_columns(Corpus&, std::span<const std::size_t> columns, std::string_view unknown);

}  // namespace structlearn::text
