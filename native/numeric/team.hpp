// Threads that are made once and meet at barriers: for many short rounds of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "numeric/joining_thread.hpp"

namespace structlearn {

// Where all threads meet. Rounds are shorter than it takes to wake a thread that sleeps, some ten
// microseconds or, on a virtual machine, many more: so it looks for a while before it sleeps.
class MeetingPoint {
 public:
  explicit MeetingPoint(std::size_t threads) : threads_(threads), missing_(threads) {}

  void arrive_and_wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      missing_.store(threads_, std::memory_order_relaxed);
      {
        const std::lock_guard lock(mutex_);  // nobody is between looking and sleeping
        round_.store(round + 1, std::memory_order_release);
      }
      next_round_.notify_all();
      return;
    }
    for (int look = 0; look < kLooks; ++look) {
      if (round_.load(std::memory_order_acquire) != round) return;
      relax();
    }
    std::unique_lock lock(mutex_);
    next_round_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != round; });
  }

  // Expects fewer threads, by the given number. To be called by a thread that has not arrived yet
  // itself.
  void do_without(std::size_t threads) {
    threads_ -= threads;
    missing_.fetch_sub(threads, std::memory_order_acq_rel);
  }

 private:
  static constexpr int kLooks = 10000;  // about 0.2 ms
  static void relax() {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ __volatile__("isb");
#endif
  }

  std::size_t threads_;
  std::atomic<std::size_t> missing_;
  std::atomic<std::uint32_t> round_{0};
  // Not round_.wait(): with it the tests of threads never ended on Windows (GCC 12, under Wine).
  std::mutex mutex_;
  std::condition_variable next_round_;
};

class Team {
 public:
  // The calling thread is one of them. They are fewer if the system has no more.
  explicit Team(std::size_t threads) : size_(std::max<std::size_t>(threads, 1)), barrier_(size_) {
    pool_.reserve(size_ - 1);
    try {
      for (std::size_t t = 1; t < size_; ++t) pool_.emplace_back([this, t] { serve(t); });
    } catch (const std::exception&) {  // std::system_error or std::bad_alloc
      // Those that there are wait at the barrier already, and do it all.
      const std::size_t made = 1 + pool_.size();
      barrier_.do_without(size_ - made);
      size_ = made;
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    ended_ = true;
    if (size_ > 1) barrier_.arrive_and_wait();
  }

  std::size_t size() const { return size_; }

  // body(task, thread) for every task below `tasks`. What a task computes must depend on the task
  // alone. Of several exceptions that of the first task is thrown again here, after the last task.
  void run(std::size_t tasks, std::function<void(std::size_t, std::size_t)> body) {
    body_ = std::move(body);
    errors_.assign(tasks, nullptr);
    next_ = 0;
    if (size_ > 1) barrier_.arrive_and_wait();
    work(0);
    if (size_ > 1) barrier_.arrive_and_wait();
    for (const std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  void serve(std::size_t thread) {
    for (;;) {
      barrier_.arrive_and_wait();
      if (ended_) return;
      work(thread);
      barrier_.arrive_and_wait();
    }
  }

  void work(std::size_t thread) {
    for (std::size_t task = next_++; task < errors_.size(); task = next_++) {
      try {
        body_(task, thread);
      } catch (...) {
        errors_[task] = std::current_exception();
      }
    }
  }

  std::size_t size_;
  MeetingPoint barrier_;
  bool ended_ = false;  // like all that follows, written between barriers only
  std::function<void(std::size_t, std::size_t)> body_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_{0};
  std::vector<JoiningThread> pool_;  // joins first, while the rest is there
};

}  // namespace structlearn
