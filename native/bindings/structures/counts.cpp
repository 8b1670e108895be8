// Numbers of trees modulo primes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/signals.hpp"
#include "numeric/parallel.hpp"
#include "structures/trees/tree_counts.hpp"

namespace structlearn::python {
namespace {

using Primes = std::vector<std::uint32_t>;

// count(prime) for each prime, on threads.
template <class Count>
std::vector<std::uint32_t> for_each_prime(const Primes& primes, std::size_t threads,
                                          Count&& count) {
  for (const std::uint32_t prime : primes) {
    if (prime < 3 || prime > kLargestPrime) throw std::invalid_argument("a prime out of bounds");
  }
  std::vector<std::uint32_t> residues(primes.size());
  interruptible([&](Interrupt& interrupt) {
    parallel_for(primes.size(), threads, [&](std::size_t i, std::size_t) {
      if (!interrupt.requested()) residues[i] = count(primes[i]);
    });
  });
  return residues;
}

std::vector<std::uint32_t> determinants(Input<std::int64_t, nb::ndim<2>> matrix,
                                        const Primes& primes, std::size_t threads) {
  const std::size_t n = matrix.shape(0);
  if (matrix.shape(1) != n) throw std::invalid_argument("the matrix is not square");
  return for_each_prime(primes, threads, [&](std::uint32_t prime) {
    return determinant_modulo(matrix.data(), n, prime);
  });
}

std::vector<std::uint32_t> projective(Input<std::int64_t, nb::ndim<2>> ways,
                                      std::optional<Input<std::uint8_t, nb::ndim<3>>> pairs,
                                      bool single_root, const Primes& primes, std::size_t threads) {
  const std::size_t size = ways.shape(0);
  if (size < 2 || ways.shape(1) != size) throw std::invalid_argument("ways are not (n + 1)^2");
  if (pairs && (pairs->shape(0) != size || pairs->shape(1) != size || pairs->shape(2) != size)) {
    throw std::invalid_argument("pairs are not (n + 1)^3");
  }
  const std::uint8_t* allowed = pairs ? pairs->data() : nullptr;
  return for_each_prime(primes, threads, [&](std::uint32_t prime) {
    return projective_modulo(ways.data(), allowed, size - 1, single_root, prime);
  });
}

}  // namespace

void bind_counts(nb::module_& m) {
  m.def("determinants_modulo", &determinants, nb::arg("matrix"), nb::arg("primes"),
        nb::arg("threads"));
  m.def("projective_counts_modulo", &projective, nb::arg("ways"), nb::arg("pairs").none(),
        nb::arg("single_root"), nb::arg("primes"), nb::arg("threads"));
}

}  // namespace structlearn::python
