// The border of the C library: checks what comes in, and lets no exception out.
#include "library/structlearn.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "library/opened_model.hpp"
#include "structures/structure.hpp"
#include "text/corpus.hpp"

using structlearn::library::BadTokens;
using structlearn::library::Labels;
using structlearn::library::OpenedModel;
using structlearn::library::Tokens;
using structlearn::library::Unsupported;

struct structlearn_model {
  std::shared_ptr<const OpenedModel> model;
};

struct structlearn_answer {
  std::shared_ptr<const OpenedModel> model;  // whose strings the labels are
  std::size_t tokens = 0;
  Labels found;
};

namespace {

// A call that makes no sense, and a file that cannot be read.
struct BadArgument : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct BadFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::size_t kLongest = 1024;
thread_local char message[kLongest] = "";  // of fixed size: nothing can go wrong when it is written

structlearn_status failed(structlearn_status status, const char* what) noexcept {
  std::snprintf(message, sizeof message, "%s", what);
  // A cut may have torn a character.
  const std::size_t whole = structlearn::text::invalid_utf8(message);
  message[whole] = '\0';
  return status;
}

// body(), and what it throws as a code; what is wrong with a model's content is `wrong`.
template <class Body>
structlearn_status guarded(structlearn_status wrong, Body&& body) noexcept {
  try {
    body();
    return STRUCTLEARN_OK;
  } catch (const BadArgument& e) {
    return failed(STRUCTLEARN_ARGUMENT, e.what());
  } catch (const BadFile& e) {
    return failed(STRUCTLEARN_FILE, e.what());
  } catch (const Unsupported& e) {
    return failed(STRUCTLEARN_UNSUPPORTED, e.what());
  } catch (const BadTokens& e) {
    return failed(STRUCTLEARN_INPUT, e.what());
  } catch (const structlearn::Incapable& e) {
    return failed(STRUCTLEARN_UNSUPPORTED, e.what());
  } catch (const std::bad_alloc&) {
    return failed(STRUCTLEARN_MEMORY, "there is not enough memory");
  } catch (const std::length_error&) {
    return failed(STRUCTLEARN_MEMORY, "there is not enough memory");
  } catch (const std::invalid_argument& e) {
    return failed(wrong, e.what());
  } catch (const std::exception& e) {
    return failed(STRUCTLEARN_INTERNAL, e.what());
  } catch (...) {
    return failed(STRUCTLEARN_INTERNAL, "an unknown fault");
  }
}

void check(bool right, const char* what) {
  if (!right) throw BadArgument(what);
}

std::vector<char> content_of(const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  if (!file) throw BadFile(std::string(path) + ": it cannot be opened");
  std::vector<char> content;
  std::size_t read = 1;
  while (read > 0) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const std::size_t size = content.size();
    content.resize(size + kPiece);
    read = std::fread(content.data() + size, 1, kPiece, file.get());
    content.resize(size + read);
  }
  if (std::ferror(file.get()) != 0) throw BadFile(std::string(path) + ": it cannot be read");
  return content;
}

structlearn_model* opened(std::vector<char> content, const std::string& name) {
  try {
    return new structlearn_model{structlearn::library::open_model(std::move(content))};
  } catch (const Unsupported& e) {
    throw Unsupported(name + e.what());
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(name + e.what());
  }
}

// The strings of a sentence, and where those of each token end.
struct Sentence {
  std::vector<std::string_view> strings;
  std::vector<std::size_t> ends;
};

Sentence read_sentence(const char* const* strings, const size_t* ends, size_t tokens) {
  Sentence read;
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::size_t end = ends == nullptr ? t + 1 : ends[t];
    check(end >= read.strings.size(), "the ends of tokens go back");
    while (read.strings.size() < end) {
      const char* s = strings[read.strings.size()];
      check(s != nullptr, "a string is NULL");
      read.strings.emplace_back(s);
      const std::string_view text = read.strings.back();
      if (structlearn::text::invalid_utf8(text) != text.size()) {
        throw BadTokens("token " + std::to_string(t) + " is not valid UTF-8");
      }
    }
    read.ends.push_back(end);
  }
  return read;
}

}  // namespace

const char* structlearn_version(void) {
  return STRUCTLEARN_VERSION;
}

const char* structlearn_message(void) {
  return message;
}

structlearn_status structlearn_open(const char* path, structlearn_model** model) {
  return guarded(STRUCTLEARN_DAMAGED, [&] {
    check(model != nullptr, "there is no place for the model");
    *model = nullptr;
    check(path != nullptr, "the path is NULL");
    *model = opened(content_of(path), std::string(path) + ": ");
  });
}

structlearn_status structlearn_open_bytes(const void* data, size_t size,
                                          structlearn_model** model) {
  return guarded(STRUCTLEARN_DAMAGED, [&] {
    check(model != nullptr, "there is no place for the model");
    *model = nullptr;
    check(data != nullptr || size == 0, "the content is NULL");
    const char* begin = static_cast<const char*>(data);
    *model = opened({begin, begin + size}, "");
  });
}

void structlearn_close(structlearn_model* model) {
  delete model;
}

const char* structlearn_kind(const structlearn_model* model) {
  return model == nullptr ? nullptr : model->model->kind();
}

size_t structlearn_labels(const structlearn_model* model) {
  return model == nullptr ? 0 : model->model->labels().size();
}

const char* structlearn_label_name(const structlearn_model* model, size_t label) {
  if (label >= structlearn_labels(model)) return nullptr;
  return model->model->labels()[label].c_str();
}

structlearn_status structlearn_label(const structlearn_model* model, const char* const* strings,
                                     const double* values, const size_t* ends, size_t tokens,
                                     size_t nbest, unsigned wanted, structlearn_answer** answer) {
  return guarded(STRUCTLEARN_INPUT, [&] {
    check(answer != nullptr, "there is no place for the answer");
    *answer = nullptr;
    check(model != nullptr, "the model is NULL");
    check(strings != nullptr || tokens == 0 || (ends != nullptr && ends[tokens - 1] == 0),
          "the strings are NULL");
    check(nbest >= 1 && nbest <= 100000, "the number of labellings is from 1 to 100,000");
    check((wanted & ~3U) == 0, "nothing else can be wanted");
    auto found = std::make_unique<structlearn_answer>();
    found->model = model->model;
    found->tokens = tokens;
    if (tokens > 0) {
      const Sentence sentence = read_sentence(strings, ends, tokens);
      model->model->label(
          {sentence.strings, values, sentence.ends},
          {nbest, (wanted & STRUCTLEARN_CONFIDENCE) != 0, (wanted & STRUCTLEARN_PROBABILITY) != 0},
          found->found);
    } else {
      found->found.labellings = 1;
      if ((wanted & STRUCTLEARN_PROBABILITY) != 0) found->found.probability = {1.0};
    }
    *answer = found.release();
  });
}

size_t structlearn_tokens(const structlearn_answer* answer) {
  return answer == nullptr ? 0 : answer->tokens;
}

size_t structlearn_labellings(const structlearn_answer* answer) {
  return answer == nullptr ? 0 : answer->found.labellings;
}

const char* structlearn_token_label(const structlearn_answer* answer, size_t labelling,
                                    size_t token) {
  if (labelling >= structlearn_labellings(answer) || token >= answer->tokens) return nullptr;
  return answer->found.label[labelling * answer->tokens + token]->c_str();
}

double structlearn_token_confidence(const structlearn_answer* answer, size_t token) {
  if (answer == nullptr || token >= answer->found.confidence.size()) return -1.0;
  return answer->found.confidence[token];
}

double structlearn_labelling_probability(const structlearn_answer* answer, size_t labelling) {
  if (answer == nullptr || labelling >= answer->found.probability.size()) return -1.0;
  return answer->found.probability[labelling];
}

void structlearn_free(structlearn_answer* answer) {
  delete answer;
}
