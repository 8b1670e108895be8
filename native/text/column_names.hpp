// The names of columns: those of CoNLL-U, and word, pos, chunk, c4, c5, ... of column files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/corpus.hpp"

namespace structlearn::text {

// By which templates know the columns of a file; `columns` is not read of CoNLL-U.
std::vector<std::string> column_names(Format, std::size_t columns);

// The same, of CoNLL-U too by the names of column files where they have the same.
std::vector<std::string> common_names(Format, std::size_t columns);

// The number, from 0, of a column given by its name, or by its number from 1; negative numbers
// count from the end. `own`: the names that the file itself has. Throws std::invalid_argument.
std::size_t find_column(std::string_view name, Format, std::size_t columns,
                        std::span<const std::string> own = {});

// For each column of the files that a model was trained on the column of an input that stands for
// it, by their names: nothing where the input has none. Column files have their columns in order.
std::vector<std::optional<std::size_t>> columns_for(Format model, std::size_t columns, Format input,
                                                    std::size_t given);

}  // namespace structlearn::text
