#include "cli/command.h"

namespace bagwise::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {train_command(),   predict_command(),  evaluate_command(),
                                           inspect_command(), generate_command(), bag_command(),
                                           methods_command()};
  return all;
}

}  // namespace bagwise::cli
