#include "bagwise/linalg/kernels.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "bagwise/core/random.h"

namespace {

using bagwise::Csr;
using bagwise::DenseRows;
using bagwise::Rng;
using bagwise::RowsView;
using bagwise::Vector;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// The same random table twice: with a third of its entries not 0.
struct Both {
  DenseRows dense;
  Csr sparse;
};
Both random_table(std::size_t rows, std::size_t columns, Rng& rng) {
  Both out{DenseRows(rows, columns), {}};
  out.sparse.columns = columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (rng.below(3) != 0) continue;
      const double x = rng.normal();
      out.dense(i, j) = x;
      out.sparse.index.push_back(static_cast<std::int32_t>(j));
      out.sparse.values.push_back(x);
    }
    out.sparse.start.push_back(static_cast<std::int64_t>(out.sparse.values.size()));
  }
  return out;
}

std::vector<double> random_values(std::size_t n, Rng& rng) {
  std::vector<double> out(n);
  for (double& x : out) x = rng.normal();
  return out;
}

Vector as_vector(const std::vector<double>& v) {
  return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size()));
}

}  // namespace

TEST_CASE("kernels: products agree with the sums they stand for, at awkward sizes", "[linalg][kernels]") {
  Rng rng(1);
  for (const std::size_t rows : {0U, 1U, 3U, 33U, 4095U, 4096U, 4097U, 9000U}) {
    for (const std::size_t columns : {1U, 3U, 7U, 8U, 9U, 31U, 33U}) {
      if (rows > 100 && columns > 9) continue;
      CAPTURE(rows, columns);
      const Both table = random_table(rows, columns, rng);
      const std::vector<double> x = random_values(columns, rng), c = random_values(rows, rng);
      std::vector<double> by_row(rows, 0.0), by_row_size(rows, 0.0);
      std::vector<long double> by_column(columns, 0.0L), by_column_size(columns, 0.0L);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          by_row[i] += table.dense(i, j) * x[j];
          by_row_size[i] += std::abs(table.dense(i, j) * x[j]);
          by_column[j] += static_cast<long double>(c[i] * table.dense(i, j));
          by_column_size[j] += static_cast<long double>(std::abs(c[i] * table.dense(i, j)));
        }
      }
      for (const RowsView& view : {RowsView(table.dense.view()), RowsView(table.sparse.view())}) {
        std::vector<double> out(rows, -7.0);
        bagwise::multiply(view, as_vector(x), out);
        bool close = true;
        for (std::size_t i = 0; i < rows; ++i) {
          close = close &&
                  std::abs(out[i] - by_row[i]) <= 2 * static_cast<double>(columns) * kEps * by_row_size[i];
        }
        CHECK(close);
        const Vector sum = bagwise::multiply_transposed(view, c);
        REQUIRE(sum.size() == static_cast<Eigen::Index>(columns));
        for (std::size_t j = 0; j < columns; ++j) {
          const auto tolerance = static_cast<double>(by_column_size[j]) * static_cast<double>(rows) * kEps;
          CHECK(std::abs(sum[static_cast<Eigen::Index>(j)] - static_cast<double>(by_column[j])) <= tolerance);
        }
      }
    }
  }
}

TEST_CASE("kernels: 1, 2 and 4 threads give the same bits, and the right ones", "[linalg][kernels]") {
  Rng rng(2);
  const std::size_t rows = 33 * 4096 + 5, columns = 3;  // more blocks than are held at once
  const Both table = random_table(rows, columns, rng);
  const std::vector<double> x = random_values(columns, rng), c = random_values(rows, rng);
  for (const RowsView& view : {RowsView(table.dense.view()), RowsView(table.sparse.view())}) {
    std::vector<double> one(rows), many(rows);
    bagwise::multiply(view, as_vector(x), one, 1);
    const Vector sum = bagwise::multiply_transposed(view, c, 1);
    for (std::size_t j = 0; j < columns; ++j) {
      long double exact = 0;
      for (std::size_t i = 0; i < rows; ++i) exact += static_cast<long double>(c[i] * table.dense(i, j));
      CHECK(sum[static_cast<Eigen::Index>(j)] == Approx(static_cast<double>(exact)).epsilon(1e-10));
    }
    for (const unsigned threads : {2U, 4U}) {
      bagwise::multiply(view, as_vector(x), many, threads);
      CHECK(one == many);
      CHECK(sum == bagwise::multiply_transposed(view, c, threads));
    }
  }
}

TEST_CASE("kernels: products of several vectors agree with those of one, on any number of threads",
          "[linalg][kernels]") {
  Rng rng(4);
  for (const std::size_t rows : {0U, 1U, 7U, 511U, 512U, 513U, 1700U}) {
    for (const std::size_t columns : {1U, 5U, 33U}) {
      for (const std::size_t count : {1U, 2U, 9U}) {
        CAPTURE(rows, columns, count);
        const Both table = random_table(rows, columns, rng);
        const auto index = [](std::size_t k) { return static_cast<Eigen::Index>(k); };
        bagwise::RowMatrix w(index(count), index(columns)), c(index(count), index(rows));
        for (double& x : w.reshaped()) x = rng.normal();
        for (double& x : c.reshaped()) x = rng.below(4) == 0 ? 0.0 : rng.normal();
        for (const RowsView& view : {RowsView(table.dense.view()), RowsView(table.sparse.view())}) {
          const bagwise::RowMatrix products = bagwise::products_with(view, w);
          const bagwise::RowMatrix sums = bagwise::combinations(view, c);
          REQUIRE(products.rows() == index(rows));
          REQUIRE(products.cols() == index(count));
          for (std::size_t s = 0; s < count; ++s) {
            std::vector<double> one(rows);
            bagwise::multiply(view, w.row(index(s)).transpose(), one);
            for (std::size_t i = 0; i < rows; ++i)
              CHECK(products(index(i), index(s)) == Approx(one[i]).margin(1e-12));
            const std::vector<double> own(c.row(index(s)).data(), c.row(index(s)).data() + rows);
            const Vector sum = bagwise::multiply_transposed(view, own);
            CHECK((sums.row(index(s)).transpose() - sum).norm() <= 1e-12 * (1 + sum.norm()));
          }
          CHECK(products == bagwise::products_with(view, w, 3));
          CHECK(sums == bagwise::combinations(view, c, 3));
        }
      }
    }
  }
}

TEST_CASE("kernels: products of each row alone have the same bits in any company", "[linalg][kernels]") {
  Rng rng(5);
  for (const std::size_t columns : {1U, 3U, 7U, 8U, 9U, 31U, 50U}) {
    CAPTURE(columns);
    const std::size_t rows = columns == 50 ? 5000 : 40;
    const Both table = random_table(rows, columns, rng);
    const std::vector<double> x = random_values(columns, rng);
    const Vector w = as_vector(x);
    for (const RowsView& view : {RowsView(table.dense.view()), RowsView(table.sparse.view())}) {
      std::vector<double> all(rows), again(rows);
      bagwise::multiply_each(view, w, all, 1);
      bagwise::multiply_each(view, w, again, 3);
      CHECK(all == again);
      for (std::size_t i = 0; i < rows; i += 1 + rows / 50) {
        const DenseRows alone = [&] {
          DenseRows out(1, columns);
          for (std::size_t j = 0; j < columns; ++j) out(0, j) = table.dense(i, j);
          return out;
        }();
        std::vector<double> one(1);
        bagwise::multiply_each(alone.view(), w, one, 1);
        double sum = 0, size = 0;
        for (std::size_t j = 0; j < columns; ++j) {
          sum += table.dense(i, j) * x[j];
          size += std::abs(table.dense(i, j) * x[j]);
        }
        CHECK(std::abs(all[i] - sum) <= static_cast<double>(columns) * kEps * size);
        if (std::holds_alternative<bagwise::DenseView>(view)) CHECK(one[0] == all[i]);
      }
    }
  }
}
