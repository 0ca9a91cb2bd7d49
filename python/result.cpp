#include "python/result.h"

#include <string>

namespace bagwise::python {

py::object to_python(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return py::bool_(json.get<bool>());
  if (json.is_number_unsigned()) return py::int_(json.get<std::uint64_t>());
  if (json.is_number_integer()) return py::int_(json.get<std::int64_t>());
  if (json.is_number()) return py::float_(json.get<double>());
  if (json.is_string()) {
    // A name out of a file may hold bytes that are no UTF-8.
    const auto& text = json.get_ref<const std::string&>();
    return py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
  }
  if (json.is_array()) {
    py::list out;
    for (const auto& item : json) out.append(to_python(item));
    return out;
  }
  if (json.is_object()) {
    py::dict out;
    for (const auto& [name, item] : json.items()) out[py::str(name)] = to_python(item);
    return out;
  }
  return py::none();
}

}  // namespace bagwise::python
