#include "bagwise/comm/agree.h"

#include <fmt/format.h>

#include <charconv>

namespace bagwise {
namespace {

constexpr char kEnd = '\0';  // of a field: none of them has it

std::string packed(const Error& error, const std::string& place) {
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}", kEnd, place, error.line, error.file, error.column,
                     error.message);
}

Error unpacked(std::string_view bytes) {
  const auto field = [&] {
    const std::size_t end = bytes.find(kEnd);
    const std::string_view out = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return out;
  };
  const std::string_view place = field(), line = field();
  Error out;
  std::from_chars(line.data(), line.data() + line.size(), out.line);
  out.file = field();
  out.column = field();
  out.message = fmt::format("{} ({})", bytes, place);
  return out;
}

}  // namespace

Result<void> agree(Communicator& comm, const Result<void>& mine) {
  if (comm.size() == 1) return mine;
  for (const std::string& fault : comm.gather(mine ? "" : packed(mine.error(), comm.place()))) {
    if (!fault.empty()) return unpacked(fault);
  }
  return {};
}

}  // namespace bagwise
