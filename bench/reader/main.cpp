// bench_reader [ROWS [BAGS]]: makes the table, checks every answer, then prints times as MB/s and ratios.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "bagwise/core/timing.h"
#include "task.h"

using namespace reader_bench;

namespace {

constexpr int kRepeats = 5;

double best(const std::function<double()>& run) {
  double least = run();
  for (int i = 1; i < kRepeats; ++i) least = std::min(least, run());
  return least;
}

void line(const char* what, const Task& task, double seconds, double awk_seconds, bool right) {
  const std::string ratio = awk_seconds > 0 ? fmt::format("{:.1f}x awk", awk_seconds / seconds) : "";
  fmt::print("{:<34} {:8.3f} s {:8.0f} MB/s  {:<12} {}\n", what, seconds,
             static_cast<double>(task.bytes) / 1e6 / seconds, ratio, right ? "" : "WRONG ANSWER");
}

// In a process of its own, so that nothing else counts: prints peak memory beyond the matrix.
int measure_memory(const char* file, unsigned threads) {
  Task task;
  task.file = file;
  std::uint64_t matrix = 0;
  run_read_table(task, threads, matrix);
  fmt::print("{:<34} {:8.1f} MB over a matrix of {:.0f} MB, {} thread(s)\n", "  its peak memory",
             (static_cast<double>(bagwise::peak_memory_bytes()) - static_cast<double>(matrix)) / 1e6,
             static_cast<double>(matrix) / 1e6, threads);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--memory") == 0) {
    return measure_memory(argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  }
  const std::uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  const std::uint64_t bags = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  std::string folder = (std::filesystem::temp_directory_path() / "bagwise-reader.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const Task task = make_task(folder + "/table.csv", rows, bags);
  fmt::print("{} rows x {} numbers, {} bags, {:.0f} MB; best of {} (awk: once)\n", rows, kFeatures, bags,
             static_cast<double>(task.bytes) / 1e6, kRepeats);

  const double page_cache = best([&] { return read_page_cache(task); });
  line("read() from the page cache", task, page_cache, 0, true);
  const Answer awk = run_awk(task);
  line("awk, sums per bag", task, awk.seconds, 0, same_answer(awk, task));

  double seconds[3] = {};
  bool all_right = true;
  for (const unsigned threads : {1U, 2U}) {
    bool right = true;
    seconds[threads] = best([&] {
      const Answer ours = run_ours(task, threads);
      right = right && same_answer(ours, task);
      return ours.seconds;
    });
    all_right = all_right && right;
    line(threads == 1 ? "bagwise to BagSums, 1 thread" : "bagwise to BagSums, 2 threads", task,
         seconds[threads], awk.seconds, right);
  }
  for (const unsigned threads : {1U, 2U}) {
    std::uint64_t matrix = 0;
    const double time = best([&] { return run_read_table(task, threads, matrix); });
    line(threads == 1 ? "bagwise to Dataset, 1 thread" : "bagwise to Dataset, 2 threads", task, time,
         awk.seconds, true);
    std::fflush(stdout);
    if (std::system(fmt::format("'{}' --memory '{}' {}", argv[0], task.file, threads).c_str()) != 0) return 1;
  }
  fmt::print("two threads over one: {:.2f}x; page cache over one thread: {:.1f}x\n", seconds[1] / seconds[2],
             seconds[1] / page_cache);
  std::filesystem::remove_all(folder);
  return all_right ? 0 : 1;
}
