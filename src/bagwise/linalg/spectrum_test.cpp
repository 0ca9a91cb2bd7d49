#include "bagwise/linalg/spectrum.h"

#include <catch2/catch.hpp>

#include "bagwise/core/random.h"

using namespace bagwise;

TEST_CASE("spectrum: it makes the matrix again, largest first, from the lower triangle",
          "[linalg][spectrum]") {
  Rng rng(1);
  for (const Index n : {1, 2, 3, 7, 20}) {
    CAPTURE(n);
    ColMatrix a(n, n), above(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        a(i, j) = a(j, i) = above(i, j) = rng.normal();
        if (j < i) above(j, i) = 1e6;  // is not looked at
      }
    }
    const Spectrum got = spectrum_of(above);
    for (Index i = 1; i < n; ++i) CHECK(got.values[i] <= got.values[i - 1]);
    const ColMatrix again = got.vectors * got.values.asDiagonal() * got.vectors.transpose();
    CHECK((again - a).cwiseAbs().maxCoeff() <= 1e-13 * static_cast<double>(n) * a.norm());
    const ColMatrix product = got.vectors.transpose() * got.vectors;
    CHECK((product - ColMatrix::Identity(n, n)).cwiseAbs().maxCoeff() <= 1e-14 * static_cast<double>(n + 10));
  }
}
