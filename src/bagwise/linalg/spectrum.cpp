#include "bagwise/linalg/spectrum.h"

#include <Eigen/Eigenvalues>

namespace bagwise {

Spectrum spectrum_of(const ColMatrix& a) {
  const Eigen::SelfAdjointEigenSolver<ColMatrix> solver(a);
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

}  // namespace bagwise
