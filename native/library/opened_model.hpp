// Models as the C library has them: what is behind its handles.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace structlearn::library {

// A model that this library does not read, though structlearn does.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Tokens that are not what a model reads.
struct BadTokens : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The strings of a sentence, token by token; borrowed.
struct Tokens {
  std::span<const std::string_view> strings;
  const double* values = nullptr;     // of the strings; null: all are 1
  std::span<const std::size_t> ends;  // where those of each token end

  std::size_t size() const { return ends.size(); }
  std::span<const std::string_view> of(std::size_t token) const {
    return strings.subspan(begin(token), ends[token] - begin(token));
  }
  std::size_t begin(std::size_t token) const { return token == 0 ? 0 : ends[token - 1]; }
};

struct Question {
  std::size_t nbest = 1;
  bool confidence = false, probability = false;
};

// The labels are the model's. By labelling, then by token.
struct Labels {
  std::size_t labellings = 0;
  std::vector<const std::string*> label;
  std::vector<double> confidence, probability;
};

class OpenedModel {
 public:
  virtual ~OpenedModel() = default;
  virtual const char* kind() const = 0;
  virtual const std::vector<std::string>& labels() const = 0;
  // Of at least one token. Any number of threads may ask. Throws BadTokens, Incapable.
  virtual void label(const Tokens&, const Question&, Labels& out) const = 0;
};

// The content of a file. Throws Unsupported, or std::invalid_argument if it is no model or damaged.
std::unique_ptr<OpenedModel> open_model(std::vector<char> content);

// Of the tasks that a file may have.
std::unique_ptr<OpenedModel> open_labels(std::vector<char> content);
std::unique_ptr<OpenedModel> open_chain(std::vector<char> content);
std::unique_ptr<OpenedModel> open_crfsuite(std::span<const char> content);

}  // namespace structlearn::library
