#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "structlearn's native core: structures, problems, online learning.";
  structlearn::python::bind_structures(m);
  structlearn::python::bind_problem(m);
}
