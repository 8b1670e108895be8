#include "text/joined_labels.hpp"

#include <utility>

namespace structlearn::text {

void joined_label(const Corpus& corpus, std::size_t token, std::span<const std::size_t> columns,
                  std::string_view unknown, std::string& out) {
  out.clear();
  bool known = false;
  for (const std::size_t c : columns) {
    const Column& column = corpus.columns()[c];
    const std::string_view cell = column.strings[column.cell[token]];
    known = known || cell != unknown;
    if (c != columns.front()) out.push_back(kLabelMark);
    out.append(cell);
  }
  if (!known) out.assign(unknown);
}

void join_columns(Corpus& corpus, std::span<const std::size_t> columns, std::string_view unknown) {
  Column made;
  std::string label;
  for (std::size_t t = 0; t < corpus.tokens(); ++t) {
    for (const std::size_t c : columns.first(columns.size() - 1)) {
      const Column& column = corpus.columns()[c];
      const std::string_view cell = column.strings[column.cell[t]];
      if (cell.find(kLabelMark) == std::string_view::npos) continue;
      throw BadLine(corpus.line_number(t),
                    "'" + std::string(cell) + "' in column " + std::to_string(c + 1) +
                        " has '|' in it, which joins the labels of several columns: name this "
                        "column last, the cells of the last one may have it");
    }
    joined_label(corpus, t, columns, unknown, label);
    made.cell.push_back(made.strings.add(label));
  }
  corpus.columns()[columns.front()] = std::move(made);
}

}  // namespace structlearn::text
