#include "bagwise/data/internal/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/packing.h"
#include "support/tar.h"
#include "support/temp_dir.h"

namespace bagwise::internal {
namespace {

using test::tar_end;
using test::tar_member;
using test::TempDir;
using test::write_bytes;

constexpr std::uint64_t kPlenty = 1 << 20;
const std::function<bool(std::string_view)> kAll = [](std::string_view) { return true; };

using Add = int (*)(archive*);
std::string packed_by(Add add_filter, const std::string& bytes) {
  archive* a = archive_write_new();
  std::string out(bytes.size() + 4096, '\0');
  std::size_t used = 0;
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_set_format_raw(a);
  const bool fine =
      add_filter(a) == ARCHIVE_OK && archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
      archive_write_open_memory(a, out.data(), out.size(), &used) == ARCHIVE_OK &&
      archive_write_header(a, entry) == ARCHIVE_OK &&
      archive_write_data(a, bytes.data(), bytes.size()) >= 0 && archive_write_close(a) == ARCHIVE_OK;
  archive_entry_free(entry);
  archive_write_free(a);
  REQUIRE(fine);
  out.resize(used);
  return out;
}

struct Read {
  std::vector<std::pair<std::string, std::string>> members;
  std::size_t passed_over = 0;
  std::string fault;
};

Read read_all(const std::string& path, std::uint64_t largest = kPlenty, const Observer& observer = {}) {
  Read out;
  auto reader = TarReader::open(path, observer);
  if (!reader) {
    out.fault = reader.error().text();
    return out;
  }
  for (;;) {
    auto member = reader->next(kAll, largest);
    if (!member) {
      out.fault = member.error().text();
      break;
    }
    if (!*member) break;
    out.members.emplace_back((*member)->name, (*member)->bytes);
  }
  out.passed_over = reader->passed_over();
  return out;
}

Read read_bytes(const std::string& bytes, const std::string& name = "a.tar",
                std::uint64_t largest = kPlenty) {
  const TempDir folder;
  write_bytes(folder.file(name), bytes);
  Read out = read_all(folder.file(name), largest);
  const std::string prefix = folder.path.string() + "/";
  if (out.fault.starts_with(prefix)) out.fault.erase(0, prefix.size());
  return out;
}

using Members = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("tar_reader: plain members in their order, however packed", "[data][tar_reader]") {
  std::string large;
  for (int i = 0; i < 100000; ++i) large += static_cast<char>(i % 251 * (i % 241) % 251);
  const std::string tar = tar_member("x/", "", '5') + tar_member("x/b", "second\n") +
                          tar_member("./x/a", "") + tar_member("x/c", large) + tar_end();
  const Members expected = {{"x/b", "second\n"}, {"x/a", ""}, {"x/c", large}};
  CHECK(read_bytes(tar).members == expected);
  CHECK(read_bytes(test::gzip(tar), "a.tar.gz").members == expected);
  CHECK(read_bytes(test::gzip(tar), "any-name").members == expected);
  CHECK(read_bytes(test::zstd(tar), "a.tar.zst").members == expected);
  CHECK(read_bytes(packed_by(archive_write_add_filter_xz, tar), "a.tar.xz").members == expected);
  CHECK(read_bytes(packed_by(archive_write_add_filter_bzip2, tar), "a.tar.bz2").members == expected);
}

TEST_CASE("tar_reader: links, devices and names that lead out are passed over", "[data][tar_reader]") {
  const std::string tar = tar_member("a", "kept") + tar_member("b", "", '1', "a") +
                          tar_member("c", "", '2', "/etc/passwd") + tar_member("/d", "absolute") +
                          tar_member("../e", "above") + tar_member("x/../../f", "above") +
                          tar_member("x/..", "above") + tar_member("g", "", '6') + tar_member("h..", "kept") +
                          tar_member("..i/j", "kept") + tar_end();
  const Read read = read_bytes(tar);
  CHECK(read.fault.empty());
  CHECK(read.members == Members{{"a", "kept"}, {"h..", "kept"}, {"..i/j", "kept"}});
  CHECK(read.passed_over == 7);
}

TEST_CASE("tar_reader: only what is wanted is read", "[data][tar_reader]") {
  const TempDir folder;
  write_bytes(folder.file("a.tar"),
              tar_member("large", std::string(5000, 'x')) + tar_member("y", "1") + tar_end());
  auto reader = TarReader::open(folder.file("a.tar"), {});
  REQUIRE(reader);
  const auto wanted = [](std::string_view name) { return name == "y"; };
  const auto first = reader->next(wanted, 100);
  REQUIRE(first);
  REQUIRE(*first);
  CHECK((*first)->name == "y");
  const auto second = reader->next(wanted, 100);
  REQUIRE(second);
  CHECK_FALSE(*second);
}

TEST_CASE("tar_reader: a member too large is an error that names it", "[data][tar_reader][badargs]") {
  const std::string tar = tar_member("x/huge", std::string(40000, 'x')) + tar_end();
  CHECK(read_bytes(tar, "a.tar", 40000).fault.empty());
  CHECK_THAT(read_bytes(tar, "a.tar", 39999).fault,
             Catch::Contains("a.tar: its member x/huge has more than 39999 bytes"));
  // A header that claims what is not there: the claim is not believed.
  const std::string claim = tar_member("x/claim", "few", '0', "", std::size_t{8000000000}) + tar_end();
  CHECK_THAT(read_bytes(claim).fault, Catch::Contains("cut short"));
}

TEST_CASE("tar_reader: an archive cut short or damaged is an error", "[data][tar_reader][badargs]") {
  std::string body;
  for (int i = 0; i < 4000; ++i) body += static_cast<char>('a' + i * i % 23);
  const std::string tar = tar_member("a", body) + tar_member("b", body) + tar_end();
  CHECK_THAT(read_bytes(tar.substr(0, 2000)).fault, Catch::Contains("a.tar: is damaged or cut short"));
  const std::string xz = packed_by(archive_write_add_filter_xz, tar);
  CHECK_FALSE(read_bytes(xz.substr(0, xz.size() / 2), "a.tar.xz").fault.empty());
  const std::string gz = test::gzip(tar);
  CHECK_FALSE(read_bytes(gz.substr(0, gz.size() / 2), "a.tar.gz").fault.empty());
  std::string changed = tar;
  changed[5000] = 'X';  // in the header of b: its sum is wrong now
  CHECK_THAT(read_bytes(changed).fault, Catch::StartsWith("a.tar: is damaged or cut short: Damaged tar"));
}

TEST_CASE("tar_reader: no more memory is given to xz than is of use", "[data][tar_reader][badargs]") {
  const std::string start(
      "\xFD"
      "7zXZ\0\0\x04\0\0\0\0",
      12);
  // A block's header: its size, its flags, then the filters with their numbers and properties.
  const auto fault_of = [&](const std::string& block, int dictionary) {
    return read_bytes(start + block + static_cast<char>(dictionary), "a.tar.xz").fault;
  };
  const std::string plain("\x02\x00\x21\x01", 4), behind_another("\x02\x01\x03\x01\x00\x21\x01", 7),
      with_sizes("\x04\xC0\x80\x80\x01\x05\x21\x01", 8);
  for (const std::string& block : {plain, behind_another, with_sizes}) {
    CHECK(fault_of(block, 37) == "a.tar.xz: asks for 1536 MB to be unpacked in; expected at most 256");
    CHECK(fault_of(block, 33) == "a.tar.xz: asks for 384 MB to be unpacked in; expected at most 256");
    CHECK_THAT(fault_of(block, 32), Catch::Contains("is neither a folder nor a tar archive"));
    CHECK_THAT(fault_of(block, 255), Catch::Contains("to be unpacked in"));
  }
  for (std::size_t size = 0; size < plain.size(); ++size)
    CHECK_FALSE(read_bytes(start + plain.substr(0, size), "a.tar.xz").fault.empty());
}

TEST_CASE("tar_reader: what is no archive is an error that says what is", "[data][tar_reader][badargs]") {
  CHECK_THAT(read_bytes("just a text\n", "a.txt").fault,
             Catch::Contains("a.txt: is neither a folder nor a tar archive") && Catch::Contains(".tar.xz"));
  CHECK_THAT(read_bytes("PK\x03\x04zip", "a.zip").fault,
             Catch::Contains("neither a folder nor a tar archive"));
  CHECK_THAT(read_bytes("no gzip", "a.tar.gz").fault, Catch::Contains("a.tar.gz"));
  CHECK_THAT(read_all("/nowhere/a.tar").fault, Catch::Contains("/nowhere/a.tar: there is no such file"));
  CHECK(read_bytes("").members.empty());
}

TEST_CASE("tar_reader: an observer sees the bytes and can stop", "[data][tar_reader]") {
  const TempDir folder;
  const std::string path = folder.file("a.tar");
  std::string tar;
  for (int i = 0; i < 50; ++i) tar += tar_member(fmt::format("f{}", i), std::string(3000, 'x'));
  write_bytes(path, tar + tar_end());
  double last = -1;
  const Read whole = read_all(path, kPlenty, [&](const Progress& progress) {
    CHECK(progress.phase == "reading");
    CHECK(progress.done >= last);
    CHECK(progress.total == static_cast<double>(tar.size() + 1024));
    last = progress.done;
    return Next::kContinue;
  });
  CHECK(whole.members.size() == 50);
  CHECK(last > 0);
  int asked = 0;
  const Read part =
      read_all(path, kPlenty, [&](const Progress&) { return ++asked > 3 ? Next::kStop : Next::kContinue; });
  CHECK(part.fault == path + ": reading was stopped");
  CHECK(part.members.size() < 50);
}

}  // namespace bagwise::internal
