// Sums per bag from a binary table, beside a plain sum over the same bytes and beside the CSV it is made of.
//
// The answers are compared first; then the times, as ratios. Reading is from the page cache, all with the
// same number of threads; the plain sum maps the file anew for each run, as reading it does.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/atomic_file.h"
#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"
#include "bagwise/data/binary_table.h"

namespace {

using namespace bagwise;

void require(bool good, const std::string& what) {
  if (good) return;
  fmt::print("wrong: {}\n", what);
  std::exit(1);
}

void write_csv(const std::string& path, std::uint64_t rows, std::uint64_t features, std::uint64_t bags) {
  Rng rng(1);
  auto file = AtomicFile::create(path);
  require(file.ok(), path);
  std::string text = "bag";
  for (std::uint64_t j = 0; j < features; ++j) text += fmt::format(",x{}", j + 1);
  text += '\n';
  for (std::uint64_t i = 0; i < rows; ++i) {
    text += fmt::format("bag{}", rng.below(bags));
    for (std::uint64_t j = 0; j < features; ++j) text += fmt::format(",{:.4f}", 10 * rng.uniform() - 5);
    text += '\n';
    if (text.size() < (std::size_t{1} << 20) && i + 1 < rows) continue;
    require(file->write(text).ok(), path);
    text.clear();
  }
  require(file->commit().ok(), path);
}

// The whole file as numbers, added up: eight sums side by side, so that memory is what bounds it.
double plain_sum(const std::string& path, unsigned threads) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  require(file >= 0 && fstat(file, &info) == 0, path);
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  require(at != MAP_FAILED, path);
  madvise(at, size, MADV_SEQUENTIAL);
  const auto* const values = static_cast<const double*>(at);
  const std::size_t count = size / sizeof(double), piece = std::size_t{1} << 17;
  std::vector<double> sums((count + piece - 1) / piece);
  parallel_for(sums.size(), threads, [&](std::size_t p) {
    double sum[8] = {};
    const std::size_t end = std::min(count, (p + 1) * piece);
    for (std::size_t i = p * piece; i + 8 <= end; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) sum[k] += values[i + k];
    }
    for (const double s : sum) sums[p] += s;
  });
  double total = 0;
  for (const double s : sums) total += s;
  munmap(at, size);
  close(file);
  return total;
}

double best_seconds(const std::function<void()>& run) {
  double best = 1e300;
  for (int k = 0; k < 5; ++k) {
    const Stopwatch watch;
    run();
    best = std::min(best, watch.seconds());
  }
  return best;
}

// Takes rows and forgets them: what parsing alone costs.
class CountSink final : public RowSink {
 public:
  void add(const TableRow& row) override { values += row.values.size(); }
  std::uint64_t values = 0;
};

void parse_only(const std::string& path, unsigned threads) {
  std::uint64_t values = 0;
  ParallelTable work;
  work.begin = [](const TableSchema&) -> Result<void> { return {}; };
  work.make = []() -> std::unique_ptr<RowSink> { return std::make_unique<CountSink>(); };
  work.fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace&) -> Result<void> {
    values += static_cast<CountSink&>(*sink).values;
    return {};
  };
  require(map_table(path, {.threads = threads}, work).ok() && values > 0, path);
}

void same_sums(const GroupedSums& a, const GroupedSums& b) {
  require(a.names == b.names && a.rows == b.rows, "bags");
  for (std::size_t k = 0; k < a.names.size(); ++k) {
    require(a.sums.count(k) == b.sums.count(k), "counts");
    for (std::size_t j = 0; j < a.sums.features(); ++j) {
      const double x = a.sums.sum(k, j), y = b.sums.sum(k, j);
      require(std::abs(x - y) <= 1e-12 * std::max(1.0, std::abs(x)), "sums");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t rows = number(1, 400000), features = number(2, 50), bags = number(3, 1000);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("bench-binary-{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string csv = (folder / "t.csv").string(), bw = (folder / "t.bw").string();
  write_csv(csv, rows, features, bags);
  require(convert_table(csv, bw, {.block_bytes = kConvertBytes}).ok(), "conversion");
  const auto bytes = static_cast<double>(std::filesystem::file_size(bw));
  fmt::print("{} rows x {} features, {} bags: {:.0f} MB of CSV, {:.0f} MB binary\n", rows, features, bags,
             static_cast<double>(std::filesystem::file_size(csv)) / 1e6, bytes / 1e6);

  for (const unsigned threads : {1U, 2U}) {
    auto from_csv = reduce_table(csv, {.threads = threads}), from_bw = reduce_table(bw, {.threads = threads});
    require(from_csv.ok() && from_bw.ok(), "reduction");
    same_sums(*from_csv, *from_bw);
    volatile double kept = 0;
    const double plain = best_seconds([&] { kept = plain_sum(bw, threads); });
    const double binary = best_seconds([&] { require(reduce_table(bw, {.threads = threads}).ok(), bw); });
    const double scaled =
        best_seconds([&] { require(reduce_table(bw, {.threads = threads}, {.moments = true}).ok(), bw); });
    const double parse = best_seconds([&] { parse_only(csv, threads); });
    const double reduce = best_seconds([&] { require(reduce_table(csv, {.threads = threads}).ok(), csv); });
    fmt::print(
        "threads {}\n"
        "  plain sum over the mapped file   {:7.3f} s  {:5.2f} GB/s\n"
        "  sums per bag, checksums verified {:7.3f} s  {:5.2f} GB/s  {:3.0f} % of the plain sum\n"
        "  ... and moments for scaling      {:7.3f} s  {:5.2f} GB/s  {:3.0f} %\n"
        "  CSV: parsing alone               {:7.3f} s\n"
        "  CSV: sums per bag                {:7.3f} s  {:5.2f} x parsing alone, {:.1f} x the binary table\n",
        threads, plain, bytes / plain / 1e9, binary, bytes / binary / 1e9, 100 * plain / binary, scaled,
        bytes / scaled / 1e9, 100 * plain / scaled, parse, reduce, reduce / parse, reduce / binary);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
