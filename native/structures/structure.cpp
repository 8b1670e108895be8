#include "structures/structure.hpp"

#include "numeric/kernels.hpp"

namespace structlearn {

bool Structure::scores_are_valid(const Layout& layout, std::size_t block, const double* x) const {
  return kernels().all_scores(x, layout.block[block].size());
}

}  // namespace structlearn
