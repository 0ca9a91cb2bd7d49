#include "cli/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bagwise/bags/sums_file.h"
#include "bagwise/core/atomic_file.h"
#include "bagwise/core/hash.h"

namespace bagwise::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "training.txt";  // what the folder belongs to
constexpr const char* kSuffix = ".checkpoint.sums";
constexpr const char* kState = "rounds.checkpoint.state";

constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();  // our own files

Result<void> check_no_link(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_symlink(fs::symlink_status(path, ignored))) return {};
  return Error{"is a symbolic link; expected what a training left here, or nothing", path.string()};
}

}  // namespace

Result<CheckpointFolder> CheckpointFolder::open(const std::string& folder, std::uint64_t fingerprint,
                                                const std::string& share) {
  CheckpointFolder out;
  out.folder_ = folder;
  out.share_ = share;
  std::error_code code;
  fs::create_directory(out.folder_, code);
  if (code) return Error{fmt::format("cannot create this folder: {}", code.message()), folder};
  if (auto checked = out.check_ranks(); !checked) return checked.error();
  const std::string key = out.file(kKey), mine = fmt::format("bagwise checkpoint 1 {:016x}\n", fingerprint);
  for (const char* name : {kKey, kState}) {
    if (auto checked = check_no_link(out.file(name)); !checked) return checked.error();
  }
  if (fs::exists(key, code)) {
    const auto found = read_file(key, kAnySize);
    if (!found) return found.error();
    if (*found != mine) {
      return Error{
          "belongs to a training of other files or options (or files that changed since); expected that of "
          "this one, or another folder for --checkpoint",
          key};
    }
    if (auto read = out.read_state(); !read) return read.error();
    return out;
  }
  // Without the key nobody knows what the rest belongs to.
  if (const auto rest = out.saved_files(); !rest.empty()) {
    if (auto checked = check_no_link(rest.front()); !checked) return checked.error();
    return Error{fmt::format("is part of a checkpoint that has lost its {}; remove it, or expected another "
                             "folder for --checkpoint",
                             kKey),
                 rest.front().string()};
  }
  if (auto written = write_file(key, mine); !written) return written.error();
  return out;
}

// Files of a run on another number of ranks: "rank-R-of-N." before the name, or nothing.
Result<void> CheckpointFolder::check_ranks() const {
  const auto ranks_of = [](const std::string& share) {
    const std::size_t at = share.rfind("-of-");
    return at == std::string::npos ? std::string("one process") : share.substr(at + 4) + " ranks";
  };
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kKey)) continue;
    const std::string share = name.substr(0, name.size() - std::string_view(kKey).size());
    if (!share.empty() && !(share.starts_with("rank-") && share.ends_with("."))) continue;  // not ours
    const std::string theirs = ranks_of(share.substr(0, share.size() - (share.empty() ? 0 : 1)));
    if (theirs == ranks_of(share_)) continue;
    return Error{
        fmt::format("belongs to a training by {}; expected one by {}, or another folder for --checkpoint",
                    theirs, ranks_of(share_)),
        entry.path().string()};
  }
  return {};
}

std::string CheckpointFolder::file(const std::string& name) const {
  return (folder_ / (share_.empty() ? name : fmt::format("{}.{}", share_, name))).string();
}

Result<std::optional<GroupedSums>> CheckpointFolder::load_sums(const std::string& task) const {
  const std::string path = file(task + kSuffix);
  std::error_code ignored;
  if (auto checked = check_no_link(path); !checked) return checked.error();
  if (!fs::exists(path, ignored)) return std::optional<GroupedSums>();
  auto bytes = read_file(path, kAnySize);
  if (!bytes) return bytes.error();
  auto sums = GroupedSums::from_bytes(*bytes, path);
  if (!sums) return Error{"is damaged; remove it, and the rows are read again", path};
  return std::optional<GroupedSums>(std::move(*sums));
}

Result<void> CheckpointFolder::save_sums(const std::string& task, const GroupedSums& sums) const {
  return write_sums(file(task + kSuffix), sums);
}

Result<void> CheckpointFolder::save(std::string_view state) {
  state_ = std::string(state);
  return write_file(file(kState), fmt::format("{:016x}{}", Fnv1a().add(state).value(), state));
}

Result<void> CheckpointFolder::read_state() {
  constexpr std::size_t kSumLength = 16;
  const std::string path = file(kState);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  auto bytes = read_file(path, kAnySize);
  if (!bytes) return bytes.error();
  const std::string_view state = std::string_view(*bytes).substr(std::min(kSumLength, bytes->size()));
  if (!bytes->starts_with(fmt::format("{:016x}", Fnv1a().add(state).value())))
    return Error{"is damaged; remove it, and the rounds begin again", path};
  state_ = std::string(state);
  return {};
}

std::vector<fs::path> CheckpointFolder::saved_files() const {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (is_saved(entry.path().filename().string())) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool CheckpointFolder::is_saved(std::string_view name) const {
  const bool sums = name.ends_with(kSuffix) && (share_.empty() || name.starts_with(share_ + "."));
  return sums || (folder_ / name).string() == file(kState);
}

Result<void> CheckpointFolder::remove() const {
  std::error_code code;
  const auto fault = [&](const fs::path& path) {
    return Error{fmt::format("the model is written, but this cannot be taken away: {}", code.message()),
                 path.string()};
  };
  std::vector<fs::path> ours;
  const fs::directory_iterator entries(folder_, code);
  if (code) return fault(folder_);
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    // What a run that was killed was writing has a name of its own behind that of its file.
    const std::string_view whole = std::string_view(name).substr(0, name.find(".tmp-"));
    if (is_saved(whole) || (folder_ / whole).string() == file(kKey)) ours.push_back(entry.path());
  }
  // What the rest belongs to goes last: without it the rest could be taken for that of another training.
  std::stable_partition(ours.begin(), ours.end(), [&](const fs::path& path) { return path != file(kKey); });
  for (const fs::path& path : ours) {
    if (fs::remove(path, code); code) return fault(path);
  }
  rmdir(folder_.c_str());  // only where nothing else is in it, and not a link to it
  return {};
}

std::uint64_t fingerprint_of(const std::vector<std::string>& files, const std::vector<std::string>& words) {
  Fnv1a hash;
  for (const std::string& path : files) {
    std::error_code ignored;
    hash.add(path).add(std::string_view("\0", 1));
    hash.add(static_cast<std::uint64_t>(fs::file_size(path, ignored)));
    hash.add(static_cast<std::uint64_t>(fs::last_write_time(path, ignored).time_since_epoch().count()));
  }
  for (const std::string& word : words) hash.add(word).add(std::string_view("\0", 1));
  return hash.value();
}

}  // namespace bagwise::cli
