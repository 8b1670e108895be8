// A thread that joins when it goes out of scope: std::jthread, which Apple's library does not have.
#pragma once

#include <thread>
#include <utility>

namespace structlearn {

class JoiningThread {
 public:
  template <class... Arguments>
  explicit JoiningThread(Arguments&&... arguments)
      : thread_(std::forward<Arguments>(arguments)...) {}
  JoiningThread(JoiningThread&&) noexcept = default;
  JoiningThread& operator=(JoiningThread&&) = delete;
  JoiningThread(const JoiningThread&) = delete;
  JoiningThread& operator=(const JoiningThread&) = delete;
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace structlearn
