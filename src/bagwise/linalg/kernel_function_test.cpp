#include "bagwise/linalg/kernel_function.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/linalg/kernel_rows.h"

namespace bagwise {
namespace {

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

// The same random table twice, with a given share of its entries not 0, all moved by `offset`.
struct Both {
  DenseRows dense;
  Csr sparse;

  Both(std::size_t rows, std::size_t columns, double filled, double offset, Rng& rng) : dense(rows, columns) {
    sparse.columns = columns;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        if (rng.uniform() >= filled) continue;
        const double x = rng.normal() + offset;
        dense(i, j) = x;
        sparse.index.push_back(static_cast<std::int32_t>(j));
        sparse.values.push_back(x);
      }
      sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
    }
  }
  [[nodiscard]] std::vector<RowsView> views() const { return {dense.view(), sparse.view()}; }
};

// By plain loops in long double.
long double slow_kernel(const KernelFunction& kernel, std::span<const double> x, std::span<const double> z) {
  long double product = 0, distance = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const long double a = x[j], b = z[j];
    product += a * b;
    distance += (a - b) * (a - b);
  }
  if (kernel.kind == KernelKind::kRbf) return std::exp(-static_cast<long double>(kernel.gamma) * distance);
  if (kernel.kind == KernelKind::kLinear) return product;
  return std::pow(static_cast<long double>(kernel.gamma) * product + 1, kernel.degree);
}

// A size for the tolerance: what |x||z| would give.
double size_of(const KernelFunction& kernel, std::span<const double> x, std::span<const double> z) {
  if (kernel.kind == KernelKind::kRbf) return 1;
  double product = 0;
  for (std::size_t j = 0; j < x.size(); ++j) product += std::abs(x[j] * z[j]);
  return kernel.kind == KernelKind::kLinear
             ? product
             : kernel.degree * std::pow(kernel.gamma * product + 1, kernel.degree);
}

const KernelFunction kKernels[] = {{KernelKind::kLinear, 1, 1}, {KernelKind::kRbf, 0.13, 3},
                                   {KernelKind::kPoly, 0.7, 1}, {KernelKind::kPoly, 0.4, 2},
                                   {KernelKind::kPoly, 0.3, 3}, {KernelKind::kPoly, 0.1, 6}};

bool block_is_right(const KernelFunction& kernel, const Both& a, const Both& b, const RowMatrix& out,
                    double tolerance) {
  bool right = out.rows() == at(a.dense.rows()) && out.cols() == at(b.dense.rows());
  for (std::size_t i = 0; right && i < a.dense.rows(); ++i) {
    for (std::size_t j = 0; j < b.dense.rows(); ++j) {
      const auto expected = static_cast<double>(slow_kernel(kernel, a.dense.row(i), b.dense.row(j)));
      const double allowed = tolerance * size_of(kernel, a.dense.row(i), b.dense.row(j));
      right = right && std::abs(out(at(i), at(j)) - expected) <= allowed;
    }
  }
  return right;
}

TEST_CASE("kernel_function: blocks agree with plain loops at awkward sizes", "[linalg][kernel_function]") {
  Rng rng(1);
  for (const std::size_t rows : {0U, 1U, 3U, 255U, 256U, 257U}) {
    for (const std::size_t columns : {1U, 2U, 7U, 8U, 33U}) {
      if (rows > 100 && columns > 8) continue;
      for (const double filled : {1.0, 0.2}) {
        const Both a(rows, columns, filled, 0, rng), b(rows == 0 ? 3 : 17, columns, filled, 0, rng);
        for (const KernelFunction& kernel : kKernels) {
          for (const RowsView& x : a.views()) {
            for (const RowsView& z : b.views()) {
              CAPTURE(rows, columns, filled, static_cast<int>(kernel.kind), kernel.degree, x.index(),
                      z.index());
              RowMatrix out;
              kernel_block(kernel, x, z, out);
              CHECK(block_is_right(kernel, a, b, out, 1e-13));
              kernel_block(kernel, z, x, out);
              CHECK(block_is_right(kernel, b, a, out, 1e-13));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("kernel_function: rbf is right a million away from the origin", "[linalg][kernel_function]") {
  Rng rng(2);
  for (const double offset : {1e3, 1e6, -1e9}) {
    for (const double filled : {1.0, 0.2}) {  // of few entries, whole columns are far away, others are not
      const Both a(37, 5, filled, offset, rng), b(21, 5, filled, offset, rng);
      const KernelFunction kernel{KernelKind::kRbf, 0.4, 0};
      for (const RowsView& x : a.views()) {
        for (const RowsView& z : b.views()) {
          CAPTURE(offset, filled, x.index(), z.index());
          RowMatrix out;
          kernel_block(kernel, x, z, out);
          CHECK(block_is_right(kernel, a, b, out, 1e-11));
        }
      }
    }
  }
}

TEST_CASE("kernel_function: rbf is 1 for equal rows, symmetric, and never above 1",
          "[linalg][kernel_function]") {
  Rng rng(3);
  for (const double filled : {1.0, 0.1}) {
    for (const double offset : {0.0, 1e6}) {
      const Both a(50, 9, filled, offset, rng);
      for (const double gamma : {1e-6, 1.0, 1e6}) {
        for (const RowsView& x : a.views()) {
          RowMatrix out;
          kernel_block({KernelKind::kRbf, gamma, 0}, x, x, out);
          CHECK((out.diagonal().array() == 1).all());
          CHECK((out.array() <= 1).all());
          CHECK((out.array() >= 0).all());
          CHECK((out - out.transpose()).cwiseAbs().maxCoeff() <= 1e-12);
        }
      }
    }
  }
}

TEST_CASE("kernel_function: numbers too large give no finite lie", "[linalg][kernel_function]") {
  DenseRows huge(1, 2), one(1, 2);
  huge(0, 0) = 1e200;
  one(0, 0) = 1;
  for (const KernelFunction& kernel : kKernels) {
    RowMatrix out;
    kernel_block(kernel, huge.view(), huge.view(), out);
    const bool honest = kernel.kind == KernelKind::kRbf ? out(0, 0) == 1 || std::isnan(out(0, 0))
                                                        : out(0, 0) > 1e100 || !std::isfinite(out(0, 0));
    CAPTURE(static_cast<int>(kernel.kind), kernel.degree, out(0, 0));
    CHECK(honest);
  }
}

TEST_CASE("kernel_function: an expansion is the sum it stands for, on any number of threads",
          "[linalg][kernel_function]") {
  Rng rng(4);
  for (const std::size_t terms : {0U, 1U, 255U, 257U, 600U}) {
    for (const double filled : {1.0, 0.2}) {
      const Both z(terms, 4, filled, 0, rng), x(terms == 257 ? 1100 : 9, 4, filled, 0, rng);
      RowMatrix c(at(terms), 2);
      for (Eigen::Index i = 0; i < c.size(); ++i) c.data()[i] = rng.normal();
      for (const KernelFunction& kernel : kKernels) {
        for (std::size_t form = 0; form < 3; ++form) {
          const RowsView points = x.views()[form % 2], rows = z.views()[form / 2 + form % 2];
          const RowMatrix out = kernel_expansion(kernel, rows, c, points);
          REQUIRE(out.rows() == at(x.dense.rows()));
          REQUIRE(out.cols() == 2);
          bool right = true;
          for (std::size_t i = 0; i < x.dense.rows(); i += 1 + i / 9) {
            for (Eigen::Index f = 0; f < 2; ++f) {
              long double sum = 0;
              double size = 1;
              for (std::size_t j = 0; j < terms; ++j) {
                sum += c(at(j), f) * slow_kernel(kernel, z.dense.row(j), x.dense.row(i));
                size += std::abs(c(at(j), f)) * size_of(kernel, z.dense.row(j), x.dense.row(i));
              }
              right = right && std::abs(out(at(i), f) - static_cast<double>(sum)) <= 1e-13 * size;
            }
          }
          CAPTURE(terms, filled, form, static_cast<int>(kernel.kind));
          CHECK(right);
          for (const unsigned threads : {2U, 3U})
            CHECK(kernel_expansion(kernel, rows, c, points, threads) == out);
        }
      }
    }
  }
}

TEST_CASE("kernel_function: gradients agree with central differences", "[linalg][kernel_function]") {
  Rng rng(5);
  for (const double offset : {0.0, 50.0}) {
    for (const double filled : {1.0, 0.2}) {
      for (const std::size_t terms : {1U, 40U, 300U}) {
        const std::size_t columns = 5;
        const Both z(terms, columns, filled, offset, rng), x(70, columns, filled, offset, rng);
        std::vector<double> c(terms);
        for (double& v : c) v = rng.normal();
        for (const KernelFunction& kernel : kKernels) {
          // Values of poly far away are too large for differences to tell anything.
          if (offset != 0 && kernel.kind == KernelKind::kPoly) continue;
          const auto f = [&](std::span<const double> point) {
            long double sum = 0;
            for (std::size_t j = 0; j < terms; ++j) sum += c[j] * slow_kernel(kernel, z.dense.row(j), point);
            return sum;
          };
          for (std::size_t form = 0; form < 4; ++form) {
            const RowsView points = x.views()[form % 2], rows = z.views()[form / 2];
            const RowMatrix out = kernel_gradients(kernel, rows, c, points);
            REQUIRE(out.rows() == 70);
            REQUIRE(out.cols() == at(columns));
            const double step = 1e-5;
            bool right = true;
            for (std::size_t i = 0; i < 70; i += 23) {
              for (std::size_t j = 0; j < columns; ++j) {
                std::vector<double> up(x.dense.row(i).begin(), x.dense.row(i).end()), down = up;
                up[j] += step;
                down[j] -= step;
                const auto slope = static_cast<double>((f(up) - f(down)) / (2 * step));
                right = right && std::abs(out(at(i), at(j)) - slope) <= 1e-6 * (1 + out.row(at(i)).norm());
              }
            }
            CAPTURE(offset, filled, terms, form, static_cast<int>(kernel.kind), kernel.degree);
            CHECK(right);
            for (const unsigned threads : {2U, 3U})
              CHECK(kernel_gradients(kernel, rows, c, points, threads) == out);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bagwise
