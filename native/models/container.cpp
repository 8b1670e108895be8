#include "models/container.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "text/corpus.hpp"
#include "text/hash.hpp"
#include "text/json.hpp"

namespace structlearn {
namespace {

using text::Json;

constexpr std::string_view kFormat = "structlearn", kVersion = "2", kBlank = "0000000000000000";

struct ItemSize {
  std::string_view dtype;
  std::size_t bytes;
};
constexpr std::array<ItemSize, 12> kSizes = {{{"F64", 8},
                                              {"I64", 8},
                                              {"U64", 8},
                                              {"F32", 4},
                                              {"I32", 4},
                                              {"U32", 4},
                                              {"F16", 2},
                                              {"I16", 2},
                                              {"U16", 2},
                                              {"I8", 1},
                                              {"U8", 1},
                                              {"BOOL", 1}}};

[[noreturn]] void foreign(std::string_view what, const std::string& reason) {
  throw std::invalid_argument("not a structlearn " + std::string(what) + ", or damaged: " + reason);
}

// An entry of the header, as far as it could be read.
struct Entry {
  std::string_view name;
  std::string_view dtype;
  std::size_t item = 0;
  std::uint64_t begin = 0, end = 0;
  std::vector<std::size_t> shape;
  bool whole = true;       // begin, end and shape are whole numbers
  bool too_large = false;  // a number of the shape is
};

// False for what is no whole number from 0 on.
bool read_count(const Json& given, std::uint64_t& out) {
  if (!given.is_whole()) return false;
  const std::int64_t x = given.whole("");
  if (x < 0) return false;
  out = static_cast<std::uint64_t>(x);
  return true;
}

// Throws std::invalid_argument.
Entry read_entry(const std::string& name, const Json& given) {
  Entry entry;
  entry.name = name;
  const Json::List& offsets = given.at("data_offsets").list("data_offsets");
  entry.dtype = given.at("dtype").text("dtype");
  const auto known = std::find_if(kSizes.begin(), kSizes.end(),
                                  [&](const ItemSize& size) { return size.dtype == entry.dtype; });
  if (offsets.size() != 2 || known == kSizes.end()) throw std::invalid_argument("an array");
  entry.item = known->bytes;
  const bool begins = read_count(offsets[0], entry.begin), ends = read_count(offsets[1], entry.end);
  entry.whole = begins && ends;
  for (const Json& length : given.at("shape").list("shape")) {
    std::uint64_t n = 0;
    if (read_count(length, n)) {
      entry.shape.push_back(static_cast<std::size_t>(n));
    } else if (length.is_number() && length.number("shape") > 9e18) {
      entry.too_large = true;
    } else {
      entry.whole = false;
    }
  }
  return entry;
}

bool fits(const Entry& entry) {
  std::uint64_t bytes = entry.item;
  for (const std::size_t n : entry.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes)) return false;
  }
  return !entry.too_large && bytes == entry.end - entry.begin;
}

// The arrays in their order; none overlaps another or leaves the file.
std::vector<Entry> read_entries(const Json::Object& header, std::size_t size,
                                std::string_view what) {
  std::vector<Entry> entries;
  try {
    for (const auto& [name, given] : header) {
      if (name != "__metadata__") entries.push_back(read_entry(name, given));
    }
  } catch (const std::invalid_argument&) {
    foreign(what, "its list of arrays cannot be read");
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t reached = 0;
  for (const Entry& entry : entries) {
    const std::string name = "the array '" + std::string(entry.name) + "'";
    if (!entry.whole || entry.begin != reached || entry.end < entry.begin || entry.end > size) {
      foreign(what, name + " lies outside of the file");
    }
    if (!fits(entry)) foreign(what, name + " has another size than it says");
    reached = entry.end;
  }
  if (reached != size) foreign(what, "it is longer than its header says");
  return entries;
}

// The same text with every `from` replaced.
std::string replaced(std::string_view text, const std::string& from, const std::string& to) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) return out.append(text.substr(at));
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
}

std::string in_hex(std::uint64_t x) {
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; x >>= 4) digits[i] = "0123456789abcdef"[x & 15];
  return digits;
}

}  // namespace

Container parse_container(std::string_view whole, std::string_view what) {
  if (whole.size() < 8) foreign(what, "it has " + std::to_string(whole.size()) + " bytes");
  const auto length = text::load<std::uint64_t>(whole.data());
  if (length > whole.size() - 8 || length < 2) {
    foreign(what, "the header is longer than the file, which may be truncated");
  }
  const std::string_view raw = whole.substr(8, static_cast<std::size_t>(length));
  Json header;
  std::string stored, version;
  bool ours = false;
  const Json* description = nullptr;
  try {
    if (text::invalid_utf8(raw) != raw.size()) throw std::invalid_argument("not UTF-8");
    header = text::parse_json(raw);
    header.object("the header");
    const Json& metadata = header.at("__metadata__");
    const Json& format = metadata.at("format");
    ours = format.is_text() && format.text("format") == kFormat;
    const Json& number = metadata.at("version");
    version = number.is_text()    ? "'" + number.text("version") + "'"
              : number.is_whole() ? std::to_string(number.whole("version"))
                                  : "unknown";
    const Json& checksum = metadata.at("checksum");
    if (checksum.is_text()) stored = checksum.text("checksum");
    if (text::invalid_utf8(stored) != stored.size()) throw std::invalid_argument("not UTF-8");
    description = &metadata.at("model");
  } catch (const std::invalid_argument&) {
    foreign(what, "its header cannot be read");
  }
  if (!ours) foreign(what, "the header was written by another program");
  if (version != "'" + std::string(kVersion) + "'") {
    throw std::invalid_argument(
        "a " + std::string(what) + " file of version " + version +
        "; this structlearn reads version " + std::string(kVersion) +
        (what == "model" ? ". Train it again, or use the version of structlearn that wrote it"
                         : ""));
  }
  const std::string_view payload = whole.substr(8 + raw.size());
  const std::vector<Entry> entries =
      read_entries(header.object("the header"), payload.size(), what);
  text::Checksum sum;
  const std::string blank = replaced(raw, "\"checksum\":\"" + stored + "\"",
                                     "\"checksum\":\"" + std::string(kBlank) + "\"");
  sum.add(whole.data(), 8);
  sum.add(blank.data(), blank.size());
  Container found;
  for (const Entry& entry : entries) {
    const std::string_view data = payload.substr(static_cast<std::size_t>(entry.begin),
                                                 static_cast<std::size_t>(entry.end - entry.begin));
    sum.add(data.data(), data.size());
    found.tensors.emplace(
        entry.name, Tensor{std::string(entry.dtype),
                           entry.shape,
                           {reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}});
  }
  if (in_hex(sum.value()) != stored) {
    throw std::invalid_argument("the file is damaged: the checksum does not match the content");
  }
  if (!description->is_text()) foreign(what, "its description cannot be read");
  found.description = description->text("model");
  return found;
}

const Tensor& tensor(const Tensors& tensors, std::string_view name, std::string_view dtype) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) {
    throw std::invalid_argument("there is no array '" + std::string(name) + "'");
  }
  if (at->second.dtype != dtype) {
    throw std::invalid_argument("the array '" + std::string(name) + "' is " + at->second.dtype +
                                ", not " + std::string(dtype));
  }
  return at->second;
}

}  // namespace structlearn
