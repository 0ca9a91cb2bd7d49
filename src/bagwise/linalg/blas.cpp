#include "bagwise/linalg/blas.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

// OpenBLAS's Fortran interface; declared here because its C headers clash with others'.
// NOLINTBEGIN(readability-identifier-naming): Fortran's names end in an underscore.
extern "C" {
void dgemv_(const char* trans, const int* m, const int* n, const double* alpha, const double* a,
            const int* lda, const double* x, const int* incx, const double* beta, double* y, const int* incy);
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* piv, int* rank,
             const double* tol, double* work, int* info);
void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);
}
// NOLINTEND(readability-identifier-naming)

namespace bagwise {
namespace {

// OpenBLAS's thread count is one per process, so the guards are counted: the first sets it, the last restores
// it.
struct SerialCount {
  std::mutex mutex;
  int holders = 0;
  int before = 1;
};
SerialCount& serial_count() {
  static SerialCount count;
  return count;
}

int as_int(std::size_t n) { return static_cast<int>(n); }
int as_int(Eigen::Index n) { return static_cast<int>(n); }

// OpenBLAS takes a buffer of this size for each call under way, keeps it for the next, and where there is no
// memory for it asks again without end. So before a call that may need one more, it is asked for here.
constexpr std::size_t kBufferBytes = (std::size_t{128} << 20) + 4096;

enum class Buffer { kTaken, kPerhaps };  // products with a vector need none if they are small

void look_for(std::size_t bytes) {
  void* const probe = std::malloc(bytes);
  if (probe == nullptr) throw std::bad_alloc();
  std::free(probe);
}

// For small products (up to a million terms) OpenBLAS takes room for copies of both sides on processors with
// AVX-512, and writes to it whether it got it or not.
void look_for_copies(std::size_t rows, std::size_t columns, std::size_t inner) {
  constexpr double kSmallProduct = 1e6;
  if (static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner) <= kSmallProduct)
    look_for((rows + columns) * inner * sizeof(double));
}

class BlasCall {
 public:
  explicit BlasCall(Buffer buffer) {
    const int now = under_way.fetch_add(1) + 1;
    if (now <= buffers) return;
    try {
      look_for(kBufferBytes);
    } catch (const std::bad_alloc&) {
      --under_way;
      throw;
    }
    if (buffer == Buffer::kPerhaps) return;
    for (int had = buffers; had < now && !buffers.compare_exchange_weak(had, now);) {
    }
  }
  ~BlasCall() { --under_way; }
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;

 private:
  inline static std::atomic<int> under_way{0}, buffers{0};
};

constexpr int kOne = 1;
constexpr double kUnit = 1;

}  // namespace

SerialBlas::SerialBlas() {
  SerialCount& count = serial_count();
  const std::lock_guard lock(count.mutex);
  if (count.holders++ == 0) {
    count.before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
}

SerialBlas::~SerialBlas() {
  SerialCount& count = serial_count();
  const std::lock_guard lock(count.mutex);
  if (--count.holders == 0) openblas_set_num_threads(count.before);
}

// Row-major A is column-major A' with leading dimension `columns`.
void dense_multiply(const double* a, std::size_t rows, std::size_t columns, const double* x, double* out) {
  std::fill_n(out, rows, 0.0);  // and add: with a factor of 0 some versions keep a NaN that stood there
  if (columns == 0) return;
  const int m = as_int(columns), n = as_int(rows);
  const BlasCall call(Buffer::kPerhaps);
  dgemv_("T", &m, &n, &kUnit, a, &m, x, &kOne, &kUnit, out, &kOne);
}

void dense_add_transposed(const double* a, std::size_t rows, std::size_t columns, const double* c,
                          double* out) {
  if (rows == 0 || columns == 0) return;
  const int m = as_int(columns), n = as_int(rows);
  const BlasCall call(Buffer::kPerhaps);
  dgemv_("N", &m, &n, &kUnit, a, &m, c, &kOne, &kUnit, out, &kOne);
}

// Row-major out is column-major out' = B' A', with B' and A' read in place.
void dense_product(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner,
                   double* out) {
  std::fill_n(out, rows * columns, 0.0);
  if (rows == 0 || columns == 0 || inner == 0) return;
  const int m = as_int(columns), n = as_int(rows), k = as_int(inner);
  const BlasCall call(Buffer::kTaken);
  look_for_copies(rows, columns, inner);
  dgemm_("N", "N", &m, &n, &k, &kUnit, b, &m, a, &k, &kUnit, out, &m);
}

void dense_product_transposed(const double* a, std::size_t rows, const double* b, std::size_t columns,
                              std::size_t inner, double* out) {
  std::fill_n(out, rows * columns, 0.0);
  if (rows == 0 || columns == 0 || inner == 0) return;
  const int m = as_int(columns), n = as_int(rows), k = as_int(inner);
  const BlasCall call(Buffer::kTaken);
  look_for_copies(rows, columns, inner);
  dgemm_("T", "N", &m, &n, &k, &kUnit, b, &k, a, &k, &kUnit, out, &m);
}

void add_column_gram(const double* a, std::size_t rows, std::size_t columns, ColMatrix& out) {
  assert(out.rows() == as_int(columns) && out.cols() == as_int(columns));
  if (rows == 0 || columns == 0) return;
  const int n = as_int(columns), k = as_int(rows);
  const BlasCall call(Buffer::kTaken);
  dsyrk_("L", "N", &n, &k, &kUnit, a, &n, &kUnit, out.data(), &n);
}

void add_row_gram(const double* a, std::size_t rows, std::size_t columns, ColMatrix& out) {
  assert(out.rows() == as_int(rows) && out.cols() == as_int(rows));
  if (rows == 0 || columns == 0) return;
  const int n = as_int(rows), k = as_int(columns);
  const BlasCall call(Buffer::kTaken);
  dsyrk_("L", "T", &n, &k, &kUnit, a, &k, &kUnit, out.data(), &n);
}

RowMatrix pivoted_cholesky(ColMatrix a) {
  assert(a.rows() == a.cols());
  const int n = as_int(a.rows());
  int rank = 0, info = 0;
  const double tolerance = -1;  // n times the rounding of the largest diagonal value
  std::vector<int> pivot(static_cast<std::size_t>(n));
  std::vector<double> work(2 * static_cast<std::size_t>(n));
  if (n > 0) {
    const BlasCall call(Buffer::kTaken);
    dpstrf_("L", &n, a.data(), &n, pivot.data(), &rank, &tolerance, work.data(), &info);
  }
  RowMatrix out = RowMatrix::Zero(n, rank);
  for (int k = 0; k < n; ++k) {
    const int columns = std::min(k + 1, rank);
    out.row(pivot[static_cast<std::size_t>(k)] - 1).head(columns) = a.row(k).head(columns);
  }
  return out;
}

bool Cholesky::factor(ColMatrix a) {
  assert(a.rows() == a.cols());
  l_ = std::move(a);
  const int n = as_int(l_.rows());
  if (n == 0) return true;
  int info = 0;
  const BlasCall call(Buffer::kTaken);
  dpotrf_("L", &n, l_.data(), &n, &info);
  return info == 0;
}

void Cholesky::solve_in_place(Vector& b) const {
  assert(b.size() == l_.rows());
  const int n = as_int(l_.rows());
  if (n == 0) return;
  int info = 0;
  const BlasCall call(Buffer::kTaken);
  dpotrs_("L", &n, &kOne, l_.data(), &n, b.data(), &n, &info);
  assert(info == 0);
}

void Cholesky::solve_in_place(ColMatrix& b) const {
  assert(b.rows() == l_.rows());
  const int n = as_int(l_.rows()), columns = as_int(b.cols());
  if (n == 0 || columns == 0) return;
  int info = 0;
  const BlasCall call(Buffer::kTaken);
  dpotrs_("L", &n, &columns, l_.data(), &n, b.data(), &n, &info);
  assert(info == 0);
}

ColMatrix Cholesky::inverse() const {
  ColMatrix out = l_;
  const int n = as_int(l_.rows());
  if (n == 0) return out;
  int info = 0;
  const BlasCall call(Buffer::kTaken);
  dpotri_("L", &n, out.data(), &n, &info);
  assert(info == 0);
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace bagwise
