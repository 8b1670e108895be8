#include "bindings/bindings.hpp"

NB_MODULE(_core, m) {
  // Objects that live until the interpreter ends are no leak, and not the user's business.
  nanobind::set_leak_warnings(false);
  m.doc() = "structlearn's native core: structures, problems, online learning.";
  structlearn::python::bind_structures(m);
  structlearn::python::bind_problem(m);
  structlearn::python::bind_completion(m);
  structlearn::python::bind_graph_inference(m);
  structlearn::python::bind_counts(m);
  structlearn::python::bind_online(m);
  structlearn::python::bind_quasi_newton(m);
  structlearn::python::bind_working_sets(m);
  structlearn::python::bind_dual_ascent(m);
  structlearn::python::bind_sag(m);
  structlearn::python::bind_text(m);
  structlearn::python::bind_features(m);
  structlearn::python::bind_names(m);
  structlearn::python::bind_word_emissions(m);
  structlearn::python::bind_tagger_training(m);
  structlearn::python::bind_container(m);
  structlearn::python::bind_crfsuite(m);
  structlearn::python::bind_inputs(m);
  structlearn::python::bind_string_chain(m);
  structlearn::python::bind_label_constraints(m);
  structlearn::python::bind_tagger_model(m);
  structlearn::python::bind_sentence_calls(m);
  structlearn::python::bind_candidates(m);
  structlearn::python::bind_segments(m);
  structlearn::python::bind_words(m);
  structlearn::python::bind_trees(m);
  structlearn::python::bind_parser(m);
  structlearn::python::bind_parser_training(m);
  structlearn::python::bind_pairwise(m);
}
