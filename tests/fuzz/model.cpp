// Model files, which have a checksum: a mutator puts half of the inputs right again.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "bagwise/report/model_file.h"
#include "bagwise/report/model_page.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

// The error tells the checksum that was expected.
void put_right(std::string& text) {
  const auto model = model_from_json(text, "");
  if (model) return;
  constexpr std::string_view kMark = "fnv1a64:";
  const std::size_t told = model.error().message.find(kMark), stands = text.rfind(kMark);
  const std::size_t length = kMark.size() + 16;
  if (told == std::string::npos || stands == std::string::npos || text.size() - stands < length) return;
  text.replace(stands, length, model.error().message, told, length);
}

}  // namespace

const Bound kBound{.fixed = 4 * kMiB, .per_byte = 2048};

void fuzz_one(std::string_view input) {
  const auto model = model_from_json(input, "model.json");
  if (!model) return require_error(model.error());
  for (const TaskModel& task : model->tasks) {
    require(std::isfinite(task.bias), "a bias is finite");
    for (const double weight : task.weights) require(std::isfinite(weight), "weights are finite");
  }
  const std::string text = model_to_json(*model);
  const auto back = model_from_json(text, "model.json");
  require(back.ok(), back ? "" : "what is written reads back: " + back.error().text());
  require(model_to_json(*back) == text, "what is written reads back the same");
  const std::string page = model_page(*model, {});
  require(page.find("<script") == std::string::npos, "a page has no script, whatever names are");
}

}  // namespace bagwise::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (!bagwise::fuzz::puts_right(seed)) return size;
  std::string text(reinterpret_cast<const char*>(data), size);
  bagwise::fuzz::put_right(text);
  std::memcpy(data, text.data(), size);  // of the same length
  return size;
}
