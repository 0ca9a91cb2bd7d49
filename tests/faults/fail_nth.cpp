// A library to preload into the real program: it makes the k-th call of one kind fail.
//
//   LD_PRELOAD=libfail_nth.so BAGWISE_FAULT=KIND:K[+] BAGWISE_FAULT_FOLDER=DIR bagwise ...
//
// Only calls made while main runs count; K+ fails all calls from the K-th on, K = 0 none. Of files, those
// below DIR count, and standard output. BAGWISE_FAULT_TRACE=1 shows on stderr where the call came from. At
// the end the number of calls that were seen goes to the file descriptor BAGWISE_FAULT_COUNT, if there is
// one.
//
//   read    read, pread, mmap of a file: EIO            read-short  one byte is read       read-again  EINTR
//   write   write, writev, fwrite, fflush: ENOSPC       write-short half is written        write-again EINTR
//   sync    fsync, fdatasync: EIO                       rename      EACCES
//   file    open, mkdir, ftruncate, fchmod, flock, lseek, close, opendir: EIO              look  stat,
//   access: EIO alloc   malloc and its kin, anonymous mmap: ENOMEM  thread      pthread_create: EAGAIN
//   write-kill, sync-kill, rename-kill, file-kill, remove-kill: the process is killed (SIGKILL) instead of
//   the call; a write is killed when half is written
//
// With BAGWISE_FAULT_SERVER=1 the program is started once and main many times: for every line "KIND:K[+] DIR"
// on standard input a child runs main in DIR, its output in DIR.out and DIR.err, and a line "STATUS CALLS
// FAILED" comes back on standard output. Starting, most of all linking, takes ten times as long as main
// itself does on small tables.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
// The allocator itself, under the names by which the C library lets it be reached from a replacement.
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

enum class Kind { kNone, kRead, kWrite, kSync, kRename, kFile, kLook, kRemove, kAlloc, kThread };
enum class Manner { kFail, kShort, kAgain, kKill };

struct Tally {
  std::atomic<long> calls{0}, failed{0};
};

// Everything below is set before main begins and only read while it runs.
Kind kind = Kind::kNone;
Manner manner = Manner::kFail;
long first = 0, last = 0;  // of the calls to fail, counted from 1
char folder[4096] = {};
bool trace = false;
Tally own_tally;
Tally* tally = &own_tally;  // shared with the server
std::atomic<bool> running{false};
thread_local bool inside = false;  // in here already

template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
// The function that would have been called without us, looked up once.
#define CALLER __builtin_return_address(0)
#define NEXT(name)                                                     \
  ([] {                                                                \
    static decltype(&::name) found = next_of<decltype(::name)>(#name); \
    return found;                                                      \
  }())

void show_where() {
  void* frames[48];
  const int count = backtrace(frames, 48);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

[[noreturn]] void end_here() {
  for (;;) kill(getpid(), SIGKILL);
}

// Where OpenBLAS lies in memory. It asks for a buffer again without end until it gets it, and writes to the
// room for copies of small matrices (processors with AVX-512) without a look at whether it got it: what it
// asks for does not fail. The library looks for the memory before it calls it, and that may fail.
struct Range {
  std::uintptr_t from = 0, to = 0;

  [[nodiscard]] bool holds(const void* place) const {
    const auto at = reinterpret_cast<std::uintptr_t>(place);
    return at >= from && at < to;
  }
};
Range openblas() {
  Range out;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        if (std::strstr(info->dlpi_name, "openblas") == nullptr) return 0;
        Range& range = *static_cast<Range*>(context);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          range = {info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz};
        }
        return 1;
      },
      &out);
  return out;
}

// Whether this call, one of kind `which`, is to fail.
bool fails(Kind which, const void* caller = nullptr) {
  if (which != kind || inside || !running.load(std::memory_order_relaxed)) return false;
  const long number = tally->calls.fetch_add(1) + 1;
  if (number < first || number > last) return false;
  static const Range of_openblas = openblas();
  if (which == Kind::kAlloc && of_openblas.holds(caller)) return false;
  const bool earlier = tally->failed.fetch_add(1) > 0;
  if (manner == Manner::kKill && which != Kind::kWrite) end_here();
  if (trace && !earlier) {
    inside = true;
    show_where();
    inside = false;
  }
  return true;
}

bool in_folder(const char* path) {
  const std::size_t length = std::strlen(folder);
  return length > 0 && std::strncmp(path, folder, length) == 0 &&
         (path[length] == '/' || path[length] == '\0');
}

bool counts(int descriptor) {
  if (kind == Kind::kNone || kind == Kind::kAlloc || kind == Kind::kThread) return false;
  if (descriptor == STDERR_FILENO) return false;
  if (descriptor == STDOUT_FILENO) return true;
  char link[64], target[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const int keep = errno;
  const ssize_t length = readlink(link, target, sizeof target - 1);
  errno = keep;
  if (length <= 0) return false;
  target[length] = '\0';
  return in_folder(target);
}

// A name is of the run if it is relative (the run's folder is where it runs) or below the folder.
bool counts(const char* path) { return path != nullptr && (path[0] != '/' || in_folder(path)); }

int fault(int code) {
  errno = code;
  return -1;
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

struct Name {
  const char* text;
  Kind kind;
  Manner manner;
};
constexpr Name kNames[] = {
    {"read", Kind::kRead, Manner::kFail},          {"read-short", Kind::kRead, Manner::kShort},
    {"read-again", Kind::kRead, Manner::kAgain},   {"write", Kind::kWrite, Manner::kFail},
    {"write-short", Kind::kWrite, Manner::kShort}, {"write-again", Kind::kWrite, Manner::kAgain},
    {"write-kill", Kind::kWrite, Manner::kKill},   {"sync", Kind::kSync, Manner::kFail},
    {"sync-kill", Kind::kSync, Manner::kKill},     {"rename", Kind::kRename, Manner::kFail},
    {"rename-kill", Kind::kRename, Manner::kKill}, {"file", Kind::kFile, Manner::kFail},
    {"file-kill", Kind::kFile, Manner::kKill},     {"look", Kind::kLook, Manner::kFail},
    {"remove-kill", Kind::kRemove, Manner::kKill}, {"alloc", Kind::kAlloc, Manner::kFail},
    {"thread", Kind::kThread, Manner::kFail}};

// "KIND:K" or "KIND:K+".
bool understand(const char* text) {
  const char* const colon = std::strchr(text, ':');
  if (colon == nullptr) return false;
  for (const Name& name : kNames) {
    const auto length = static_cast<std::size_t>(colon - text);
    if (std::strlen(name.text) != length || std::strncmp(name.text, text, length) != 0) continue;
    char* rest = nullptr;
    first = std::strtol(colon + 1, &rest, 10);
    last = *rest == '+' ? 1'000'000'000 : first;
    if (first == 0) first = last = -1;
    kind = name.kind;
    manner = name.manner;
    return true;
  }
  return false;
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int watched_main(int argc, char** argv, char** environment) {
  running = true;
  const int status = real_main(argc, argv, environment);
  running = false;
  return status;
}

void send_to(const char* base, const char* ending, int descriptor) {
  char path[sizeof folder + 8];
  std::snprintf(path, sizeof path, "%s%s", base, ending);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
}

// For every line of standard input a child that runs main; only the child comes back from here, to do so.
bool serve() {
  void* const shared =
      mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  tally = new (shared) Tally;
  char line[sizeof folder + 64], what[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    if (std::sscanf(line, "%63s %4095s", what, folder) != 2 || !understand(what)) return false;
    tally->calls = tally->failed = 0;
    const pid_t child = fork();
    if (child == 0) {
      send_to(folder, ".out", STDOUT_FILENO);
      send_to(folder, ".err", STDERR_FILENO);
      const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
      dup2(nothing, STDIN_FILENO);
      alarm(30);  // what hangs is ended
      return chdir(folder) == 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%d %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                tally->calls.load(), tally->failed.load());
    std::fflush(stdout);
  }
  std::exit(0);
}

int our_main(int argc, char** argv, char** environment) {
  trace = std::getenv("BAGWISE_FAULT_TRACE") != nullptr;
  const char* const server = std::getenv("BAGWISE_FAULT_SERVER");
  const char* const what = std::getenv("BAGWISE_FAULT");
  if (const char* const below = std::getenv("BAGWISE_FAULT_FOLDER"); below != nullptr)
    std::snprintf(folder, sizeof folder, "%s", below);
  if (server != nullptr ? !serve() : what == nullptr || !understand(what)) {
    std::fputs("fail_nth: BAGWISE_FAULT or a line is not KIND:K\n", stderr);
    return 125;
  }
  const int status = watched_main(argc, argv, environment);
  const char* const count = std::getenv("BAGWISE_FAULT_COUNT");
  if (server == nullptr && count != nullptr) dprintf(std::atoi(count), "%ld\n", tally->calls.load());
  return status;
}

ssize_t read_by(int descriptor, std::size_t size, ssize_t (*how)(std::size_t, void*), void* context) {
  if (size == 0 || !counts(descriptor) || !fails(Kind::kRead)) return how(size, context);
  if (manner == Manner::kShort) return how(1, context);
  return fault(manner == Manner::kAgain ? EINTR : EIO);
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  using Start = int(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return next_of<Start>("__libc_start_main")(our_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t bytes) { return fails(Kind::kAlloc, CALLER) ? no_memory() : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails(Kind::kAlloc, CALLER) ? no_memory() : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return fails(Kind::kAlloc, CALLER) ? no_memory() : __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails(Kind::kAlloc, CALLER) ? no_memory() : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  void* const got = memalign(alignment, bytes);
  if (got == nullptr) return ENOMEM;
  *out = got;
  return 0;
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  const bool memory = (flags & MAP_ANONYMOUS) != 0;
  if (memory ? fails(Kind::kAlloc, CALLER)
             : counts(descriptor) && manner == Manner::kFail && fails(Kind::kRead)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return NEXT(mmap)(at, bytes, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  return fails(Kind::kThread) ? EAGAIN : NEXT(pthread_create)(thread, attributes, run, argument);
}

ssize_t read(int descriptor, void* to, std::size_t size) {
  struct Call {
    int descriptor;
    void* to;
  } call{descriptor, to};
  return read_by(
      descriptor, size,
      [](std::size_t bytes, void* context) {
        const Call& c = *static_cast<Call*>(context);
        return NEXT(read)(c.descriptor, c.to, bytes);
      },
      &call);
}
ssize_t pread(int descriptor, void* to, std::size_t size, off_t offset) {
  struct Call {
    int descriptor;
    void* to;
    off_t offset;
  } call{descriptor, to, offset};
  return read_by(
      descriptor, size,
      [](std::size_t bytes, void* context) {
        const Call& c = *static_cast<Call*>(context);
        return NEXT(pread)(c.descriptor, c.to, bytes, c.offset);
      },
      &call);
}

ssize_t write(int descriptor, const void* from, std::size_t size) {
  if (size == 0 || !counts(descriptor) || !fails(Kind::kWrite)) return NEXT(write)(descriptor, from, size);
  if (manner == Manner::kShort || manner == Manner::kKill) {
    const ssize_t written = NEXT(write)(descriptor, from, (size + 1) / 2);
    if (manner == Manner::kKill) end_here();
    return written;
  }
  return fault(manner == Manner::kAgain ? EINTR : ENOSPC);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (!counts(descriptor) || manner != Manner::kFail || !fails(Kind::kWrite))
    return NEXT(writev)(descriptor, parts, count);
  return fault(ENOSPC);
}
// The C library writes its streams by calls that nobody sees: of standard output, each way in counts instead.
std::size_t fwrite(const void* from, std::size_t size, std::size_t count, FILE* stream) {
  if (stream == stdout && manner == Manner::kFail && fails(Kind::kWrite)) {
    errno = ENOSPC;
    return 0;
  }
  return NEXT(fwrite)(from, size, count, stream);
}
int fflush(FILE* stream) {
  if (stream == stdout && manner == Manner::kFail && fails(Kind::kWrite)) return fault(ENOSPC);
  return NEXT(fflush)(stream);
}

int fsync(int descriptor) {
  return counts(descriptor) && fails(Kind::kSync) ? fault(EIO) : NEXT(fsync)(descriptor);
}
int fdatasync(int descriptor) {
  return counts(descriptor) && fails(Kind::kSync) ? fault(EIO) : NEXT(fdatasync)(descriptor);
}
int rename(const char* from, const char* to) {
  return counts(to) && fails(Kind::kRename) ? fault(EACCES) : NEXT(rename)(from, to);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return counts(path) && fails(Kind::kFile) ? fault(EIO) : NEXT(open)(path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return counts(path) && fails(Kind::kFile) ? fault(EIO) : NEXT(openat)(at, path, flags, mode);
}
DIR* opendir(const char* path) {
  if (!counts(path) || !fails(Kind::kFile)) return NEXT(opendir)(path);
  errno = EIO;
  return nullptr;
}
int mkdir(const char* path, mode_t mode) {
  return counts(path) && fails(Kind::kFile) ? fault(EIO) : NEXT(mkdir)(path, mode);
}
int ftruncate(int descriptor, off_t size) {
  return counts(descriptor) && fails(Kind::kFile) ? fault(EIO) : NEXT(ftruncate)(descriptor, size);
}
int fchmod(int descriptor, mode_t mode) {
  return counts(descriptor) && fails(Kind::kFile) ? fault(EIO) : NEXT(fchmod)(descriptor, mode);
}
int flock(int descriptor, int how) {
  return counts(descriptor) && fails(Kind::kFile) ? fault(EIO) : NEXT(flock)(descriptor, how);
}
off_t lseek(int descriptor, off_t offset, int from) {
  return counts(descriptor) && fails(Kind::kFile) ? fault(EIO) : NEXT(lseek)(descriptor, offset, from);
}
int close(int descriptor) {
  const bool bad = counts(descriptor) && fails(Kind::kFile);
  const int closed = NEXT(close)(descriptor);  // in any case: so does the kernel
  return bad ? fault(EIO) : closed;
}

int unlink(const char* path) {
  return counts(path) && fails(Kind::kRemove) ? fault(EIO) : NEXT(unlink)(path);
}
int remove(const char* path) {
  return counts(path) && fails(Kind::kRemove) ? fault(EIO) : NEXT(remove)(path);
}
int rmdir(const char* path) { return counts(path) && fails(Kind::kRemove) ? fault(EIO) : NEXT(rmdir)(path); }

int stat(const char* path, struct stat* out) {
  return counts(path) && fails(Kind::kLook) ? fault(EIO) : NEXT(stat)(path, out);
}
int lstat(const char* path, struct stat* out) {
  return counts(path) && fails(Kind::kLook) ? fault(EIO) : NEXT(lstat)(path, out);
}
int fstat(int descriptor, struct stat* out) {
  return counts(descriptor) && fails(Kind::kLook) ? fault(EIO) : NEXT(fstat)(descriptor, out);
}
int access(const char* path, int how) {
  return counts(path) && fails(Kind::kLook) ? fault(EIO) : NEXT(access)(path, how);
}

}  // extern "C"
