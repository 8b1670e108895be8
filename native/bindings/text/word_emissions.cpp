// Emissions of hidden Markov models. Nothing here needs NumPy: arrays come and go as buffers.
#include "text/word_emissions.hpp"

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"

namespace structlearn::python {

using text::WordCounts;
using text::WordEmissions;

void bind_word_emissions(nb::module_& m) {
  nb::class_<WordEmissions>(m, "WordEmissions")
      .def(
          "__init__",
          [](WordEmissions* self, std::size_t labels, nb::handle table, nb::handle parent,
             nb::handle rare, nb::handle rare_leaf, nb::handle suffix, nb::handle lower,
             double alpha, double word_alpha) {
            const Bytes t(table), p(parent), r(rare), l(rare_leaf), s(suffix), c(lower);
            const auto numbers = [](const Bytes& b) { return b.as<std::uint32_t>("numbers"); };
            new (self) WordEmissions({labels, t.as<double>("the counts"), numbers(p), numbers(r),
                                      numbers(l), numbers(s), numbers(c), alpha, word_alpha});
          },
          nb::arg("labels"), nb::arg("table"), nb::arg("parent"), nb::arg("rare"),
          nb::arg("rare_leaf"), nb::arg("suffix"), nb::arg("lower"), nb::arg("alpha"),
          nb::arg("word_alpha"))
      .def(
          "scores",
          [](const WordEmissions& self, nb::handle words, nb::handle suffix, nb::handle lower) {
            // A row a word; 2³² - 1 is no word, and no lower case.
            const Bytes w(words), s(suffix), l(lower);
            const auto known = w.as<std::uint32_t>("words");
            const auto suffixes = s.as<std::uint32_t>("suffixes");
            const auto low = l.as<std::uint32_t>("words in lower case");
            if (suffixes.size() != known.size() || low.size() != known.size()) {
              throw std::invalid_argument("a suffix and a lower case a word");
            }
            std::vector<double> out(known.size() * self.labels());
            for (std::size_t i = 0; i < known.size(); ++i) {
              double* const row = out.data() + i * self.labels();
              known[i] == WordEmissions::kUnseen ? self.unknown(suffixes[i], low[i], row)
                                                 : self.known(known[i], row);
            }
            return to_bytes(out);
          },
          nb::arg("words"), nb::arg("suffix"), nb::arg("lower"));
}

}  // namespace structlearn::python
