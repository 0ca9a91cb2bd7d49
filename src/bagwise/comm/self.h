// The communicator of a process that is alone.
#pragma once

#include <deque>
#include <utility>

#include "bagwise/comm/communicator.h"

namespace bagwise {

class SelfCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string place() const override { return "rank 0"; }
  void sum(std::span<double>) override {}
  std::vector<std::string> gather(std::string mine) override { return {std::move(mine)}; }
  std::vector<std::string> exchange(std::vector<std::string> to) override { return to; }
  void send(int, std::string message) override { mail_.push_back(std::move(message)); }
  std::optional<Message> receive(std::chrono::milliseconds) override {
    if (mail_.empty()) return std::nullopt;
    Message next{0, std::move(mail_.front())};
    mail_.pop_front();
    return next;
  }

 private:
  std::deque<std::string> mail_;
};

}  // namespace bagwise
