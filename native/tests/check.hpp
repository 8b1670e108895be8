// A check that prints where and what, and goes on; main() returns how many failed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

namespace test {

inline int failures = 0;
inline std::size_t checks = 0;
inline std::string context;  // what is being tried, for the message

inline void fail(const char* file, int line, const std::string& what) {
  ++failures;
  if (failures <= 20) std::printf("%s:%d: %s [%s]\n", file, line, what.c_str(), context.c_str());
}

inline void check(bool right, const char* file, int line, const char* text) {
  ++checks;
  if (!right) fail(file, line, std::string("not so: ") + text);
}

inline void check_near(double got, double expected, double slack, const char* file, int line,
                       const char* text) {
  ++checks;
  if (got == expected) return;  // infinities too
  if (!(std::abs(got - expected) <= slack)) {
    char numbers[120];
    std::snprintf(numbers, sizeof numbers, ": got %.17g, expected %.17g", got, expected);
    fail(file, line, text + std::string(numbers));
  }
}

template <class Error, class Body>
void check_throws(Body&& body, const char* file, int line, const char* text) {
  ++checks;
  try {
    body();
  } catch (const Error&) {
    return;
  } catch (...) {
    fail(file, line, std::string("another exception: ") + text);
    return;
  }
  fail(file, line, std::string("no exception: ") + text);
}

}  // namespace test

#define CHECK(x) test::check((x), __FILE__, __LINE__, #x)
#define CHECK_NEAR(got, expected, slack) \
  test::check_near((got), (expected), (slack), __FILE__, __LINE__, #got)
#define CHECK_THROWS(Error, ...) \
  test::check_throws<Error>([&] { __VA_ARGS__; }, __FILE__, __LINE__, #__VA_ARGS__)
