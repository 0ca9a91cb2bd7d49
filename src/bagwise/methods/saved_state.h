// What a fit leaves in a checkpoint, as bytes: numbers to the bit, and a mark of the problem they belong to.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/comm/agree.h"
#include "bagwise/comm/over_ranks.h"
#include "bagwise/core/checkpoint.h"
#include "bagwise/core/result.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// Numbers one after the other. All are eight bytes; lists have their length first.
class StateWriter {
 public:
  void put(double value) { append(&value, 1); }
  void put_count(std::size_t value) { put(static_cast<double>(value)); }
  void put(std::span<const double> values) {
    put_count(values.size());
    append(values.data(), values.size());
  }
  void put(const Vector& values) { put(std::span(values.data(), static_cast<std::size_t>(values.size()))); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void append(const double* values, std::size_t count) {
    if (count > 0) bytes_.append(reinterpret_cast<const char*>(values), count * sizeof(double));
  }
  std::string bytes_;
};

// The same back; after the end, or of lists longer than what is left, zeros and not ok().
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}
  double number() {
    double out = 0;
    take(&out, 1);
    return out;
  }
  std::size_t count() {
    const std::size_t left = bytes_.size() / sizeof(double);  // the count itself among them: no harm
    return static_cast<std::size_t>(whole(static_cast<double>(left)));
  }
  // A whole number from 0 to `most`.
  double whole(double most) {
    const double value = number();
    ok_ = ok_ && value >= 0 && value <= most && value == std::floor(value);
    return ok_ ? value : 0;
  }
  // Of an enumeration whose last value is `last`.
  template <class E>
  E choice(E last) {
    return static_cast<E>(static_cast<int>(whole(static_cast<double>(last))));
  }
  std::vector<double> list() {
    std::vector<double> out(count());
    take(out.data(), out.size());
    return out;
  }
  Vector vector() {
    const std::vector<double> values = list();
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  void take(double* out, std::size_t count) {
    const std::size_t wanted = count * sizeof(double);
    if (wanted > bytes_.size()) ok_ = false;
    if (!ok_ || wanted == 0) return;
    std::memcpy(out, bytes_.data(), wanted);
    bytes_.remove_prefix(wanted);
  }
  std::string_view bytes_;
  bool ok_ = true;
};

// A state of the problem that `mark` stands for, and back: the error is a state of something else.
inline std::string with_mark(std::string_view kind, std::uint64_t mark, std::string_view state) {
  std::string out(kind);
  out.push_back('\n');
  out.append(reinterpret_cast<const char*>(&mark), sizeof mark);
  out.append(state);
  return out;
}
inline Result<std::string> without_mark(std::string_view kind, std::uint64_t mark, std::string_view bytes) {
  const std::string head = with_mark(kind, mark, {});
  if (bytes.substr(0, head.size()) == head) return std::string(bytes.substr(head.size()));
  return Error{
      "the checkpoint is of another problem, other options or another number of ranks; expected that of this "
      "fit, or none"};
}

// The state that all ranks go on from: nothing where there is no checkpoint, or where not all have the same
// number of steps (then all begin anew). `parse` makes a state of bytes, `steps` tells how far it is.
template <class State, class Parse, class Steps>
Result<std::optional<State>> load_state(Checkpoint* checkpoint, Communicator* comm, std::string_view kind,
                                        std::uint64_t mark, const Parse& parse, const Steps& steps) {
  if (checkpoint == nullptr) return std::optional<State>();
  Result<std::optional<State>> mine = std::optional<State>();
  if (const auto bytes = checkpoint->load()) {
    auto state = without_mark(kind, mark, *bytes);
    if (!state) {
      mine = state.error();
    } else {
      mine = parse(*state);
      if (mine && !*mine) mine = Error{"the checkpoint is damaged; expected that of this fit, or none"};
    }
  }
  if (comm == nullptr) return mine;
  mine = agree(*comm, std::move(mine));
  if (!mine) return mine;
  const double made = *mine ? static_cast<double>(steps(**mine)) : -1;
  for (const double other : gather_over_ranks(comm, std::vector<double>{made})) {
    if (other != made) *mine = std::nullopt;
  }
  const bool any_lacks = any_over_ranks(comm, !*mine);
  if (any_lacks) *mine = std::nullopt;
  return mine;
}

}  // namespace bagwise
