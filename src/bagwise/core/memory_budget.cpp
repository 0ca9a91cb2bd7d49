#include "bagwise/core/memory_budget.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace bagwise {
namespace {

// Below this nothing is asked: reading /proc takes some 0.1 ms, touching so many bytes takes 10.
constexpr double kWorthAsking = 64e6;

std::atomic<std::uint64_t> limit = kUnknownMemory, fixed = kUnknownMemory;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  if (file) out << file.rdbuf();
  return out.str();
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// The number behind a line's first word.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name)) return leading_number(line.substr(name.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

std::uint64_t left(std::uint64_t of, std::uint64_t used) { return of > used ? of - used : 0; }

std::uint64_t of_machine(const std::string& root) {
  const std::string text = file_text(root + "/proc/meminfo");
  const auto available = field(text, "MemAvailable:");
  if (!available) return kUnknownMemory;
  return (*available + field(text, "SwapFree:").value_or(0)) * 1024;
}

struct GroupFiles {
  const char *most, *used;
  std::string_view active, inactive;  // pages of files, in memory.stat
};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "active_file ", "inactive_file "};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file ",
                                  "total_inactive_file "};

// What one group leaves. "max", and what version 1 has in its place (nearly 2^63), are no limit.
std::uint64_t of_group(const std::filesystem::path& folder, const GroupFiles& files) {
  const auto most = leading_number(file_text(folder / files.most));
  const auto used = leading_number(file_text(folder / files.used));
  if (!most || !used || *most >= std::uint64_t{1} << 62) return kUnknownMemory;
  const std::string stat = file_text(folder / "memory.stat");
  const std::uint64_t pages = field(stat, files.active).value_or(0) + field(stat, files.inactive).value_or(0);
  return left(*most, left(*used, pages));
}

// Of a group and all above it. In a container the path may be that of the host: then only its end, or only
// the root, is there.
std::uint64_t of_groups(const std::string& mount, std::filesystem::path group, const GroupFiles& files) {
  std::uint64_t out = of_group(mount, files);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    out = std::min(out, of_group(mount / group, files));
  return out;
}

// Lines of /proc/self/cgroup: "0::/path" of version 2, "4:memory:/path" of version 1.
std::uint64_t of_control_groups(const std::string& root) {
  std::uint64_t out = kUnknownMemory;
  std::istringstream lines(file_text(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") out = std::min(out, of_groups(root + "/sys/fs/cgroup", group, kVersion2));
    if (controllers.find(",memory,") != std::string::npos)
      out = std::min(out, of_groups(root + "/sys/fs/cgroup/memory", group, kVersion1));
  }
  return out;
}

std::uint64_t of_process(const std::string& root) {
  std::uint64_t out = kUnknownMemory;
  const std::uint64_t most = limit;
  rlimit space{};
  const bool bounded = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  if (most == kUnknownMemory && !bounded) return out;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t size = 0, resident = 0;
  std::istringstream(file_text(root + "/proc/self/statm")) >> size >> resident;
  if (bounded) out = left(space.rlim_cur, size * page);
  if (most != kUnknownMemory) out = std::min(out, left(most, resident * page));
  return out;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  if (const std::uint64_t given = fixed; given != kUnknownMemory) return given;
  return std::min({of_machine(root), of_control_groups(root), of_process(root)});
}

void limit_memory(std::uint64_t bytes) { limit = bytes; }
std::uint64_t memory_limit() { return limit; }

FixedMemory::FixedMemory(std::uint64_t available) { fixed = available; }
FixedMemory::~FixedMemory() { fixed = kUnknownMemory; }

Result<void> check_memory(double bytes, std::string_view what, std::string_view advice) {
  if (bytes < kWorthAsking && limit == kUnknownMemory && fixed == kUnknownMemory) return {};
  const std::uint64_t available = available_memory();
  if (available == kUnknownMemory || bytes <= static_cast<double>(available)) return {};
  return Error{fmt::format("needs {} of memory for {}; {} are available: {}", memory_text(bytes), what,
                           memory_text(static_cast<double>(available)), advice)};
}

Result<void> check_matrix(std::string_view what, double rows, double columns, std::string_view advice) {
  const double bytes = rows * columns * sizeof(double);
  if (bytes < kWorthAsking && limit == kUnknownMemory && fixed == kUnknownMemory) return {};
  return check_memory(bytes, fmt::format("{} of {:.0f} x {:.0f} numbers", what, rows, columns), advice);
}

Result<void> MemoryMeter::hold(double bytes) {
  if (bytes <= room_) return {};
  const double step = std::min(bytes / 4, kWorthAsking);
  if (auto fits = check_memory(step, fmt::format("more of {} than the {} so far", what_, memory_text(bytes)),
                               advice_);
      !fits)
    return fits;
  room_ = bytes + step;
  return {};
}

Result<void> limit_memory_by_environment() {
  const char* text = std::getenv("BAGWISE_MEMORY");
  if (text == nullptr || *text == '\0') return {};
  const auto bytes = memory_from_text(text);
  if (!bytes) return Error{fmt::format("BAGWISE_MEMORY: {}", bytes.error().message)};
  limit_memory(*bytes);
  return {};
}

Result<std::uint64_t> memory_from_text(std::string_view text) {
  const Error fault{fmt::format(
      "\"{}\" is no amount of memory; expected bytes such as 4G, 512M or 4000000000", text.substr(0, 40))};
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || !(value > 0)) return fault;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::string_view kUnits = "kMGT";
  if (!unit.empty() && unit.front() != 'B') {
    const std::size_t power = kUnits.find(unit.front() == 'K' ? 'k' : unit.front());
    if (power == std::string_view::npos) return fault;
    value *= std::pow(1000.0, static_cast<double>(power + 1));
    unit.remove_prefix(1);
  }
  if (!(unit.empty() || unit == "B") || !(value >= 1 && value < 9e18)) return fault;
  return static_cast<std::uint64_t>(value);
}

std::string memory_text(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace bagwise
