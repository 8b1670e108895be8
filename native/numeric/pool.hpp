// Things that calls work with, one at a time each, and that are kept for the next ones.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace structlearn {

// Several threads may call at once: each has a thing of its own while it does. There are as many as
// there have been calls at once; so many of them are kept.
template <class T>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  std::unique_ptr<T> take() const {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
    return make_();
  }
  // One whose call has failed is better not given back.
  void give_back(std::unique_ptr<T> one) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(one));
  }

 private:
  static constexpr std::size_t kMostIdle = 16;
  std::function<std::unique_ptr<T>()> make_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace structlearn
