#include "bagwise/data/internal/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace bagwise::internal {
namespace {

constexpr std::size_t kPackedBytes = 256 * 1024;  // of a compressed file at a time
constexpr std::chrono::milliseconds kSlice{200};  // of waiting, between two questions
constexpr std::uint32_t kZstdFrame = 0xFD2FB528, kSkippableFrame = 0x184D2A50, kSkippableMask = 0xFFFFFFF0;

// A file descriptor with the first bytes already looked at.
class File {
 public:
  static Result<File> open(const std::string& path, const Waiting& waiting) {
    File file;
    file.path_ = path;
    // A pipe is opened whether or not there is somebody yet who writes to it: ready() waits for that.
    const int mode = can_read_twice(path) ? 0 : O_NONBLOCK;
    file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | mode);
    if (file.descriptor_ < 0) {
      if (errno == ENOENT) return Error{"there is no such file", path};
      return Error{fmt::format("cannot open this file: {}", std::strerror(errno)), path};
    }
    struct stat info {};
    if (fstat(file.descriptor_, &info) == 0) {
      if (S_ISDIR(info.st_mode)) return Error{"is a folder; expected a file", path};
      file.regular_ = S_ISREG(info.st_mode);
      if (file.regular_) file.total_ = static_cast<std::uint64_t>(info.st_size);
    }
    while (file.head_size_ < file.head_.size()) {
      auto got =
          file.read_raw(file.head_.data() + file.head_size_, file.head_.size() - file.head_size_, waiting);
      if (!got) return got.error();
      if (*got == 0) break;
      file.head_size_ += *got;
    }
    return file;
  }

  File(File&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        regular_(other.regular_),
        asked_(other.asked_),
        total_(other.total_),
        consumed_(other.consumed_),
        head_(other.head_),
        head_size_(other.head_size_),
        head_used_(other.head_used_) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  [[nodiscard]] bool starts_with(std::initializer_list<unsigned char> bytes) const {
    return head_size_ >= bytes.size() &&
           std::equal(bytes.begin(), bytes.end(), head_.begin(),
                      [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
  }
  [[nodiscard]] bool empty() const { return head_size_ == 0; }

  // The first bytes as a number, lowest first; 0 if there are fewer than four.
  [[nodiscard]] std::uint32_t magic() const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; head_size_ == head_.size() && i < head_.size(); ++i)
      out |= static_cast<std::uint32_t>(static_cast<unsigned char>(head_[i])) << (8 * i);
    return out;
  }

  Result<std::size_t> read(char* to, std::size_t size, const Waiting& waiting) {
    if (head_used_ < head_size_) {
      const std::size_t part = std::min(size, head_size_ - head_used_);
      std::memcpy(to, head_.data() + head_used_, part);
      head_used_ += part;
      consumed_ += part;
      return part;
    }
    auto got = read_raw(to, size, waiting);
    if (got) consumed_ += *got;
    return got;
  }

  Result<void> go_to(std::uint64_t offset) {
    head_used_ = head_size_;
    if (lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) >= 0) return {};
    return Error{fmt::format("cannot read this file: {}", std::strerror(errno)), path_};
  }

  [[nodiscard]] bool regular() const { return regular_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  File() = default;

  Result<std::size_t> read_raw(char* to, std::size_t size, const Waiting& waiting) {
    for (;;) {
      if (!regular_) {
        if (auto done = ready(waiting); !done) return done.error();
      }
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EINTR) {
        if (waiting && waiting() == Next::kStop) return stopped();
      } else if (errno != EAGAIN) {
        return Error{fmt::format("cannot read this file: {}", std::strerror(errno)), path_};
      }
    }
  }

  // Waits until there are bytes or the end, and asks meanwhile; also between bytes that drip. A signal may
  // come at any moment, to any thread: asking in time is what makes it seen, not EINTR.
  Result<void> ready(const Waiting& waiting) {
    using Clock = std::chrono::steady_clock;
    for (;;) {
      pollfd on{descriptor_, POLLIN, 0};
      const int found = ::poll(&on, 1, static_cast<int>(kSlice.count()));
      if (found < 0 && errno != EINTR && errno != EAGAIN) {
        return Error{fmt::format("cannot read this file: {}", std::strerror(errno)), path_};
      }
      if (const auto now = Clock::now(); found <= 0 || now - asked_ >= kSlice) {
        asked_ = now;
        if (waiting && waiting() == Next::kStop) return stopped();
      }
      if (found > 0) return {};
    }
  }

  [[nodiscard]] Error stopped() const { return {"reading was stopped", path_}; }

  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();  // when last
  std::uint64_t total_ = 0, consumed_ = 0;
  std::array<char, 4> head_{};
  std::size_t head_size_ = 0, head_used_ = 0;
};

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(File file) : file_(std::move(file)) {}
  Result<std::size_t> read(char* to, std::size_t size, const Waiting& waiting) override {
    return file_.read(to, size, waiting);
  }
  [[nodiscard]] std::uint64_t consumed() const override { return file_.consumed(); }
  [[nodiscard]] std::uint64_t total() const override { return file_.total(); }
  [[nodiscard]] bool plain() const override { return file_.regular(); }

 private:
  File file_;
};

// gzip, any number of members one after the other, zeros behind them passed over.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(File file) : file_(std::move(file)), packed_(kPackedBytes) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<std::size_t> read(char* to, std::size_t size, const Waiting& waiting) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
    const std::size_t room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        auto got = file_.read(packed_.data(), packed_.size(), waiting);
        if (!got) return got.error();
        if (*got == 0) {
          if (between_members_) return std::size_t{0};
          return Error{"this gzip file is truncated: it ends within its data", file_.path()};
        }
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(*got);
      }
      if (between_members_) {
        // Zeros behind a member are padding (of a tape's block, say), as gzip itself takes them.
        while (stream_.avail_in > 0 && *stream_.next_in == 0) {
          ++stream_.next_in;
          --stream_.avail_in;
        }
        if (stream_.avail_in == 0) continue;
        inflateReset(&stream_);
      }
      between_members_ = false;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Error{
            fmt::format("this gzip file is corrupt: {}", stream_.msg != nullptr ? stream_.msg : "bad data"),
            file_.path()};
      }
    }
    return room - stream_.avail_out;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return file_.consumed(); }
  [[nodiscard]] std::uint64_t total() const override { return file_.total(); }

 private:
  File file_;
  std::vector<char> packed_;
  z_stream stream_{};
  bool between_members_ = false;
};

// zstd, any number of frames one after the other; the library passes over skippable ones.
class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(File file)
      : file_(std::move(file)), packed_(kPackedBytes), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

  Result<std::size_t> read(char* to, std::size_t size, const Waiting& waiting) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !more_inside_) {
        auto got = file_.read(packed_.data(), packed_.size(), waiting);
        if (!got) return got.error();
        if (*got == 0) {
          if (at_frame_end_) return std::size_t{0};
          return Error{"this zstd file is truncated: it ends within its data", file_.path()};
        }
        in_ = {packed_.data(), *got, 0};
      }
      const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(code) != 0) {
        return Error{fmt::format("this zstd file is corrupt: {}", ZSTD_getErrorName(code)), file_.path()};
      }
      at_frame_end_ = code == 0;
      more_inside_ = out.pos == out.size && !at_frame_end_;  // it may hold more than there was room for
    }
    return out.pos;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return file_.consumed(); }
  [[nodiscard]] std::uint64_t total() const override { return file_.total(); }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  File file_;
  std::vector<char> packed_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool at_frame_end_ = false;
  bool more_inside_ = false;
};

}  // namespace

Waiting telling(const Observer& observer) {
  if (!observer) return {};
  return [&observer] { return tell(observer, Progress{.phase = "reading"}); };
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, const Waiting& waiting) {
  auto file = File::open(path, waiting);
  if (!file) return file.error();
  if (file->starts_with({0x1f, 0x8b})) {
    return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(*file)));
  }
  // A zstd frame, or one of the sixteen kinds of skippable frames that may stand before it.
  if (file->magic() == kZstdFrame || (file->magic() & kSkippableMask) == kSkippableFrame) {
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(*file)));
  }
  for (const auto& [ending, kind] : {std::pair{".gz", "gzip"}, std::pair{".zst", "zstd"}}) {
    if (!file->empty() && path.ends_with(ending)) {
      return Error{fmt::format("is not {} data, though its name ends in {}", kind, ending), path};
    }
  }
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(*file)));
}

Result<std::unique_ptr<ByteSource>> ByteSource::open_at(const std::string& path, std::uint64_t from,
                                                        const Waiting& waiting) {
  auto file = File::open(path, waiting);
  if (!file) return file.error();
  if (auto moved = file->go_to(from); !moved) return moved.error();
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(*file)));
}

bool can_read_twice(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<FileSize> divisible_size(const std::string& path) {
  if (!can_read_twice(path)) return FileSize{};
  auto source = ByteSource::open(path);
  if (!source) return source.error();
  return FileSize{(*source)->total(), (*source)->plain()};
}

std::string name_without_packing(const std::string& path) {
  std::string name = path;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* ending : {".gz", ".zst"}) {
    if (name.ends_with(ending)) {
      name.resize(name.size() - std::strlen(ending));
      break;
    }
  }
  return name;
}

}  // namespace bagwise::internal
