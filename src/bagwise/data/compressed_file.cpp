#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "bagwise/data/compressed_file.h"

namespace bagwise {
namespace {

bool take_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

}  // namespace

FileForm form_by_name(std::string_view path) {
  FileForm form;
  if (take_ending(path, ".gz")) {
    form.compression = FileForm::Compression::kGzip;
  } else if (take_ending(path, ".zst")) {
    form.compression = FileForm::Compression::kZstd;
  }
  form.svmlight = path.ends_with(".svm") || path.ends_with(".libsvm");
  return form;
}

// One gzip stream, without a time stamp: the same rows give the same file.
struct CompressedFile::Gzip {
  z_stream stream{};
  std::array<char, 1 << 16> out{};

  Gzip() {
    // 15 window bits, + 16 for the gzip wrapper. It can only fail for want of memory.
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { deflateEnd(&stream); }

  Result<void> put(AtomicFile& file, std::string_view bytes, bool last) {
    do {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
      stream.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
      const int flush = last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
      do {
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        deflate(&stream, flush);  // cannot fail: the state is sound and there is room
        if (auto ok = file.write({out.data(), out.size() - stream.avail_out}); !ok) return ok;
      } while (stream.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }
};

struct CompressedFile::Zstd {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<char> out = std::vector<char>(ZSTD_CStreamOutSize());

  Zstd() {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 3);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() { ZSTD_freeCCtx(context); }

  Result<void> put(AtomicFile& file, std::string_view bytes, bool last) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(left)) return Error{fmt::format("cannot compress: {}", ZSTD_getErrorName(left))};
      if (auto ok = file.write({out.data(), to.pos}); !ok) return ok;
      if (last ? left == 0 : in.pos == in.size) return {};
    }
  }
};

CompressedFile::CompressedFile(AtomicFile file) : file_(std::move(file)) {}
CompressedFile::CompressedFile(CompressedFile&& other) noexcept = default;
CompressedFile::~CompressedFile() = default;

Result<CompressedFile> CompressedFile::create(const std::string& path) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  CompressedFile out(std::move(*file));
  const FileForm form = form_by_name(path);
  if (form.compression == FileForm::Compression::kGzip) out.gzip_ = std::make_unique<Gzip>();
  if (form.compression == FileForm::Compression::kZstd) out.zstd_ = std::make_unique<Zstd>();
  return out;
}

Result<void> CompressedFile::write(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (gzip_) return gzip_->put(file_, bytes, false);
  if (zstd_) return zstd_->put(file_, bytes, false);
  return file_.write(bytes);
}

Result<void> CompressedFile::commit(FileGroup* group) {
  if (gzip_) {
    if (auto ended = gzip_->put(file_, {}, true); !ended) return ended;
  }
  if (zstd_) {
    if (auto ended = zstd_->put(file_, {}, true); !ended) return ended;
  }
  return file_.commit(group);
}

}  // namespace bagwise
