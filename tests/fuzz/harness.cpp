#include "harness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sanitizer/allocator_interface.h>
#include <stdlib.h>  // mkdtemp is POSIX, not in <cstdlib>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "bagwise/core/checksum.h"

namespace bagwise::fuzz {
namespace {

namespace fs = std::filesystem;

// What is on the heap, and the most there ever was since reset(). Counted by the sanitizer's hooks.
class Heap {
 public:
  static void watch() { __sanitizer_install_malloc_and_free_hooks(&on_malloc, &on_free); }
  static void reset() {
    live_ = 0;
    peak_ = 0;
    counting_ = true;
  }
  static std::size_t stop() {
    counting_ = false;
    return static_cast<std::size_t>(peak_.load());
  }

 private:
  static void on_malloc(const volatile void*, std::size_t size) {
    if (!counting_) return;
    const std::int64_t now = live_ += static_cast<std::int64_t>(size);
    std::int64_t before = peak_;
    while (before < now && !peak_.compare_exchange_weak(before, now)) {
    }
  }
  static void on_free(const volatile void* at) {
    if (!counting_ || at == nullptr) return;
    live_ -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(at));
  }

  static std::atomic<bool> counting_;
  static std::atomic<std::int64_t> live_, peak_;
};
std::atomic<bool> Heap::counting_ = false;
std::atomic<std::int64_t> Heap::live_ = 0, Heap::peak_ = 0;

std::string& folder() {
  static std::string path;
  return path;
}

void remove_folder() {
  std::error_code ignored;
  if (!folder().empty()) fs::remove_all(folder(), ignored);
}

}  // namespace

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n", what);
  remove_folder();
  std::abort();
}

void require_error(const Error& error) {
  require(!error.message.empty(), "an error says what is wrong");
  for (const char c : error.text()) {
    require(static_cast<unsigned char>(c) >= ' ' && c != 0x7f,
            fmt::format("an error is one line without control characters: {}", error.text()));
  }
}

std::size_t one_of(std::size_t count, std::string_view input) { return checksum_of(input) % count; }

std::string input_path(const std::string& name) {
  if (folder().empty()) {
    const char* const given = std::getenv("TMPDIR");
    const std::string base = given != nullptr ? given : fs::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    std::string made = base + "/bagwise-fuzz-XXXXXX";
    require(mkdtemp(made.data()) != nullptr, "a folder for inputs can be made in " + base);
    folder() = made;
    std::atexit(&remove_folder);
  }
  return folder() + "/" + name;
}

std::string input_file(const std::string& name, std::string_view bytes) {
  const std::string path = input_path(name);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0, "the input can be written");
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = ::write(file, left.data(), left.size());
    require(written > 0, "the input can be written");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  ::close(file);
  return path;
}

}  // namespace bagwise::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  bagwise::fuzz::Heap::watch();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bagwise::fuzz;
  Heap::reset();
  fuzz_one({reinterpret_cast<const char*>(data), size});
  const std::size_t peak = Heap::stop(), most = kBound.fixed + kBound.per_byte * size;
  require(peak <= most, fmt::format("{} bytes of input take at most {} of memory, not {}", size, most, peak));
  return 0;
}
