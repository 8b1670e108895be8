// Threads over fixed partitions, and a way to stop a long loop from the keyboard.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "numeric/joining_thread.hpp"

namespace structlearn {

// Asks `poll` now and then, on the thread that made it, whether to stop; other threads only look
// at the answer.
class Interrupt {
 public:
  explicit Interrupt(std::function<bool()> poll = nullptr)
      : poll_(std::move(poll)), owner_(std::this_thread::get_id()), next_(Clock::now() + kPeriod) {}

  bool requested() {
    if (stop_.load(std::memory_order_relaxed)) return true;
    if (poll_ && std::this_thread::get_id() == owner_ && Clock::now() >= next_) {
      if (poll_()) stop_.store(true);
      next_ = Clock::now() + kPeriod;
    }
    return stop_.load(std::memory_order_relaxed);
  }
  void request() { stop_.store(true); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{50};
  std::function<bool()> poll_;
  std::thread::id owner_;
  Clock::time_point next_;
  std::atomic<bool> stop_{false};
};

// body(task, thread) for every task, on up to `threads` threads, the calling one among them. What
// a task computes must depend on the task alone, so that the number of threads changes nothing.
// The first exception is thrown again here.
template <class Body>
void parallel_for(std::size_t tasks, std::size_t threads, Body&& body) {
  threads = std::max<std::size_t>(1, std::min(threads, tasks));
  if (threads == 1) {
    for (std::size_t i = 0; i < tasks; ++i) body(i, std::size_t{0});
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < tasks; i = next++) body(i, thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
      next = tasks;
    }
  };
  {
    std::vector<JoiningThread> pool;
    try {
      for (std::size_t i = 1; i < threads; ++i) pool.emplace_back(work, i);
    } catch (const std::system_error&) {
      // The system has no more: those that there are do it all.
    }
    work(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace structlearn
