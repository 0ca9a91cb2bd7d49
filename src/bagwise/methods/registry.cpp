#include "bagwise/methods/registry.h"

#include <algorithm>

#include "bagwise/methods/alter_psvm/alter_psvm.h"
#include "bagwise/methods/conv_psvm/conv_psvm.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/mean_map/mean_map.h"
#include "bagwise/methods/tl_count/tl_count.h"
#include "bagwise/methods/tl_llp/tl_llp.h"

namespace bagwise {

const std::vector<Method>& methods() {
  static const std::vector<Method> kAll = {tl_llp_method(),     inv_cal_method(),   mean_map_method(),
                                           alter_psvm_method(), conv_psvm_method(), tl_count_method()};
  return kAll;
}

const Method* find_method(std::string_view name) {
  const auto found =
      std::find_if(methods().begin(), methods().end(), [&](const Method& m) { return m.name == name; });
  return found == methods().end() ? nullptr : &*found;
}

std::span<const TrainingTask> tasks_for(const Method& method, const OptionTexts& options,
                                        std::span<const TrainingTask> tasks) {
  return method.check_sources(options) && !method.learns_alone(options) ? tasks : tasks.last(1);
}

}  // namespace bagwise
