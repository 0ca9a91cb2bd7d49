#include "bagwise/core/memory_budget.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "support/temp_dir.h"

namespace bagwise {
namespace {

constexpr std::uint64_t kMega = 1000 * 1000;

// A machine made of files.
struct Machine {
  test::TempDir dir;

  Machine() = default;
  explicit Machine(std::uint64_t kilobytes, std::uint64_t swap = 0) {
    put("proc/meminfo",
        "MemTotal:       99999999 kB\nMemFree:  1 kB\nMemAvailable:   " + std::to_string(kilobytes) +
            " kB\nSwapTotal: 5 kB\nSwapFree:        " + std::to_string(swap) + " kB\n");
  }
  void put(const std::string& path, const std::string& text) const {
    const std::string file = dir.file(path);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::uint64_t available() const { return available_memory(dir.path.string()); }
};

TEST_CASE("memory_budget: the machine has what is available and what can be swapped",
          "[core][memory_budget]") {
  CHECK(Machine(1000).available() == 1024000);
  CHECK(Machine(1000, 24).available() == 1024 * 1024);
  CHECK(Machine().available() == kUnknownMemory);
}

TEST_CASE("memory_budget: control groups bound it, each above the process's own too",
          "[core][memory_budget]") {
  const Machine machine(1 << 20);
  machine.put("proc/self/cgroup", "0::/a/b\n");
  machine.put("sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.put("sys/fs/cgroup/a/b/memory.current", "5\n");
  CHECK(machine.available() == std::uint64_t{1} << 30);
  machine.put("sys/fs/cgroup/a/b/memory.max", "9000\n");
  CHECK(machine.available() == 8995);
  machine.put("sys/fs/cgroup/a/memory.max", "5000\n");
  machine.put("sys/fs/cgroup/a/memory.current", "4000\n");
  CHECK(machine.available() == 1000);
  machine.put("sys/fs/cgroup/a/memory.stat",
              "anon 10\nactive_file 200\ninactive_file 300\n");  // can be dropped
  CHECK(machine.available() == 1500);
  machine.put("sys/fs/cgroup/a/memory.current", "9000\n");
  CHECK(machine.available() == 0);
}

TEST_CASE("memory_budget: control groups of version 1, in a container with paths of the host",
          "[core][memory_budget]") {
  const Machine machine(1 << 20);
  machine.put("proc/self/cgroup", "7:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/4711\n0::/\n");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "700\n");
  CHECK(machine.available() == std::uint64_t{1} << 30);
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  CHECK(machine.available() == 300);
  machine.put("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 100\n");
  CHECK(machine.available() == 400);
}

TEST_CASE("memory_budget: files that are not what they should be tell nothing",
          "[core][memory_budget][badargs]") {
  const Machine machine;
  machine.put("proc/meminfo", "MemAvailable: lots\n");
  machine.put("proc/self/cgroup", "\n0\n0:\n::\n0::/a\n");
  machine.put("sys/fs/cgroup/a/memory.max", "");
  machine.put("sys/fs/cgroup/a/memory.current", "-1");
  CHECK(machine.available() == kUnknownMemory);
}

TEST_CASE("memory_budget: the address space and the limit of the process bound it", "[core][memory_budget]") {
  const Machine machine(std::uint64_t{1} << 40);
  machine.put("proc/self/statm", "2000 500 1 1 0 1 0\n");
  const std::uint64_t all = machine.available();
  limit_memory(100 * kMega);
  CHECK(machine.available() == 100 * kMega - 500 * 4096);
  limit_memory(1);
  CHECK(machine.available() == 0);
  limit_memory(kUnknownMemory);
  CHECK(machine.available() == all);

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit less = before;
  less.rlim_cur = rlim_t{1} << 45;  // above what any sanitizer reserves
  if (before.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_AS, &less) == 0) {
    CHECK(machine.available() == (std::uint64_t{1} << 45) - 2000 * 4096);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  }
}

TEST_CASE("memory_budget: what fits to the byte is given, one byte more is not", "[core][memory_budget]") {
  const FixedMemory fixed(8 * 30 * 40);
  CHECK(check_matrix("a table", 30, 40, "less"));
  CHECK(check_memory(9600, "x", "less"));
  CHECK_FALSE(check_memory(9601, "x", "less"));
  const auto refused = check_matrix("a table", 30, 41, "take fewer rows");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() ==
        "needs 9.84 kB of memory for a table of 30 x 41 numbers; 9.6 kB are available: take fewer rows");
  CHECK_FALSE(check_memory(std::numeric_limits<double>::infinity(), "x", "less"));
}

TEST_CASE("memory_budget: a meter asks before every further step", "[core][memory_budget]") {
  MemoryMeter meter("rows", "take fewer");
  const FixedMemory fixed(5'000'000);
  CHECK(meter.hold(900'000));
  CHECK(meter.hold(20e6));    // 5 MB more
  CHECK(meter.hold(24.9e6));  // within them
  const auto refused = meter.hold(26e6);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "needs 6.5 MB of memory for more of rows than the 26 MB so far; 5 MB are available: take fewer");
}

TEST_CASE("memory_budget: the environment can set the limit", "[core][memory_budget]") {
  setenv("BAGWISE_MEMORY", "3G", 1);
  CHECK(limit_memory_by_environment());
  CHECK(memory_limit() == 3'000'000'000);
  limit_memory(kUnknownMemory);
  setenv("BAGWISE_MEMORY", "plenty", 1);
  const auto bad = limit_memory_by_environment();
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().message, Catch::Contains("BAGWISE_MEMORY: \"plenty\" is no amount of memory"));
  unsetenv("BAGWISE_MEMORY");
  CHECK(limit_memory_by_environment());
  CHECK(memory_limit() == kUnknownMemory);
}

TEST_CASE("memory_budget: this machine has some memory, and not all of it", "[core][memory_budget]") {
  CHECK(available_memory() > kMega);
  CHECK(check_memory(1e6, "x", "y"));
  CHECK_FALSE(check_memory(1e18, "x", "y"));
}

TEST_CASE("memory_budget: amounts are read as people write them", "[core][memory_budget]") {
  const auto read = [](const char* text) { return memory_from_text(text); };
  CHECK(*read("4G") == 4'000'000'000);
  CHECK(*read("1.5GB") == 1'500'000'000);
  CHECK(*read("512M") == 512 * kMega);
  CHECK(*read("64kB") == 64000);
  CHECK(*read("64K") == 64000);
  CHECK(*read("100") == 100);
  CHECK(*read("100B") == 100);
  for (const char* bad : {"", "G", "0", "-1G", "4 G", "4X", "4GBs", "nan", "inf", "1e300T", "4g"}) {
    INFO(bad);
    CHECK_FALSE(read(bad));
  }
  CHECK(memory_text(37.31e9) == "37.3 GB");
  CHECK(memory_text(999) == "999 bytes");
  CHECK(memory_text(999.6e6) == "1 GB");
}

}  // namespace
}  // namespace bagwise
