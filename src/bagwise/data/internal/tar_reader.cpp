#include "bagwise/data/internal/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <vector>

#include "bagwise/data/internal/byte_source.h"

namespace bagwise::internal {
namespace {

// Small: the observer is asked between pieces, and a piece may unpack to thousands of times its size.
constexpr std::size_t kPieceBytes = 16 * 1024;
constexpr std::size_t kMostMembers = 10'000'000;

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

constexpr std::size_t kXzHeaders = 12 + 1024;  // of a stream and of a block, at most
constexpr std::uint64_t kLargestDictionary = std::uint64_t{256}
                                             << 20;  // of xz; its own largest preset has 64 MB

// The dictionary that the first block of an .xz file asks for, which libarchive gives it whatever it is; 0
// where this is no such file. Numbers of several bytes are passed over, seven bits at a time.
std::uint64_t xz_dictionary(std::string_view bytes) {
  constexpr std::string_view kMark(
      "\xFD"
      "7zXZ\0",
      6);
  constexpr std::size_t kStreamHeader = 12;
  constexpr unsigned char kLzma2 = 0x21, kLargest = 40;
  if (!bytes.starts_with(kMark) || bytes.size() < kStreamHeader + 2) return 0;
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
  };
  const unsigned flags = byte(kStreamHeader + 1);
  std::size_t at = kStreamHeader + 2;
  const auto number = [&] {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const unsigned next = byte(at++);
      out |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
      if ((next & 0x80U) == 0) break;
    }
    return out;
  };
  for (const unsigned size_is_there : {0x40U, 0x80U}) {
    if ((flags & size_is_there) != 0) number();
  }
  for (unsigned filters = (flags & 3U) + 1; filters > 0 && at < bytes.size(); --filters) {
    const std::uint64_t id = number(), properties = number();
    if (id == kLzma2 && properties == 1)
      return std::uint64_t{2 | (byte(at) & 1U)} << (std::min<unsigned>(byte(at), kLargest) / 2 + 11);
    if (properties >= bytes.size() - at) return 0;
    at += properties;
  }
  return 0;
}

bool leads_out(std::string_view name) {
  if (name.empty() || name.front() == '/') return true;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t end = std::min(name.find('/', from), name.size());
    if (name.substr(from, end - from) == "..") return true;
    from = end + 1;
  }
  return false;
}

}  // namespace

struct TarReader::State {
  std::string path;
  Observer observer;
  std::unique_ptr<ByteSource> source;
  std::vector<char> piece = std::vector<char>(kPieceBytes);
  std::optional<Error> fault;  // of the source, or that we were stopped
  std::exception_ptr thrown;   // memory ran out below libarchive, which is C
  std::unique_ptr<archive, FreeArchive> handle;
  std::size_t members = 0, passed_over = 0;

  // The next bytes of the file, for libarchive.
  static la_ssize_t supply(archive* a, void* self, const void** bytes) {
    State& state = *static_cast<State*>(self);
    try {
      if (state.supply(bytes)) return state.supplied;
    } catch (...) {
      state.thrown = std::current_exception();
    }
    archive_set_error(a, EIO, "cannot read");
    return -1;
  }
  bool supply(const void** bytes) {
    const Progress progress{.phase = "reading",
                            .done = static_cast<double>(source->consumed()),
                            .total = static_cast<double>(source->total())};
    if (tell(observer, progress) == Next::kStop) {
      fault = Error{"reading was stopped", path};
      return false;
    }
    // The first piece has all that xz says of its first block, unless the file is shorter.
    const std::size_t least = began ? 1 : kXzHeaders;
    std::size_t size = 0;
    while (size < least) {
      auto got = source->read(piece.data() + size, piece.size() - size, telling(observer));
      if (!got) {
        fault = got.error();
        return false;
      }
      if (*got == 0) break;
      size += *got;
    }
    if (!began) {
      const std::uint64_t dictionary = xz_dictionary({piece.data(), size});
      if (dictionary > kLargestDictionary) {
        fault = Error{fmt::format("asks for {} MB to be unpacked in; expected at most {}", dictionary >> 20,
                                  kLargestDictionary >> 20),
                      path};
        return false;
      }
    }
    *bytes = piece.data();
    supplied = static_cast<la_ssize_t>(size);
    began = true;
    return true;
  }
  la_ssize_t supplied = 0;
  bool began = false;

  // What went wrong in the last call of libarchive.
  [[nodiscard]] Error broken() const {
    if (thrown) std::rethrow_exception(thrown);
    if (fault) return *fault;
    if (archive_errno(handle.get()) == ENOMEM) throw std::bad_alloc();
    const char* why = archive_error_string(handle.get());
    if (members == 0) {
      return {fmt::format("is neither a folder nor a tar archive that can be read (.tar, .tar.gz, .tar.xz, "
                          ".tar.bz2, .tar.zst): {}",
                          why != nullptr ? why : "unknown format"),
              path};
    }
    return {fmt::format("is damaged or cut short: {}", why != nullptr ? why : "unknown fault"), path};
  }

  Result<std::string> contents(const std::string& name, std::uint64_t largest) const {
    std::string out;
    std::array<char, kPieceBytes> buffer;
    for (;;) {
      const la_ssize_t got = archive_read_data(handle.get(), buffer.data(), buffer.size());
      if (got < 0) return broken();
      if (got == 0) return out;
      out.append(buffer.data(), static_cast<std::size_t>(got));
      if (out.size() > largest) {
        return Error{
            fmt::format("its member {} has more than {} bytes; expected a file of the corpus", name, largest),
            path};
      }
    }
  }
};

TarReader::TarReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TarReader::TarReader(TarReader&& other) noexcept = default;
TarReader::~TarReader() = default;

std::size_t TarReader::passed_over() const { return state_->passed_over; }

Result<TarReader> TarReader::open(const std::string& path, const Observer& observer) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->observer = observer;
  auto source = ByteSource::open(path, telling(observer));
  if (!source) return source.error();
  state->source = std::move(*source);
  state->handle.reset(archive_read_new());
  archive* a = state->handle.get();
  if (a == nullptr) throw std::bad_alloc();
  // gzip and zstd are unpacked by ByteSource. No filter that would start a program.
  for (const auto support :
       {archive_read_support_filter_xz, archive_read_support_filter_lzma, archive_read_support_filter_bzip2,
        archive_read_support_filter_compress, archive_read_support_format_tar}) {
    if (support(a) != ARCHIVE_OK && archive_errno(a) == ENOMEM) throw std::bad_alloc();
  }
  if (archive_read_open(a, state.get(), nullptr, &State::supply, nullptr) != ARCHIVE_OK)
    return state->broken();
  return TarReader(std::move(state));
}

Result<std::optional<TarMember>> TarReader::next(const std::function<bool(std::string_view)>& wanted,
                                                 std::uint64_t largest) {
  archive_entry* entry = nullptr;
  for (;;) {
    const int code = archive_read_next_header(state_->handle.get(), &entry);
    if (code == ARCHIVE_EOF) return std::optional<TarMember>();
    // ARCHIVE_RETRY would look for a sound header further on, past whatever was lost.
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return state_->broken();
    if (++state_->members > kMostMembers) {
      return Error{fmt::format("holds more than {} members; expected the corpus alone", kMostMembers),
                   state_->path};
    }
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const char* raw = archive_entry_pathname(entry);
    std::string_view name = raw != nullptr ? raw : "";
    while (name.starts_with("./")) name.remove_prefix(2);
    const bool plain = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    if (!plain || leads_out(name)) {
      ++state_->passed_over;
      continue;
    }
    if (!wanted(name)) continue;
    TarMember member{std::string(name), {}};
    auto bytes = state_->contents(member.name, largest);
    if (!bytes) return bytes.error();
    member.bytes = std::move(*bytes);
    return std::optional<TarMember>(std::move(member));
  }
}

}  // namespace bagwise::internal
