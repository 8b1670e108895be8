/* structlearn as a C library: models of token labels, from their files, without Python.
 *
 *     structlearn_model* model = NULL;
 *     structlearn_answer* answer = NULL;
 *     if (structlearn_open("tags.model", &model) != STRUCTLEARN_OK) {
 *       puts(structlearn_message());
 *     }
 *     const char* words[] = {"Fish", "sleep", "."};
 *     structlearn_label(model, words, NULL, NULL, 3, 1, STRUCTLEARN_CONFIDENCE, &answer);
 *     for (size_t t = 0; t < structlearn_tokens(answer); ++t) {
 *       printf("%s %s %.4f\n", words[t], structlearn_token_label(answer, 0, t),
 *              structlearn_token_confidence(answer, t));
 *     }
 *     structlearn_free(answer);
 *     structlearn_close(model);
 *
 * Strings are UTF-8 and end with a zero byte. A model may be asked by any number of threads at once;
 * an answer belongs to one thread at a time. Nothing is thrown, and nothing is printed. Functions
 * that can fail return a code; structlearn_message() says what was wrong, to the thread that asked.
 */
#ifndef STRUCTLEARN_H
#define STRUCTLEARN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define STRUCTLEARN_API
#elif defined(__GNUC__)
#define STRUCTLEARN_API __attribute__((visibility("default")))
#else
#define STRUCTLEARN_API
#endif

typedef enum structlearn_status {
  STRUCTLEARN_OK = 0,
  STRUCTLEARN_ARGUMENT = 1,    /* an argument makes no sense: a null pointer, 0 labellings */
  STRUCTLEARN_FILE = 2,        /* the file cannot be read */
  STRUCTLEARN_DAMAGED = 3,     /* it is no model, or damaged */
  STRUCTLEARN_UNSUPPORTED = 4, /* a model that this library does not read, though structlearn does */
  STRUCTLEARN_INPUT = 5,       /* the tokens are not what the model reads, or have no labelling */
  STRUCTLEARN_MEMORY = 6,      /* there is not enough memory */
  STRUCTLEARN_INTERNAL = 7     /* a fault of the library; please report it */
} structlearn_status;

/* What is worked out besides labels; they may be added up. */
enum {
  STRUCTLEARN_CONFIDENCE = 1, /* how probably each label of the best labelling is right */
  STRUCTLEARN_PROBABILITY = 2 /* the probability of each labelling as a whole */
};

typedef struct structlearn_model structlearn_model;
typedef struct structlearn_answer structlearn_answer;

/* The version of structlearn, "0.1.0". */
STRUCTLEARN_API const char* structlearn_version(void);

/* What was wrong with the last call of this thread that failed; "" if none did. It stays as it is
 * until the next one fails. */
STRUCTLEARN_API const char* structlearn_message(void);

/* Reads a model file: a tagger, a tagger of segments, a chain over strings, or CRFsuite's. *model is
 * set to NULL where it cannot be read. */
STRUCTLEARN_API structlearn_status structlearn_open(const char* path, structlearn_model** model);

/* The same from the content of a file, which is copied. */
STRUCTLEARN_API structlearn_status structlearn_open_bytes(const void* data, size_t size,
                                                          structlearn_model** model);

/* Forgets a model; NULL is allowed. Answers of it stay. */
STRUCTLEARN_API void structlearn_close(structlearn_model* model);

/* "tagger", "segments", "chain" or "crfsuite". */
STRUCTLEARN_API const char* structlearn_kind(const structlearn_model* model);

/* The labels that the model may give, by number; NULL beyond the last one. */
STRUCTLEARN_API size_t structlearn_labels(const structlearn_model* model);
STRUCTLEARN_API const char* structlearn_label_name(const structlearn_model* model, size_t label);

/* Labels one sentence.
 *
 * Taggers read the cells of a token in the columns of their training files: the word first, then,
 * of column files, the part of speech and so on. Of CoNLL-U one cell is the form, the second one
 * the UPOS tag. The column of the labels, and what stands behind it, can be left out. Chains read
 * the attributes of a token, of any number; those that they do not know count nothing.
 *
 * strings   The cells or attributes of all tokens, token by token.
 * values    The numbers of the attributes; NULL: all are 1. Taggers take none.
 * ends      Of each token, where its strings end: those of token t are strings[ends[t - 1]], ...,
 *           strings[ends[t] - 1]. NULL: each token has one.
 * tokens    How many there are. 0 are answered too.
 * nbest     How many labellings are wanted, best first, at least 1; there may be fewer.
 * wanted    What is worked out besides, or 0.
 */
STRUCTLEARN_API structlearn_status structlearn_label(const structlearn_model* model,
                                                     const char* const* strings,
                                                     const double* values, const size_t* ends,
                                                     size_t tokens, size_t nbest, unsigned wanted,
                                                     structlearn_answer** answer);

/* What was found. Numbers count from 0; beyond the last one, and for what was not asked for, the
 * answer is NULL or -1. Strings are the answer's. */
STRUCTLEARN_API size_t structlearn_tokens(const structlearn_answer* answer);
STRUCTLEARN_API size_t structlearn_labellings(const structlearn_answer* answer);
STRUCTLEARN_API const char* structlearn_token_label(const structlearn_answer* answer,
                                                    size_t labelling, size_t token);
STRUCTLEARN_API double structlearn_token_confidence(const structlearn_answer* answer,
                                                    size_t token);
STRUCTLEARN_API double structlearn_labelling_probability(const structlearn_answer* answer,
                                                         size_t labelling);

/* Forgets an answer; NULL is allowed. */
STRUCTLEARN_API void structlearn_free(structlearn_answer* answer);

#ifdef __cplusplus
}
#endif

#endif /* STRUCTLEARN_H */
