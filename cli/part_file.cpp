#include "cli/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace bagwise::cli {

Result<PartFile> PartFile::create() {
  PartFile out;
  const char* folder = std::getenv("TMPDIR");
  out.folder_ = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  out.descriptor_ = open(out.folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (out.descriptor_ < 0) {  // a file system that knows only files with names
    std::string name = out.folder_ + "/bagwise-XXXXXX";
    out.descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (out.descriptor_ < 0) return out.fault("make a temporary file in");
    unlink(name.c_str());
  }
  return out;
}

PartFile::PartFile(PartFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      rest_(std::move(other.rest_)),
      read_(other.read_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartFile& PartFile::operator=(PartFile&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(rest_, other.rest_);
  std::swap(read_, other.read_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Error PartFile::fault(const char* doing) const {
  return {fmt::format("cannot {} this folder: {}; TMPDIR names another", doing, std::strerror(errno)),
          folder_};
}

Result<void> PartFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fault("write a temporary file in");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> PartFile::next_lines(std::size_t about) {
  std::string out = std::exchange(rest_, {});
  for (;;) {
    const std::size_t old = out.size();
    out.resize(old + about);
    ssize_t got = 0;
    do {
      got = pread(descriptor_, out.data() + old, about, static_cast<off_t>(read_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fault("read a temporary file in");
    out.resize(old + static_cast<std::size_t>(got));
    read_ += static_cast<std::uint64_t>(got);
    if (got == 0) return out;
    // A cell may have a line break in quotes; lines here need not be rows unless rows are counted, where none
    // has.
    const std::size_t end = out.rfind('\n');
    if (end == std::string::npos) continue;
    rest_ = out.substr(end + 1);
    out.resize(end + 1);
    return out;
  }
}

}  // namespace bagwise::cli
