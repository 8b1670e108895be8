// Text to text on several threads.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bindings/buffers.hpp"
#include "numeric/parallel.hpp"

namespace structlearn::python {

// Labels texts that end where a sentence ends, each in pieces of equal size on several threads. A
// worker has label(text, line, out), expect(shape), shape() and tokens(); as many are made as are
// needed, and kept. A text can be labelled in the background, while the one before is written and
// the next is read.
template <class Worker>
class PieceLabeller {
 public:
  explicit PieceLabeller(std::function<std::unique_ptr<Worker>()> make) : make_(std::move(make)) {}
  PieceLabeller(const PieceLabeller&) = delete;
  ~PieceLabeller() {
    if (!pending_.valid()) return;
    nb::gil_scoped_release release;  // functions of the user's may need it
    pending_.wait();
  }

  nb::bytes label(nb::handle data, std::size_t line, std::size_t threads) {
    check_idle();
    const Bytes bytes(data);
    {
      nb::gil_scoped_release release;
      run(bytes.text(), line, threads);
    }
    return joined();
  }

  void start(nb::handle data, std::size_t line, std::size_t threads) {
    data_ = std::make_unique<Bytes>(data);
    pending_ = std::async(std::launch::async,
                          [this, line, threads] { return run(data_->text(), line, threads); });
  }
  // What was started last, with its labels; nothing where nothing was.
  nb::bytes finish() {
    if (!pending_.valid()) return nb::bytes("", 0);
    {
      nb::gil_scoped_release release;
      pending_.get();
    }
    data_.reset();
    return joined();
  }

  std::size_t tokens() const {
    std::size_t n = 0;
    for (const auto& worker : workers_) n += worker->tokens();
    return n;
  }

 private:
  void check_idle() const {
    if (pending_.valid()) throw std::logic_error("a text is being labelled still: call finish()");
  }

  void run(std::string_view whole, std::size_t line, std::size_t threads) {
    std::vector<std::size_t> cut{0};
    // More pieces than threads, so that a thread that is late does not keep the others waiting.
    const std::size_t most = threads > 1 ? kPiecesOfThread * threads : 1;
    const std::size_t pieces = std::clamp<std::size_t>(whole.size() / kLeastPiece, 1, most);
    const std::size_t used = std::min(threads, pieces);
    for (std::size_t i = 1; i < pieces; ++i) {
      const std::size_t wanted = std::max(cut.back(), i * whole.size() / pieces);
      const std::string_view before = whole.substr(cut.back(), wanted - cut.back());
      cut.push_back(cut.back() + text::last_sentence_end(before));
    }
    cut.push_back(whole.size());
    while (workers_.size() < used) workers_.push_back(make_());
    if (pieces > 1 && !shape_.known()) shape_ = text::first_shape(whole);
    out_.resize(pieces);
    std::vector<std::exception_ptr> wrong(pieces);
    std::vector<std::size_t> lines{line};
    for (std::size_t i = 0; i + 1 < cut.size() && pieces > 1; ++i) {
      lines.push_back(lines.back() + text::count_lines(whole.substr(cut[i], cut[i + 1] - cut[i])));
    }
    parallel_for(pieces, used, [&](std::size_t i, std::size_t thread) {
      const std::string_view piece = whole.substr(cut[i], cut[i + 1] - cut[i]);
      out_[i].clear();  // its memory stays: fresh memory costs page faults
      out_[i].reserve(piece.size() + piece.size() / 4);
      try {
        workers_[thread]->expect(shape_);
        workers_[thread]->label(piece, lines[i], out_[i]);
      } catch (...) {
        wrong[i] = std::current_exception();
      }
    });
    // The first mistake in the text, whichever thread was the first to find one.
    for (const std::exception_ptr& error : wrong) {
      if (error) std::rethrow_exception(error);
    }
    if (!shape_.known()) shape_ = workers_[0]->shape();  // one piece, or none had a token
  }

  nb::bytes joined() const {
    std::size_t total = 0;
    for (const std::string& piece : out_) total += piece.size();
    nb::bytes result =
        nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total)));
    char* p = PyBytes_AS_STRING(result.ptr());
    for (const std::string& piece : out_) {
      std::memcpy(p, piece.data(), piece.size());
      p += piece.size();
    }
    return result;
  }

  static constexpr std::size_t kLeastPiece = std::size_t{1} << 14;  // bytes worth a thread
  static constexpr std::size_t kPiecesOfThread = 8;
  std::function<std::unique_ptr<Worker>()> make_;
  text::LineShape shape_;  // of the lines of the file
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Bytes> data_;
  std::vector<std::string> out_;
  std::future<void> pending_;
};

// The methods of a labeller in Python.
template <class Labeller, class Class>
void bind_labelling(Class& c) {
  c.def(
       "label",
       [](Labeller& self, nb::handle text, std::size_t line, std::size_t threads) {
         return self.pieces->label(text, line, threads);
       },
       nb::arg("text"), nb::arg("line"), nb::arg("threads"))
      .def(
          "start",
          [](Labeller& self, nb::handle text, std::size_t line, std::size_t threads) {
            self.pieces->start(text, line, threads);
          },
          nb::arg("text"), nb::arg("line"), nb::arg("threads"))
      .def("finish", [](Labeller& self) { return self.pieces->finish(); })
      .def_prop_ro("n_tokens", [](const Labeller& self) { return self.pieces->tokens(); });
}

}  // namespace structlearn::python
