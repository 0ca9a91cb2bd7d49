// Packing text as .gz or .zst, and writing it, for tests of readers.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <new>
#include <stdexcept>
#include <string>

namespace bagwise::test {

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd");
  out.resize(size);
  return out;
}

// By the ending of the name.
inline std::string pack_for(const std::string& path, const std::string& text) {
  if (path.ends_with(".gz")) return gzip(text);
  if (path.ends_with(".zst")) return zstd(text);
  return text;
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace bagwise::test
