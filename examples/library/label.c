/* Labels sentences, one on each line of standard input, with the model of a file:
 *
 *     cc label.c -lstructlearn -o label
 *     echo "Fish sleep" | ./label tags.model
 */
#include <stdio.h>
#include <string.h>

#include "structlearn.h"

enum { LONGEST = 1 << 16, MOST = 1 << 12 };

static int failed(void) {
  fprintf(stderr, "label: %s\n", structlearn_message());
  return 1;
}

int main(int argc, char** argv) {
  static char line[LONGEST];
  static const char* words[MOST];
  structlearn_model* model = NULL;
  if (argc != 2) {
    fprintf(stderr, "label: one model file, please\n");
    return 2;
  }
  if (structlearn_open(argv[1], &model) != STRUCTLEARN_OK) return failed();
  while (fgets(line, sizeof line, stdin) != NULL) {
    structlearn_answer* answer = NULL;
    size_t n = 0;
    for (char* word = strtok(line, " \t\r\n"); word != NULL && n < MOST;
         word = strtok(NULL, " \t\r\n")) {
      words[n++] = word;
    }
    if (structlearn_label(model, words, NULL, NULL, n, 1, STRUCTLEARN_CONFIDENCE, &answer) !=
        STRUCTLEARN_OK) {
      structlearn_close(model);
      return failed();
    }
    for (size_t t = 0; t < n; ++t) {
      printf("%s\t%s\t%.4f\n", words[t], structlearn_token_label(answer, 0, t),
             structlearn_token_confidence(answer, t));
    }
    printf("\n");
    structlearn_free(answer);
  }
  structlearn_close(model);
  return 0;
}
