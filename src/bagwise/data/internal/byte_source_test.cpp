#include "bagwise/data/internal/byte_source.h"

#include <catch2/catch.hpp>

#include "bagwise/core/random.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;
using namespace bagwise::internal;

namespace {

// The whole of a file, asked for in pieces of `step` bytes.
Result<std::string> read_all(const std::string& path, std::size_t step) {
  auto source = ByteSource::open(path);
  if (!source) return source.error();
  std::string out, piece(step, '\0');
  for (;;) {
    auto got = (*source)->read(piece.data(), piece.size());
    if (!got) return got.error();
    if (*got == 0) return out;
    out.append(piece, 0, *got);
  }
}

std::string some_text(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  std::string out;
  while (out.size() < size) out += static_cast<char>('a' + rng.below(20));
  return out;
}

}  // namespace

TEST_CASE("byte_source: plain, gzip and zstd give the same bytes, in pieces of any size",
          "[data][byte_source]") {
  const test::TempDir dir;
  for (const std::size_t size : {0U, 1U, 3U, 5000U, 700000U}) {
    const std::string text = some_text(size, size + 1);
    for (const char* name : {"t.txt", "t.txt.gz", "t.txt.zst"}) {
      const std::string path = dir.file(name);
      test::write_bytes(path, test::pack_for(path, text));
      for (const std::size_t step : {7U, 4096U, 1U << 20}) {
        if (size > 100000 && step < 100) continue;
        const auto read = read_all(path, step);
        REQUIRE(read);
        CHECK(*read == text);
      }
    }
  }
}

TEST_CASE("byte_source: gzip members and zstd frames follow each other", "[data][byte_source]") {
  const test::TempDir dir;
  const std::string a = some_text(300000, 1), b, c = some_text(10, 3);
  test::write_bytes(dir.file("x.gz"), test::gzip(a) + test::gzip(b) + test::gzip(c));
  test::write_bytes(dir.file("x.zst"), test::zstd(a) + test::zstd(b) + test::zstd(c));
  for (const char* name : {"x.gz", "x.zst"}) {
    const auto read = read_all(dir.file(name), 1000);
    REQUIRE(read);
    CHECK(*read == a + b + c);
  }
}

TEST_CASE("byte_source: skippable zstd frames are passed over, wherever they stand", "[data][byte_source]") {
  const test::TempDir dir;
  const std::string text = some_text(5000, 4);
  for (const char* name : {"x.zst", "x"}) {
    for (unsigned char kind = 0x50; kind <= 0x5F; ++kind) {
      std::string skip = {static_cast<char>(kind), 0x2A, 0x4D, 0x18, 4, 0, 0, 0};
      skip += "\x28\xb5\x2f\xfd";
      test::write_bytes(dir.file(name), skip + test::zstd(text) + skip + skip + test::zstd(text) + skip);
      const auto read = read_all(dir.file(name), 1000);
      if (!read) FAIL(read.error().text());
      CHECK(*read == text + text);
      test::write_bytes(dir.file(name), skip.substr(0, skip.size() - 1));
      const auto cut = read_all(dir.file(name), 1000);
      REQUIRE_FALSE(cut);
      CHECK(cut.error().message.find("truncated") != std::string::npos);
    }
  }
}

TEST_CASE("byte_source: zeros behind gzip data are padding", "[data][byte_source]") {
  const test::TempDir dir;
  const std::string path = dir.file("x.gz"), text = some_text(5000, 4);
  for (const std::size_t zeros : {1U, 511U, 512U, 600000U}) {
    test::write_bytes(path, test::gzip(text) + std::string(zeros, '\0'));
    const auto padded = read_all(path, 1000);
    if (!padded) FAIL(padded.error().text());
    CHECK(*padded == text);
    test::write_bytes(path, test::gzip(text) + std::string(zeros, '\0') + test::gzip(text));
    const auto two = read_all(path, 1000);
    if (!two) FAIL(two.error().text());
    CHECK(*two == text + text);
    test::write_bytes(path, test::gzip(text) + std::string(zeros, '\0') + "x");
    CHECK_FALSE(read_all(path, 1000));
  }
}

TEST_CASE("byte_source: a packed file cut short anywhere is an error that names it",
          "[data][byte_source][badargs]") {
  const test::TempDir dir;
  const std::string text = some_text(400, 9);
  for (const char* name : {"x.gz", "x.zst"}) {
    const std::string path = dir.file(name);
    const std::string whole = test::pack_for(path, text);
    for (std::size_t size = 4; size < whole.size(); ++size) {
      test::write_bytes(path, whole.substr(0, size));
      const auto read = read_all(path, 100);
      REQUIRE_FALSE(read);
      CHECK(read.error().file == path);
      CHECK(read.error().message.find("truncated") != std::string::npos);
    }
  }
}

TEST_CASE("byte_source: damaged packing is an error", "[data][byte_source][badargs]") {
  const test::TempDir dir;
  const std::string text = some_text(3000, 9);
  for (const char* name : {"x.gz", "x.zst"}) {
    const std::string path = dir.file(name);
    std::string bytes = test::pack_for(path, text);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    bytes[bytes.size() / 2 + 1] = static_cast<char>(bytes[bytes.size() / 2 + 1] ^ 0x55);
    if (path.ends_with(".gz")) {  // zstd has no checksum here: only damage to its structure shows
      test::write_bytes(path, bytes);
      CHECK_FALSE(read_all(path, 100));
    }
    test::write_bytes(path, test::pack_for(path, text) + "garbage behind it");
    CHECK_FALSE(read_all(path, 100));
    test::write_bytes(path, "plain text");
    CHECK_FALSE(read_all(path, 100));
  }
}

TEST_CASE("byte_source: what is no file is an error", "[data][byte_source][badargs]") {
  const test::TempDir dir;
  const auto absent = ByteSource::open(dir.file("absent.csv"));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().text() == dir.file("absent.csv") + ": there is no such file");
  const auto folder = ByteSource::open(dir.path.string());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == "is a folder; expected a file");
}
