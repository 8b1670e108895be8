// Text to text on several threads.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "bindings/buffers.hpp"
#include "numeric/parallel.hpp"
#include "tasks/tagging/labeller.hpp"

namespace structlearn::python {

// Labels texts that end where a sentence ends. A worker has label(text, line, out), expect(shape),
// shape() and tokens(); as many are made as are needed, and kept. A text is labelled in pieces of
// equal size on several threads; or texts are labelled in the background, each on a thread of its
// own, and given back in their order. One more than there are threads are begun, so that no thread
// waits while a text is written and the next one is read.
template <class Worker>
class PieceLabeller {
 public:
  explicit PieceLabeller(std::function<std::unique_ptr<Worker>()> make) : make_(std::move(make)) {}
  PieceLabeller(const PieceLabeller&) = delete;
  ~PieceLabeller() {
    nb::gil_scoped_release release;  // functions of the user's may need it
    for (const auto& text : begun_) text->pending.wait();
  }

  nb::bytes label(nb::handle data, std::size_t line, std::size_t threads) {
    if (!begun_.empty()) throw std::logic_error("a text is being labelled: call finish()");
    const Bytes bytes(data);
    {
      nb::gil_scoped_release release;
      label_pieces(bytes.text(), line, threads);
    }
    return joined(pieces_);
  }

  // Labels a text in the background. Where one more than `threads` are begun already, the oldest
  // is waited for and given back with its labels, else nothing is.
  std::optional<nb::bytes> start(nb::handle data, std::size_t line, std::size_t threads) {
    std::optional<nb::bytes> labelled;
    const std::size_t most =
        std::max<std::size_t>(kMostThreads, std::thread::hardware_concurrency());
    if (begun_.size() > std::min(threads, most)) labelled = finish();
    if (idle_.empty()) idle_.push_back(std::make_unique<Text>(make_()));
    Text& text = *idle_.back();
    text.data = std::make_unique<Bytes>(data);
    if (!shape_.known()) shape_ = text::first_shape(text.data->text());
    const auto work = [&text, line, shape = shape_] {
      write_labels(*text.worker, shape, text.data->text(), line, text.out);
    };
    try {
      text.pending = std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // the system has no more threads: when it is asked for
      text.pending = std::async(std::launch::deferred, work);
    }
    begun_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    return labelled;
  }
  // The oldest text that was begun, with its labels; nothing where there is none.
  std::optional<nb::bytes> finish() {
    if (begun_.empty()) return std::nullopt;
    idle_.push_back(std::move(begun_.front()));
    begun_.pop_front();
    Text& text = *idle_.back();
    {
      nb::gil_scoped_release release;
      text.pending.get();
    }
    text.data.reset();
    return joined({&text.out, 1});
  }

  // What is found for the tokens of a corpus.
  std::vector<text::Answer> answers(const text::Corpus& corpus, std::size_t threads) {
    const std::size_t tasks = std::max<std::size_t>(1, threads), n = corpus.sentences();
    while (workers_.size() < tasks) workers_.push_back(make_());
    std::vector<std::vector<text::Answer>> parts(tasks);
    std::vector<std::exception_ptr> wrong(tasks);
    {
      nb::gil_scoped_release release;
      parallel_for(tasks, threads, [&](std::size_t i, std::size_t) {
        try {
          workers_[i]->answer(corpus, i * n / tasks, (i + 1) * n / tasks, parts[i]);
        } catch (...) {
          wrong[i] = std::current_exception();
        }
      });
    }
    rethrow_first(wrong);
    for (std::size_t i = 1; i < tasks; ++i) {
      std::move(parts[i].begin(), parts[i].end(), std::back_inserter(parts[0]));
    }
    return std::move(parts[0]);
  }

  // Of the texts that were given back, and of the corpora.
  std::size_t tokens() const {
    std::size_t n = 0;
    for (const auto& worker : workers_) n += worker->tokens();
    for (const auto& text : idle_) n += text->worker->tokens();
    return n;
  }

 private:
  // A text that is labelled in the background.
  struct Text {
    explicit Text(std::unique_ptr<Worker> w) : worker(std::move(w)) {}
    std::unique_ptr<Worker> worker;
    std::unique_ptr<Bytes> data;
    std::string out;
    std::future<void> pending;
  };

  static void write_labels(Worker& worker, const text::LineShape& shape, std::string_view text,
                           std::size_t line, std::string& out) {
    out.clear();  // its memory stays: fresh memory costs page faults
    out.reserve(text.size() + text.size() / 4);
    worker.expect(shape);
    worker.label(text, line, out);
  }

  void label_pieces(std::string_view whole, std::size_t line, std::size_t threads) {
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
    pieces_.resize(pieces);
    std::vector<std::exception_ptr> wrong(pieces);
    std::vector<std::size_t> lines{line};
    for (std::size_t i = 0; i + 1 < cut.size() && pieces > 1; ++i) {
      lines.push_back(lines.back() + text::count_lines(whole.substr(cut[i], cut[i + 1] - cut[i])));
    }
    parallel_for(pieces, used, [&](std::size_t i, std::size_t thread) {
      try {
        write_labels(*workers_[thread], shape_, whole.substr(cut[i], cut[i + 1] - cut[i]), lines[i],
                     pieces_[i]);
      } catch (...) {
        wrong[i] = std::current_exception();
      }
    });
    rethrow_first(wrong);
    if (!shape_.known()) shape_ = workers_[0]->shape();  // one piece, or none had a token
  }

  // The first mistake in the text, whichever thread was the first to find one.
  static void rethrow_first(std::span<const std::exception_ptr> wrong) {
    for (const std::exception_ptr& error : wrong) {
      if (error) std::rethrow_exception(error);
    }
  }

  static nb::bytes joined(std::span<const std::string> pieces) {
    std::size_t total = 0;
    for (const std::string& piece : pieces) total += piece.size();
    nb::bytes result =
        nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total)));
    if (!result.is_valid()) throw std::bad_alloc();
    char* p = PyBytes_AS_STRING(result.ptr());
    for (const std::string& piece : pieces) {
      std::memcpy(p, piece.data(), piece.size());
      p += piece.size();
    }
    return result;
  }

  static constexpr std::size_t kLeastPiece = std::size_t{1} << 14;  // bytes worth a thread
  static constexpr std::size_t kPiecesOfThread = 8;
  static constexpr std::size_t kMostThreads = 16;  // where there are fewer cores: texts take memory
  std::function<std::unique_ptr<Worker>()> make_;
  text::LineShape shape_;  // of the lines of the file
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::string> pieces_;  // of the last text that was labelled in pieces
  std::deque<std::unique_ptr<Text>> begun_;
  std::vector<std::unique_ptr<Text>> idle_;  // with their workers and their memory
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
            return self.pieces->start(text, line, threads);
          },
          nb::arg("text"), nb::arg("line"), nb::arg("threads"))
      .def("finish", [](Labeller& self) { return self.pieces->finish(); })
      .def_prop_ro("n_tokens", [](const Labeller& self) { return self.pieces->tokens(); });
}

// From a corpus to values, sentence by sentence: a tuple for each token, of its labels (None where
// the sentence has no more labellings), the confidence and the marginals where they were asked for.
template <class Labeller, class Class>
void bind_answers(Class& c) {
  c.def(
      "answers",
      [](Labeller& self, const text::Corpus& corpus, std::size_t threads) {
        const std::vector<text::Answer> found = self.pieces->answers(corpus, threads);
        const bool confidence = self.options.wanted.confidence,
                   marginals = self.options.wanted.marginals;
        nb::list sentences;
        for (std::size_t s = 0; s < corpus.sentences(); ++s) {
          nb::list tokens;
          for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
            nb::list row;
            for (const std::string* label : found[t].labels) {
              row.append(label ? nb::object(text_of(*label)) : nb::none());
            }
            for (std::size_t n = 0; self.options.wanted.scores && n < found[t].labels.size(); ++n) {
              const std::vector<double>& scores = found[t].scores;
              row.append(n < scores.size() ? nb::cast(scores[n]) : nb::none());
            }
            if (confidence) row.append(found[t].confidence);
            if (marginals) {
              nb::dict by_label;
              for (const auto& [label, p] : found[t].marginals) by_label[text_of(*label)] = p;
              row.append(by_label);
            }
            tokens.append(nb::tuple(row));
          }
          sentences.append(tokens);
        }
        return sentences;
      },
      nb::arg("corpus"), nb::arg("threads"));
}

}  // namespace structlearn::python
