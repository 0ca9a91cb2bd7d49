#include "bagwise/data/internal/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bagwise/data/internal/byte_source.h"

namespace bagwise::internal {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const auto out = std::make_shared<MappedFile>(Key{});
  const auto fault = [&](const char* doing) {
    return Error{fmt::format("cannot {} this file: {}", doing, std::strerror(errno)), path};
  };
  out->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (out->descriptor_ < 0) return fault("open");
  struct stat info {};
  if (fstat(out->descriptor_, &info) != 0) return fault("look at");
  if (!S_ISREG(info.st_mode)) return Error{"cannot be mapped; expected a plain file", path};
  out->size_ = static_cast<std::uint64_t>(info.st_size);
  if (out->size_ == 0) return std::shared_ptr<const MappedFile>(out);
  void* const at = mmap(nullptr, out->size_, PROT_READ, MAP_SHARED, out->descriptor_, 0);
  if (at == MAP_FAILED) return fault("map");
  out->data_ = static_cast<const char*>(at);
  madvise(at, out->size_, MADV_SEQUENTIAL);
  return std::shared_ptr<const MappedFile>(out);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  if (descriptor_ >= 0) close(descriptor_);
}

bool MappedFile::shrunk() const {
  struct stat info {};
  return fstat(descriptor_, &info) != 0 || static_cast<std::uint64_t>(info.st_size) < size_;
}

void MappedFile::release(const char* from, std::size_t bytes) const {
  static const auto kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::size_t>(from - data_);
  const std::size_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + bytes) / kPage * kPage;
  if (first < last) madvise(const_cast<char*>(data_) + first, last - first, MADV_DONTNEED);
}

Result<std::string> first_bytes(const std::string& path, std::size_t size) {
  if (!can_read_twice(path)) return std::string();
  auto source = ByteSource::open_at(path, 0);
  if (!source) return source.error();
  std::string out(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const auto got = (*source)->read(out.data() + have, size - have, {});
    if (!got) return got.error();
    if (*got == 0) break;
    have += *got;
  }
  out.resize(have);
  return out;
}

}  // namespace bagwise::internal
