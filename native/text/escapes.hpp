// Parts of the names of features: what separates parts is escaped inside of them.
#pragma once

#include <string>
#include <string_view>

namespace structlearn::text {

// A part with a backslash before each of these characters; the backslash is one of them.
inline std::string escaped(std::string_view part, std::string_view marks) {
  std::string out;
  for (const char c : part) {
    if (marks.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace structlearn::text
