#include "bagwise/core/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

namespace bagwise {

// Of all files in the making a list is kept, so that a process that ends at once can take them away.
struct AtomicFile::State {
  explicit State(std::string to);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  [[nodiscard]] Error fault(std::string_view doing, int code) const;
  Result<void> open_directly();
  Result<void> create_beside();
  void remove_leftovers() const;

  std::string path;
  std::string temporary;  // empty: written to directly, or there already
  std::string buffer;
  int descriptor = -1;
  int lock = -1;          // the same file, held until it is there
  bool replaces = false;  // there was one before
  bool there = false;     // renamed

  State* next = nullptr;
  State* before = nullptr;
  inline static std::mutex mutex;  // guards the list
  inline static State* first = nullptr;
};

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::string_view kMark = ".tmp-";  // between the name of a file and that of its temporary
constexpr std::size_t kDigits = 16;          // after it

// A name that nobody can have put there before; empty and errno if the system has no such numbers.
std::string name_beside(const std::string& path) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return {};
  return fmt::format("{}{}{:016x}", path, kMark, number);
}

bool is_temporary_of(std::string_view file, std::string_view name) {
  if (!name.starts_with(file)) return false;
  name.remove_prefix(file.size());
  if (!name.starts_with(kMark) || name.size() != kMark.size() + kDigits) return false;
  name.remove_prefix(kMark.size());
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The folder of a path as opendir takes it, and the name in it.
std::pair<std::string, std::string_view> folder_and_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), std::string_view(path).substr(slash + 1)};
}

// N of /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N: names of what this process has open.
std::optional<int> own_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view start : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(start)) continue;
    const std::string_view digits = path.substr(start.size());
    int number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return number;
  }
  return std::nullopt;
}

// What a rename has done is on the disk. Not every file system can tell.
int sync_folder(const std::string& path) {
  const int folder = open(folder_and_name(path).first.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  const int code = fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
  close(folder);
  return code;
}

}  // namespace

AtomicFile::State::State(std::string to) : path(std::move(to)) {
  const std::lock_guard guard(mutex);
  next = first;
  if (next != nullptr) next->before = this;
  first = this;
}

AtomicFile::State::~State() {
  if (descriptor >= 0) close(descriptor);
  if (!temporary.empty()) unlink(temporary.c_str());
  if (lock >= 0) close(lock);
  const std::lock_guard guard(mutex);
  if (next != nullptr) next->before = before;
  (before != nullptr ? before->next : first) = next;
}

Error AtomicFile::State::fault(std::string_view doing, int code) const {
  return {fmt::format("cannot {} this file: {}", doing, std::strerror(code)), path};
}

Result<void> AtomicFile::State::open_directly() {
  descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return fault("open", errno);
  struct stat info {};
  if (fstat(descriptor, &info) != 0) return fault("look at", errno);
  if (S_ISREG(info.st_mode)) return Error{"became another file just now; expected a device or a pipe", path};
  return {};
}

// A new file beside the old one, with the rights any new file gets. (mkstemp would make it private, and
// asking for the umask is not safe between threads.) It is locked as long as we live: one that is not was
// left behind.
Result<void> AtomicFile::State::create_beside() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = name_beside(path);
    if (temporary.empty()) return fault("find a name beside", errno);
    descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      const int code = errno;
      temporary.clear();
      if (code == EEXIST) continue;
      return fault("create", code);
    }
    flock(descriptor, LOCK_EX | LOCK_NB);
    struct stat info {};
    if (fstat(descriptor, &info) != 0) return fault("look at", errno);
    if (info.st_nlink > 0) return {};
    close(std::exchange(descriptor, -1));  // somebody tidied up before it was locked
  }
  temporary.clear();
  return fault("create", EEXIST);
}

// Temporaries of this file whose process is gone.
void AtomicFile::State::remove_leftovers() const {
  const auto [folder, name] = folder_and_name(path);
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* const entry = readdir(entries)) {
    if (!is_temporary_of(name, entry->d_name)) continue;
    const int file =
        openat(dirfd(entries), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) continue;
    struct stat info {};
    const bool ours = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    if (ours && flock(file, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(entries), entry->d_name, 0);
    close(file);
  }
  closedir(entries);
}

AtomicFile::AtomicFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AtomicFile::AtomicFile(AtomicFile&& other) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept = default;
AtomicFile::~AtomicFile() = default;

Result<AtomicFile> AtomicFile::create(std::string path) {
  AtomicFile file(std::make_unique<State>(std::move(path)));
  State& state = *file.state_;
  if (state.path.empty()) return Error{"the name of the file to write is empty; expected a file name"};
  if (const auto open_already = own_descriptor(state.path)) {
    state.descriptor = fcntl(*open_already, F_DUPFD_CLOEXEC, 0);
    if (state.descriptor < 0) return state.fault("open", errno);
    return file;
  }
  struct stat info {};
  const bool exists = lstat(state.path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return state.fault("look at", errno);
  const bool link = exists && S_ISLNK(info.st_mode);
  if (link && (stat(state.path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
    return Error{"is a symbolic link, and nothing is written through one; expected the name of a file",
                 state.path};
  if (exists && S_ISDIR(info.st_mode)) {
    return Error{"cannot write here: it is a folder; expected a file name", state.path};
  }
  if (exists && !S_ISREG(info.st_mode)) {  // cannot be renamed over
    if (auto opened = state.open_directly(); !opened) return opened.error();
    return file;
  }
  if (exists && access(state.path.c_str(), W_OK) != 0) return state.fault("write to", errno);
  state.replaces = exists;
  if (auto created = state.create_beside(); !created) return created.error();
  state.remove_leftovers();
  if (exists && fchmod(state.descriptor, info.st_mode & 07777) != 0) {
    return state.fault("set the rights of", errno);
  }
  return file;
}

void AtomicFile::abandon_all() noexcept {
  const std::unique_lock guard(State::mutex, std::try_to_lock);  // who has it may never give it back
  for (const State* one = State::first; one != nullptr; one = one->next) {
    if (!one->temporary.empty()) unlink(one->temporary.c_str());
  }
}

Result<void> AtomicFile::write(std::string_view bytes) {
  state_->buffer.append(bytes);
  return state_->buffer.size() < kBufferBytes ? Result<void>{} : flush();
}

Result<void> AtomicFile::flush() {
  std::string_view left = state_->buffer;
  while (!left.empty()) {
    const ssize_t written = ::write(state_->descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return state_->fault("write", errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  state_->buffer.clear();
  return {};
}

Result<void> AtomicFile::finish() {
  State& state = *state_;
  assert(state.descriptor >= 0);
  if (auto flushed = flush(); !flushed) return flushed;
  state.buffer.shrink_to_fit();
  if (!state.temporary.empty()) {
    if (fsync(state.descriptor) != 0) return state.fault("sync", errno);
    state.lock = fcntl(state.descriptor, F_DUPFD_CLOEXEC, 0);
  }
  if (close(std::exchange(state.descriptor, -1)) != 0) return state.fault("close", errno);
  return {};
}

Result<void> AtomicFile::publish() {
  State& state = *state_;
  if (state.temporary.empty()) return {};
  if (rename(state.temporary.c_str(), state.path.c_str()) != 0) return state.fault("rename to", errno);
  state.temporary.clear();
  state.there = true;
  if (const int code = sync_folder(state.path); code != 0) return state.fault("sync the folder of", code);
  return {};
}

Result<void> AtomicFile::commit(FileGroup* group) {
  if (auto finished = finish(); !finished) return finished;
  if (group == nullptr) return publish();
  group->files_.push_back(std::move(*this));
  return {};
}

Result<void> FileGroup::publish() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    auto published = files_[i].publish();
    if (published) continue;
    for (std::size_t j = 0; j <= i; ++j) {
      const AtomicFile::State& state = *files_[j].state_;
      if (state.there && !state.replaces) unlink(state.path.c_str());
    }
    return published;
  }
  files_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes, FileGroup* group) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto written = file->write(bytes); !written) return written;
  return file->commit(group);
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const auto fault = [&] {
    return Error{fmt::format("cannot read this file: {}", std::strerror(errno)), path};
  };
  struct Opened {
    int descriptor;
    ~Opened() {
      if (descriptor >= 0) close(descriptor);
    }
  } const file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.descriptor < 0) return fault();
  // A small file needs a small buffer. (Those of /proc have no size, but bytes.)
  struct stat info {};
  std::size_t piece = kBufferBytes;
  if (fstat(file.descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    piece = std::min(piece, static_cast<std::size_t>(info.st_size) + 1);
  std::string out;
  for (;;) {
    const std::size_t old = out.size();
    out.resize(old + piece);
    const ssize_t got = ::read(file.descriptor, out.data() + old, piece);
    if (got < 0 && errno != EINTR) return fault();
    out.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (out.size() > limit) return Error{fmt::format("is larger than {} bytes", limit), path};
    if (got == 0) return out;
  }
}

}  // namespace bagwise
