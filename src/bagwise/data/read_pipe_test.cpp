// Tables that come through a pipe: the observer is asked while nothing comes, and may stop the reading.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/data/csv_records.h"
#include "bagwise/data/read_table.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

// A named pipe, and its writing end.
class Fifo {
 public:
  explicit Fifo(const std::string& path) : path_(path) {
    if (mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + path);
  }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  ~Fifo() { close_end(); }

  // Read and write: opening does not wait for a reader.
  void open_end() { descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC); }
  void write(std::string_view bytes) {
    if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot write " + path_);
  }
  void close_end() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

Next stop(const Progress&) { return Next::kStop; }

}  // namespace

TEST_CASE("read_pipe: an observer stops a table that does not come", "[data][read_pipe]") {
  for (const unsigned threads : {1U, 4U}) {
    for (const std::string_view sent : {"", "bag,x\n", "bag,x\na,1\nb,2\n"}) {
      const test::TempDir dir;
      const std::string path = dir.file("t.csv");
      Fifo fifo(path);
      fifo.open_end();
      fifo.write(sent);
      const auto read = read_table(path, {.threads = threads, .block_bytes = 4}, stop);
      REQUIRE_FALSE(read);
      CHECK(read.error().text() == path + ": reading was stopped");
    }
  }
}

TEST_CASE("read_pipe: an observer stops the wait for somebody to write", "[data][read_pipe]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  const Fifo fifo(path);
  const auto read = read_table(path, {}, stop);
  REQUIRE_FALSE(read);
  CHECK(read.error().text() == path + ": reading was stopped");
  const auto records = read_csv_records(
      path, [](const auto&) { return Result<void>{}; }, [](const auto&, auto) { return Result<void>{}; },
      stop);
  REQUIRE_FALSE(records);
  CHECK(records.error().text() == path + ": reading was stopped");
}

TEST_CASE("read_pipe: a table goes on after a pause, packed or not", "[data][read_pipe]") {
  const std::string text = "bag,x\na,1\nb,2\na,3\n";
  for (const char* name : {"t.csv", "t.csv.gz", "t.csv.zst"}) {
    for (const unsigned threads : {1U, 4U}) {
      const std::string packed = test::pack_for(name, text);
      for (const std::size_t cut : {std::size_t{2}, packed.size() / 2}) {
        const test::TempDir dir;
        const std::string path = dir.file(name);
        Fifo fifo(path);
        fifo.open_end();
        fifo.write(packed.substr(0, cut));
        bool asked = false;
        const auto read = read_table(path, {.threads = threads, .block_bytes = 8}, [&](const Progress&) {
          if (!std::exchange(asked, true)) {
            fifo.write(packed.substr(cut));
            fifo.close_end();
          }
          return Next::kContinue;
        });
        if (!read) FAIL(read.error().text());
        CHECK(asked);
        CHECK(read->rows() == 3);
        CHECK(read->groups.values == std::vector<std::string>{"a", "b"});
      }
    }
  }
}
