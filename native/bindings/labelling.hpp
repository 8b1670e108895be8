// Text to text on several threads.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "buffers.hpp"
#include "structlearn/parallel.hpp"

namespace structlearn::python {

// Labels a text that ends where a sentence ends, in pieces of equal size, a thread each. A worker
// has label(text, line, out) and columns(); there are made as many as are needed, and they are
// kept.
template <class Worker, class Make>
nb::bytes label_in_pieces(nb::handle data, std::size_t line, std::size_t threads,
                          std::vector<std::unique_ptr<Worker>>& workers, Make&& make) {
  const Bytes bytes(data);
  const std::string_view whole = bytes.text();
  std::vector<std::string> out;
  {
    nb::gil_scoped_release release;
    std::vector<std::size_t> cut{0};
    const std::size_t pieces = std::max<std::size_t>(1, threads);
    for (std::size_t i = 1; i < pieces; ++i) {
      const std::size_t wanted = std::max(cut.back(), i * whole.size() / pieces);
      const std::string_view before = whole.substr(cut.back(), wanted - cut.back());
      cut.push_back(cut.back() + text::last_sentence_end(before));
    }
    cut.push_back(whole.size());
    out.resize(pieces);
    while (workers.size() < pieces) {
      workers.push_back(make());
    }
    std::vector<std::size_t> lines{line};
    for (std::size_t i = 0; i + 1 < cut.size() && pieces > 1; ++i) {
      lines.push_back(lines.back() +
                      static_cast<std::size_t>(std::count(
                          whole.begin() + static_cast<std::ptrdiff_t>(cut[i]),
                          whole.begin() + static_cast<std::ptrdiff_t>(cut[i + 1]), '\n')));
    }
    parallel_for(pieces, threads, [&](std::size_t i, std::size_t) {
      const std::string_view piece = whole.substr(cut[i], cut[i + 1] - cut[i]);
      out[i].reserve(piece.size() + piece.size() / 4);
      workers[i]->label(piece, lines[i], out[i]);
    });
    // Each worker has seen to it that its own pieces have as many columns as its first.
    std::size_t columns = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const std::size_t found = workers[i]->columns();
      if (columns == 0) columns = found;
      if (found != 0 && found != columns) {
        throw text::BadLine(i < lines.size() ? lines[i] + 1 : line + 1,
                            std::to_string(found) + " columns from about here on, where " +
                                std::to_string(columns) + " came before");
      }
    }
  }
  std::size_t total = 0;
  for (const std::string& piece : out) total += piece.size();
  nb::bytes result =
      nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total)));
  char* p = PyBytes_AS_STRING(result.ptr());
  for (const std::string& piece : out) {
    std::memcpy(p, piece.data(), piece.size());
    p += piece.size();
  }
  return result;
}

}  // namespace structlearn::python
