// The C library: what it answers, and that every file and every call that is wrong ends in a code.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "library/structlearn.h"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/library/model_files.hpp"

namespace test {

// What a model says of some tokens, or the code.
struct Asked {
  structlearn_status status = STRUCTLEARN_OK;
  bool whole = true;  // there is an answer or a code, and nothing beyond its end
  std::vector<std::vector<std::string>> labels;
  std::vector<double> confidence, probability;
  bool operator==(const Asked&) const = default;
};

inline Asked asked_of(const structlearn_model* model, const std::vector<const char*>& strings,
                      std::size_t nbest = 4) {
  Asked found;
  structlearn_answer* answer = nullptr;
  found.status = structlearn_label(model, strings.data(), nullptr, nullptr, strings.size(), nbest,
                                   STRUCTLEARN_CONFIDENCE | STRUCTLEARN_PROBABILITY, &answer);
  found.whole = (answer != nullptr) == (found.status == STRUCTLEARN_OK);
  for (std::size_t n = 0; n < structlearn_labellings(answer); ++n) {
    found.probability.push_back(structlearn_labelling_probability(answer, n));
    found.labels.emplace_back();
    for (std::size_t t = 0; t < structlearn_tokens(answer); ++t) {
      found.labels.back().emplace_back(structlearn_token_label(answer, n, t));
    }
  }
  for (std::size_t t = 0; t < structlearn_tokens(answer); ++t) {
    found.confidence.push_back(structlearn_token_confidence(answer, t));
  }
  found.whole = found.whole && structlearn_token_label(answer, found.labels.size(), 0) == nullptr &&
                structlearn_token_label(answer, 0, strings.size()) == nullptr;
  structlearn_free(answer);
  return found;
}

inline structlearn_status open_file(const std::string& file, structlearn_model** model) {
  return structlearn_open_bytes(file.data(), file.size(), model);
}

// Every file of these bytes is refused, or can be asked.
inline void check_any_file(const std::string& file) {
  structlearn_model* model = nullptr;
  const structlearn_status status = open_file(file, &model);
  CHECK((model != nullptr) == (status == STRUCTLEARN_OK));
  if (model == nullptr) {
    CHECK(status == STRUCTLEARN_DAMAGED || status == STRUCTLEARN_UNSUPPORTED);
    CHECK(std::strlen(structlearn_message()) > 0);
    return;
  }
  CHECK(asked_of(model, {"Fish", "sleep", ""}).whole);
  structlearn_close(model);
}

// Labels and probabilities of two words by all four labellings.
inline void check_answers(const std::string& file, const char* kind, const char* one,
                          const char* other, bool has_ends) {
  structlearn_model* model = nullptr;
  CHECK(open_file(file, &model) == STRUCTLEARN_OK);
  CHECK(std::string(structlearn_kind(model)) == kind);
  CHECK(structlearn_labels(model) == 2);
  CHECK(std::string(structlearn_label_name(model, 1)) == "V");
  CHECK(structlearn_label_name(model, 2) == nullptr);
  const double theta[2][2] = {{1.0, -0.5}, {-0.25, 2.0}}, pairs[2][2] = {{0.0, 1.0}, {0.5, -1.0}};
  const double start[2] = {0.5, 0.0}, end[2] = {0.0, 0.25};
  double p[2][2], sum = 0.0;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      const double ends = has_ends ? start[a] + end[b] : 0.0;
      sum += p[a][b] = std::exp(theta[0][a] + theta[1][b] + pairs[a][b] + ends);
    }
  }
  const Asked found = asked_of(model, {one, other});
  CHECK(found.status == STRUCTLEARN_OK && found.whole && found.labels.size() == 4);
  CHECK(found.labels[0] == std::vector<std::string>({"N", "V"}));
  CHECK_NEAR(found.confidence[0], (p[0][0] + p[0][1]) / sum, 1e-12);
  CHECK_NEAR(found.confidence[1], (p[0][1] + p[1][1]) / sum, 1e-12);
  for (std::size_t n = 0; n < found.labels.size(); ++n) {
    const auto& y = found.labels[n];
    CHECK_NEAR(found.probability[n], p[y[0] == "V"][y[1] == "V"] / sum, 1e-12);
    CHECK(n == 0 || found.probability[n] <= found.probability[n - 1]);
  }
  CHECK(asked_of(model, {}).labels == std::vector<std::vector<std::string>>{{}});
  structlearn_close(model);
}

inline void test_library_answers() {
  context = "C library";
  check_answers(tagger_file(), "tagger", "Fish", "sleep", true);
  check_answers(crfsuite_model_file(), "crfsuite", "w=fish", "w=sleep", false);
}

inline void test_library_refusals() {
  context = "C library, refusals";
  structlearn_model* model = nullptr;
  structlearn_answer* answer = nullptr;
  CHECK(structlearn_open(nullptr, &model) == STRUCTLEARN_ARGUMENT);
  CHECK(structlearn_open("/nowhere/x.model", &model) == STRUCTLEARN_FILE);
  CHECK(std::string(structlearn_message()).starts_with("/nowhere/x.model: "));
  CHECK(structlearn_open_bytes(nullptr, 5, &model) == STRUCTLEARN_ARGUMENT);
  CHECK(structlearn_open_bytes("", 0, &model) == STRUCTLEARN_DAMAGED);
  CHECK(structlearn_open_bytes("", 0, nullptr) == STRUCTLEARN_ARGUMENT);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string d = tagger_description();
    d.replace(d.find(from), from.size(), to);
    structlearn_model* made = nullptr;
    const structlearn_status status = open_file(container_file(d, tagger_arrays()), &made);
    structlearn_close(made);
    return status;
  };
  CHECK(with("\"tagger\"", "\"pipeline\"") == STRUCTLEARN_UNSUPPORTED);
  CHECK(with("\"learner\":\"crf\"}", "\"learner\":\"crf\"},\"constraints\":[\"x\"]") ==
        STRUCTLEARN_UNSUPPORTED);
  CHECK(with("[\"lower\",null]", "[\"match\",\"^A\"]") == STRUCTLEARN_UNSUPPORTED);
  CHECK(with("[\"lower\",null]", "[\"higher\",null]") == STRUCTLEARN_DAMAGED);
  CHECK(with("\"order\":1", "\"order\":2") == STRUCTLEARN_DAMAGED);
  CHECK(with("\"target\":1", "\"target\":2") == STRUCTLEARN_DAMAGED);

  CHECK(open_file(tagger_file(), &model) == STRUCTLEARN_OK);
  const std::size_t twice[] = {1, 3}, back[] = {1, 0};
  const char* strings[] = {"a", "b", "c", "d"};
  const double values[] = {1.0, 1.0};
  const auto label = [&](const char* const* s, const double* x, const std::size_t* ends,
                         std::size_t tokens, std::size_t nbest, unsigned wanted) {
    return structlearn_label(model, s, x, ends, tokens, nbest, wanted, &answer);
  };
  CHECK(label(nullptr, nullptr, nullptr, 2, 1, 0) == STRUCTLEARN_ARGUMENT);
  CHECK(label(strings, nullptr, nullptr, 2, 0, 0) == STRUCTLEARN_ARGUMENT);
  CHECK(label(strings, nullptr, nullptr, 2, 1, 8) == STRUCTLEARN_ARGUMENT);
  CHECK(label(strings, nullptr, back, 2, 1, 0) == STRUCTLEARN_ARGUMENT);
  CHECK(label(strings, nullptr, twice, 2, 1, 0) == STRUCTLEARN_INPUT);
  CHECK(label(strings, values, nullptr, 2, 1, 0) == STRUCTLEARN_INPUT);
  strings[1] = "\xff";
  CHECK(label(strings, nullptr, nullptr, 2, 1, 0) == STRUCTLEARN_INPUT);
  strings[1] = nullptr;
  CHECK(label(strings, nullptr, nullptr, 2, 1, 0) == STRUCTLEARN_ARGUMENT);
  CHECK(answer == nullptr);
  structlearn_close(model);
  structlearn_close(nullptr);
  structlearn_free(nullptr);
}

// An answer outlives its model.
inline void test_library_lifetimes() {
  context = "C library, lifetimes";
  structlearn_model* model = nullptr;
  structlearn_answer* answer = nullptr;
  CHECK(open_file(tagger_file(), &model) == STRUCTLEARN_OK);
  const char* strings[] = {"fish"};
  CHECK(structlearn_label(model, strings, nullptr, nullptr, 1, 1, 0, &answer) == STRUCTLEARN_OK);
  structlearn_close(model);
  CHECK(std::string(structlearn_token_label(answer, 0, 0)) == "N");
  CHECK(structlearn_token_confidence(answer, 0) == -1.0);
  structlearn_free(answer);
}

inline void test_library_damage() {
  context = "C library, damage";
  Draw draw(5);
  for (const std::string& whole : {tagger_file(), crfsuite_model_file()}) {
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50) {
      check_any_file(whole.substr(0, size));
    }
    for (int round = 0; round < 2000; ++round) {
      std::string file = whole;
      for (std::size_t n = 1 + draw.below(3); n > 0; --n) {
        file[draw.below(file.size())] = static_cast<char>(draw.below(256));
      }
      check_any_file(file);
    }
  }
  // With a right checksum.
  for (int round = 0; round < 4000; ++round) {
    std::string description = tagger_description();
    std::vector<FileArray> arrays = tagger_arrays();
    for (std::size_t n = draw.below(3); n > 0; --n) {
      const std::size_t at = draw.below(description.size());
      description[at] = draw.chance(0.5) ? static_cast<char>('0' + draw.below(10))
                                         : description[draw.below(description.size())];
    }
    for (std::size_t n = draw.below(3); n > 0; --n) {
      std::string& bytes = arrays[draw.below(arrays.size())].bytes;
      if (bytes.empty()) continue;
      bytes[draw.below(bytes.size())] = static_cast<char>(draw.below(256));
      if (draw.chance(0.1)) bytes.resize(bytes.size() / 16 * 8);
    }
    check_any_file(container_file(description, arrays));
  }
}

inline void test_library() {
  test_library_answers();
  test_library_refusals();
  test_library_lifetimes();
  test_library_damage();
}

}  // namespace test
