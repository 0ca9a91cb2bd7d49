#include "bagwise/methods/registry.h"

#include <algorithm>

#include "bagwise/methods/inv_cal/inv_cal.h"

namespace bagwise {

const std::vector<Method>& methods() {
  static const std::vector<Method> kAll = {inv_cal_method()};
  return kAll;
}

const Method* find_method(std::string_view name) {
  const auto found =
      std::find_if(methods().begin(), methods().end(), [&](const Method& m) { return m.name == name; });
  return found == methods().end() ? nullptr : &*found;
}

}  // namespace bagwise
