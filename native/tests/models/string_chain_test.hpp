// Chains over named features against enumeration, and CRFsuite's files: read, and damaged.
#pragma once

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/crfsuite_file.hpp"
#include "models/queries.hpp"
#include "models/string_chain.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"

namespace test {

using namespace structlearn;

inline void test_string_chain() {
  context = "string chain";
  Draw draw(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t K = 1 + draw.below(3), F = draw.below(5), L = 1 + draw.below(4);
    std::vector<std::uint32_t> row_ptr{0}, column;
    std::vector<double> weight, pairs, first;
    const auto number = [&] { return draw.between(-1.0, 1.0); };
    for (std::size_t f = 0; f < F; ++f) {
      for (std::uint32_t k = 0; k < K; ++k) {
        if (!draw.chance(0.6)) continue;
        column.push_back(k);
        weight.push_back(number());
      }
      row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
    }
    for (std::size_t i = 0; i < K * K; ++i) pairs.push_back(number());
    for (std::size_t k = 0; k < K; ++k) first.push_back(number());
    StringChainWeights w;
    w.features = F;
    w.labels = K;
    w.row_ptr = row_ptr;
    w.column = column;
    w.weight = weight;
    w.start = first;
    w.transition[0] = pairs;
    const StringChain model(w);
    text::NamedRows rows;
    for (std::size_t t = 0; t < L; ++t) {
      for (std::size_t n = draw.below(4); n > 0; --n) {
        rows.id.push_back(static_cast<std::int32_t>(draw.below(F + 1)) - 1);  // -1: not known
        rows.value.push_back(number());
      }
      rows.end.push_back(rows.id.size());
    }
    rows.first.push_back(L);
    std::vector<double> theta(L * K);
    for (std::size_t t = 0; t < L; ++t) {
      for (std::size_t j = rows.begin(t); j < rows.end[t]; ++j) {
        if (rows.id[j] < 0) continue;
        for (std::uint32_t q = row_ptr[rows.id[j]]; q < row_ptr[rows.id[j] + 1]; ++q) {
          theta[t * K + column[q]] += rows.value[j] * weight[q];
        }
      }
    }
    rows.drop_unknown();
    const StringChainInputs inputs(model, rows);
    const auto reader = inputs.reader();
    const Scored& scored = reader->scores(0, Purpose::kBest);
    double best_value = kMinusInfinity, sum = 0.0;
    Output y(L, 0);
    std::size_t outputs = 1;
    for (std::size_t t = 0; t < L; ++t) outputs *= K;
    for (std::size_t n = 0; n < outputs; ++n) {
      double value = 0.0;
      for (std::size_t t = 0, rest = n; t < L; ++t, rest /= K) {
        y[t] = static_cast<std::int32_t>(rest % K);
        value += theta[t * K + static_cast<std::size_t>(y[t])];
        value +=
            t == 0 ? first[static_cast<std::size_t>(y[0])]
                   : pairs[static_cast<std::size_t>(y[t - 1]) * K + static_cast<std::size_t>(y[t])];
      }
      CHECK_NEAR(score(*reader, scored, y), value, 1e-12);
      best_value = std::max(best_value, value);
      sum += std::exp(value);
    }
    Output found;
    CHECK_NEAR(best(*reader, scored, found).value, best_value, 1e-12);
    CHECK_NEAR(score(*reader, scored, found), best_value, 1e-12);
    CHECK_NEAR(log_partition(*reader, scored, 1.0), std::log(sum), 1e-12);
  }
  StringChainWeights forged;
  CHECK_THROWS(std::invalid_argument, StringChain{forged});
  forged.labels = 2;
  const std::vector<std::uint32_t> ends{0, 3}, labels{0, 2, 1};
  const std::vector<double> three(3), four(4);
  forged.features = 1;
  forged.row_ptr = ends;
  forged.column = labels;
  forged.weight = three;
  forged.transition[0] = four;
  CHECK_THROWS(std::invalid_argument, StringChain{forged});
}

// A model of CRFsuite's with two labels, an attribute and a pair.
class CrfsuiteBytes {
 public:
  CrfsuiteBytes() {
    for (int i = 0; i < 12; ++i) word(0);
    put(28, at());
    text("FEAT");
    word(12 + 2 * 20);
    word(2);
    feature(0, 0, 1, 1.5);
    feature(1, 1, 0, -0.5);
    put(32, at());
    table({"N", "V"});
    put(36, at());
    table({"w"});
    put(40, at());
    lists("LFRF", 4, {{}, {1}, {}, {}});
    put(44, at());
    lists("AFRF", 1, {{0}});
    std::memcpy(data.data(), "lCRF", 4);
    put(4, at());
    std::memcpy(data.data() + 8, "FOMC", 4);
    put(12, 100);
    put(20, 2);
    put(24, 1);
  }
  std::string data;

 private:
  std::uint32_t at() const { return static_cast<std::uint32_t>(data.size()); }
  void word(std::uint32_t x) { data.append(reinterpret_cast<const char*>(&x), 4); }
  void put(std::size_t place, std::uint32_t x) { std::memcpy(data.data() + place, &x, 4); }
  void text(const char* s) { data.append(s); }
  void feature(std::uint32_t kind, std::uint32_t source, std::uint32_t label, double weight) {
    word(kind);
    word(source);
    word(label);
    data.append(reinterpret_cast<const char*>(&weight), 8);
  }
  void table(const std::vector<std::string>& names) {
    const std::uint32_t begin = at();
    text("CQDB");
    for (int i = 0; i < 5 + 512; ++i) word(0);
    std::vector<std::uint32_t> place;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      place.push_back(at() - begin);
      word(i);
      word(static_cast<std::uint32_t>(names[i].size()) + 1);
      data.append(names[i]).push_back('\0');
    }
    put(begin + 12, 0x62445371);
    put(begin + 16, static_cast<std::uint32_t>(names.size()));
    put(begin + 20, at() - begin);
    for (const std::uint32_t p : place) word(p);
    put(begin + 4, at() - begin);
  }
  void lists(const char* magic, std::uint32_t n,
             const std::vector<std::vector<std::uint32_t>>& of) {
    const std::uint32_t begin = at();
    text(magic);
    word(0);
    word(n);
    for (std::uint32_t i = 0; i < n; ++i) word(0);
    for (std::uint32_t i = 0; i < n; ++i) {
      put(begin + 12 + 4 * i, at());
      word(static_cast<std::uint32_t>(of[i].size()));
      for (const std::uint32_t f : of[i]) word(f);
    }
    put(begin + 4, at() - begin);
  }
};

inline void test_crfsuite_files() {
  context = "CRFsuite's files";
  const std::string whole = CrfsuiteBytes().data;
  const CrfsuiteModel model = read_crfsuite(whole);
  CHECK(model.labels == (std::vector<std::string>{"N", "V"}));
  CHECK(model.attributes.size() == 1 && model.attributes[0] == "w");
  CHECK(model.row_ptr == (std::vector<std::uint32_t>{0, 1}));
  CHECK(model.column == std::vector<std::uint32_t>{1});
  CHECK(model.weight == std::vector<double>{1.5});
  CHECK(model.transition == (std::vector<double>{0.0, 0.0, -0.5, 0.0}));
  // Damaged: refused, or read; never more.
  Draw draw(5);
  int refused = 0, read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string data = whole;
    for (std::size_t n = 1 + draw.below(3); n > 0; --n) {
      const std::size_t place = draw.below(data.size() / 4) * 4;
      static constexpr std::uint32_t kOdd[] = {0, 1, 2, 3, 0x7FFFFFFF, 0xFFFFFFFF, 48, 100};
      std::uint32_t value = kOdd[draw.below(8)];
      if (draw.chance(0.3)) value = static_cast<std::uint32_t>(draw.below(data.size()));
      std::memcpy(data.data() + place, &value, 4);
    }
    if (draw.chance(0.2)) data.resize(draw.below(data.size()));
    const auto size = static_cast<std::uint32_t>(data.size());
    if (size >= 8 && draw.chance(0.9)) std::memcpy(data.data() + 4, &size, 4);
    // A block of its own, so that a sanitizer sees what is read beyond it.
    const std::vector<char> block(data.begin(), data.end());
    try {
      read_crfsuite({block.data(), block.size()});
      ++read;
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(refused > 1000 && read > 1000);
}

}  // namespace test
