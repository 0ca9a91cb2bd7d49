#include "bagwise/core/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace bagwise {

Error LineFile::fault(const char* doing) const {
  return {std::string("cannot ").append(doing).append(": ").append(std::strerror(errno)), path_};
}

Result<LineFile> LineFile::open(const std::string& path, bool locked) {
  LineFile out;
  out.path_ = path;
  // Without O_NONBLOCK a pipe would keep us waiting for its other end.
  constexpr int kHow = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  out.descriptor_ = ::open(path.c_str(), kHow, 0644);
  if (out.descriptor_ < 0 && errno == ELOOP) return Error{"is a link; expected a file, or nothing", path};
  if (out.descriptor_ < 0) return out.fault("open");
  struct stat about = {};
  if (::fstat(out.descriptor_, &about) != 0) return out.fault("look at");
  if (!S_ISREG(about.st_mode)) return Error{"is no ordinary file; expected one, or nothing", path};
  if (locked && ::flock(out.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Error{"is being written by another run; expected one at a time", path};
    return out.fault("lock");
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(out.descriptor_, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return out.fault("read");
    if (got == 0) break;
    out.text_.append(buffer, static_cast<std::size_t>(got));
  }
  return out;
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)),
      text_(std::move(other.text_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(text_, other.text_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> LineFile::keep_first(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return fault("write");
  return {};
}

Result<void> LineFile::append(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(descriptor_, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fault("write");
    line.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> LineFile::sync() {
  if (::fdatasync(descriptor_) != 0) return fault("sync");
  return {};
}

}  // namespace bagwise
