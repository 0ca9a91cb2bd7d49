#include "bagwise/core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bagwise {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

// A new file beside `path` under a name nobody else has, with the rights any new file gets; -1 and errno if
// there can be none. (mkstemp would make it private, and asking for the umask is not safe between threads.)
int create_beside(const std::string& path, std::string& name) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    name = fmt::format("{}.tmp-{}-{}", path, getpid(), attempt);
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(std::string path) {
  AtomicFile file;
  file.path_ = file.destination_ = std::move(path);
  if (file.path_.empty()) return Error{"the name of the file to write is empty; expected a file name"};
  struct stat info {};
  const bool exists = stat(file.path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return Error{"cannot write here: it is a folder; expected a file name", file.path_};
  }
  if (exists && !S_ISREG(info.st_mode)) {
    // Devices and pipes (such as /dev/stdout) cannot be renamed over: they are written to directly.
    file.descriptor_ = open(file.path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return file.fault("open", errno);
    return file;
  }
  if (exists) {
    if (access(file.path_.c_str(), W_OK) != 0) return file.fault("write to", errno);
    // Through a symbolic link, the file it points to is replaced, not the link.
    std::error_code code;
    const auto real = std::filesystem::canonical(file.path_, code);
    if (!code) file.destination_ = real.string();
  }
  file.descriptor_ = create_beside(file.destination_, file.temporary_);
  if (file.descriptor_ < 0) {
    const int code = errno;
    file.temporary_.clear();
    return file.fault("create", code);
  }
  if (exists && fchmod(file.descriptor_, info.st_mode & 07777) != 0) {
    return file.fault("set the rights of", errno);
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      destination_(std::move(other.destination_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(destination_, other.destination_);
  std::swap(temporary_, other.temporary_);
  std::swap(buffer_, other.buffer_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Error AtomicFile::fault(std::string_view doing, int code) const {
  return {fmt::format("cannot {} this file: {}", doing, std::strerror(code)), path_};
}

Result<void> AtomicFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes ? Result<void>{} : flush();
}

Result<void> AtomicFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fault("write", errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

Result<void> AtomicFile::commit() {
  assert(descriptor_ >= 0);
  if (auto flushed = flush(); !flushed) return flushed;
  if (!temporary_.empty() && fsync(descriptor_) != 0) return fault("sync", errno);
  if (close(std::exchange(descriptor_, -1)) != 0) return fault("close", errno);
  if (!temporary_.empty()) {
    if (rename(temporary_.c_str(), destination_.c_str()) != 0) return fault("rename to", errno);
    temporary_.clear();
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  if (auto written = file->write(bytes); !written) return written;
  return file->commit();
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const auto fault = [&] {
    return Error{fmt::format("cannot read this file: {}", std::strerror(errno)), path};
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fault();
  // A small file needs a small buffer. (Those of /proc have no size, but bytes.)
  struct stat info {};
  std::size_t piece = kBufferBytes;
  if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    piece = std::min(piece, static_cast<std::size_t>(info.st_size) + 1);
  std::string out;
  for (;;) {
    const std::size_t old = out.size();
    out.resize(old + piece);
    const ssize_t got = ::read(descriptor, out.data() + old, piece);
    if (got < 0 && errno == EINTR) {
      out.resize(old);
      continue;
    }
    if (got < 0) {
      const Error error = fault();
      close(descriptor);
      return error;
    }
    out.resize(old + static_cast<std::size_t>(got));
    if (out.size() > limit) {
      close(descriptor);
      return Error{fmt::format("is larger than {} bytes", limit), path};
    }
    if (got == 0) break;
  }
  close(descriptor);
  return out;
}

}  // namespace bagwise
