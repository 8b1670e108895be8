// The core without Python: everything small enough to enumerate is enumerated. Prints what is
// wrong and returns non-zero. Built with -DSTRUCTLEARN_TESTS=ON, best with
// -DSTRUCTLEARN_SANITIZE=ON.
#include <cstdio>

#include "tests/learners/online_test.hpp"
#include "tests/learners/quasi_newton_test.hpp"
#include "tests/learners/working_sets_test.hpp"
#include "tests/library/library_test.hpp"
#include "tests/models/string_chain_test.hpp"
#include "tests/numeric/elementary_test.hpp"
#include "tests/problem/problem_test.hpp"
#include "tests/structures/chains/constrained_test.hpp"
#include "tests/structures/chains/semimarkov_test.hpp"
#include "tests/structures/graphs/elimination_test.hpp"
#include "tests/structures/graphs/pair_search_test.hpp"
#include "tests/structures/graphs/pairwise_test.hpp"
#include "tests/structures/hypergraph_test.hpp"
#include "tests/structures/structures_test.hpp"
#include "tests/structures/trees/constituency_test.hpp"
#include "tests/structures/trees/labelled_tree_test.hpp"
#include "tests/structures/trees/trees_test.hpp"
#include "tests/tasks/constituents/grammar_reader_test.hpp"
#include "tests/tasks/constituents/span_trees_test.hpp"
#include "tests/tasks/dependencies/parsing_test.hpp"
#include "tests/tasks/segments/segment_text_test.hpp"
#include "tests/tasks/tagging/integer_perceptron_test.hpp"
#include "tests/tasks/tagging/tagger_test.hpp"
#include "tests/text/text_test.hpp"

int main() {
  test::test_elementary();
  test::test_small_structures();
  test::test_equal_scores();
  test::test_slow_return();
  test::test_marginals_by_position();
  test::test_wide_chains();
  test::test_refusals();
  test::test_overflow();
  test::test_small_segmentations();
  test::test_segments_of_one();
  test::test_tied_segments();
  test::test_lost_leads();
  test::test_wide_segmentations();
  test::test_segment_marginals_by_position();
  test::test_segment_refusals();
  test::test_accepted_sequences();
  test::test_mapped_labels();
  test::test_products_as_chains();
  test::test_refused_automata();
  test::test_small_trees();
  test::test_small_labelled_trees();
  test::test_tree_refusals();
  test::test_long_trees();
  test::test_small_spanning_trees();
  test::test_second_order_trees();
  test::test_local_search();
  test::test_second_order_certificates();
  test::test_projective_chart();
  test::test_dependency_trees();
  test::test_span_trees();
  test::test_grammar_reader();
  test::test_label_sets();
  test::test_parser_operator();
  test::test_merged_entries();
  test::test_pairwise();
  test::test_cliques();
  test::test_elimination();
  test::test_pair_search();
  test::test_assignments();
  test::test_pairwise_examples();
  test::test_weight_cone();
  test::test_segment_texts();
  test::test_hypergraphs();
  test::test_scorer();
  test::test_losses();
  test::test_partial_labels();
  test::test_online();
  test::test_threads();
  test::test_team();
  test::test_quasi_newton();
  test::test_orthants();
  test::test_working_sets();
  test::test_integer_perceptron();
  test::test_tables();
  test::test_checksum();
  test::test_parsing();
  test::test_features();
  test::test_packing();
  test::test_token_scorer();
  test::test_forged_tables();
  test::test_forged_models();
  test::test_labeller();
  test::test_string_chain();
  test::test_crfsuite_files();
  test::test_library();
  test::test_trees_of_spans();
  test::test_trees_of_grammars();
  std::printf("%zu checks, %d failed\n", test::checks, test::failures);
  return test::failures == 0 ? 0 : 1;
}
