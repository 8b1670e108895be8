#include "models/crfsuite_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "text/corpus.hpp"
#include "text/hash.hpp"

namespace structlearn {
namespace {

constexpr std::uint64_t kChunk = 12, kFeature = 20, kVersion = 100;
constexpr std::uint64_t kTable = 24, kRecords = kTable + 256 * 8, kByteOrder = 0x62445371;
// The table of label pairs is made in full.
constexpr std::uint64_t kMostLabels = 1u << 13;

[[noreturn]] void refuse(std::uint64_t at, const std::string& problem) {
  throw std::invalid_argument("at byte " + std::to_string(at) + ", " + problem);
}

std::string bytes_of(std::uint64_t n) {
  return std::to_string(n) + " bytes";
}

// Text between quotation marks, bytes that are no letters as \x01.
std::string quoted(std::string_view text, bool ascii) {
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '\'' || c == '\\' || (ascii && byte >= 0x80)) {
      static constexpr char kDigits[] = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      out += c;
    }
  }
  return out + "'";
}

// The bytes of a file; nothing is read that is not there.
class FileReader {
 public:
  explicit FileReader(std::string_view data) : data_(data) {}
  std::uint64_t size() const { return data_.size(); }

  // Refuses a piece that does not end with the file, or before `end` in it.
  void need(std::uint64_t at, std::uint64_t size, const std::string& what) const {
    need(at, size, what, data_.size(), "the file");
  }
  void need_within(std::uint64_t at, std::uint64_t size, const std::string& what,
                   std::uint64_t end) const {
    need(at, size, what, end, "its part of the file");
  }
  void magic(std::uint64_t at, std::string_view expected, const std::string& what) const {
    need(at, expected.size(), what);
    const std::string_view found = data_.substr(at, expected.size());
    if (found != expected) {
      refuse(at,
             what + " begins with b" + quoted(found, true) + ", not b" + quoted(expected, true));
    }
  }
  // Places that were checked before.
  std::uint64_t word(std::uint64_t at) const {
    return text::load<std::uint32_t>(data_.data() + at);
  }
  double number(std::uint64_t at) const { return text::load<double>(data_.data() + at); }
  std::string_view piece(std::uint64_t at, std::uint64_t size) const {
    return data_.substr(at, size);
  }

 private:
  static void need(std::uint64_t at, std::uint64_t size, const std::string& what, std::uint64_t end,
                   const char* where) {
    if (at + size > end) {
      refuse(at, what + " takes " + bytes_of(size) + ", but " + where + " ends at byte " +
                     std::to_string(end));
    }
  }
  std::string_view data_;
};

struct Header {
  std::uint64_t labels, attributes;
  // Places.
  std::uint64_t features, label_names, attribute_names, label_lists, attribute_lists;
};

Header read_header(const FileReader& file) {
  file.magic(8, "FOMC", "the type of the model");
  if (const std::uint64_t version = file.word(12); version != kVersion) {
    refuse(12, "the version is " + std::to_string(version) + "; only " + std::to_string(kVersion) +
                   " is known");
  }
  const auto word = [&](std::uint64_t i) { return file.word(20 + 4 * i); };
  const Header header{word(0), word(1), word(2), word(3), word(4), word(5), word(6)};
  if (header.labels == 0) refuse(20, "the model has no labels: it was trained on nothing");
  if (header.labels > kMostLabels) {
    refuse(20, "the model has " + std::to_string(header.labels) + " labels; at most " +
                   std::to_string(kMostLabels) + " can be");
  }
  return header;
}

// Calls each(number, string) for the strings of a table in the order of their numbers.
template <class Each>
void read_names(const FileReader& file, std::uint64_t at, std::uint64_t count,
                const std::string& what, Each&& each) {
  const std::string table = "the table of " + what + "s";
  file.magic(at, "CQDB", table);
  file.need(at, kRecords, table);
  const std::uint64_t size = file.word(at + 4), backward_count = file.word(at + 16),
                      backward = file.word(at + 20);
  if (file.word(at + 12) != kByteOrder) {
    refuse(at + 12, table + " was written in another byte order");
  }
  if (size < kRecords) {
    refuse(at + 4, table + " takes " + bytes_of(size) + ", at least " + std::to_string(kRecords) +
                       " ought");
  }
  file.need(at, size, table);
  if (count == 0) return;
  if (count > backward_count || backward < kRecords) {
    refuse(at + 16, table + " has no list of its " + std::to_string(count) + " strings");
  }
  file.need_within(at + backward, 4 * count,
                   "the list of " + std::to_string(count) + " " + what + "s", at + size);
  const auto named = [&](std::uint64_t i) { return what + " " + std::to_string(i); };
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = file.word(at + backward + 4 * i), begin = at + offset + 8;
    if (offset < kRecords || offset + 8 > size) {
      refuse(at + offset, named(i) + " lies outside of the file's table");
    }
    if (file.word(at + offset) != i) {
      refuse(at + offset, named(i) + " has a record with another number");
    }
    const std::uint64_t length = file.word(at + offset + 4);
    if (length < 1 || offset + 8 + length > size) {
      refuse(at + offset, named(i) + " is longer than its table");
    }
    taken += length + 8;
    // Records that share bytes could make a small file a large list.
    if (taken > size - kRecords) refuse(at, "the records of the " + what + "s overlap");
    const std::string_view string = file.piece(begin, length);
    if (string.back() != '\0') refuse(at + offset, named(i) + " does not end with a zero byte");
    const std::string_view name = string.substr(0, length - 1);
    if (name.find('\0') != name.npos) refuse(begin, named(i) + " has a zero byte inside");
    if (text::invalid_utf8(name) < name.size()) refuse(begin, named(i) + " is not UTF-8 text");
    each(i, name);
  }
}

text::StringTable read_table(const FileReader& file, std::uint64_t at, std::uint64_t count,
                             const std::string& what) {
  text::StringTable names;
  read_names(file, at, count, what, [&](std::uint64_t i, std::string_view name) {
    if (names.add(name) != i) {
      refuse(at, what + " " + std::to_string(i) + ", " + quoted(name, false) +
                     ", stands in its table twice");
    }
  });
  return names;
}

// The features, in the order of their numbers.
class Features {
 public:
  enum Kind : std::uint64_t { kState, kTransition };

  Features(const FileReader& file, const Header& header) : file_(file), at_(header.features) {
    file.magic(at_, "FEAT", "the list of features");
    file.need(at_ + 4, 8, "the list of features");
    const std::uint64_t size = file.word(at_ + 4);
    n_ = file.word(at_ + 8);
    const std::string number = std::to_string(n_);
    if (size != kChunk + n_ * kFeature) {
      refuse(at_ + 4, number + " features cannot take " + bytes_of(size));
    }
    file.need(at_, size, "the list of " + number + " features");
    for (std::uint64_t i = 0; i < n_; ++i) {
      if (kind(i) > kTransition) wrong(i, "is of an unknown type");
      if (source(i) >= (kind(i) == kState ? header.attributes : header.labels)) {
        wrong(i, "begins at an attribute or label that does not exist");
      }
      if (label(i) >= header.labels) wrong(i, "is for a label that does not exist");
      if (!std::isfinite(weight(i))) wrong(i, "has a weight that is not finite");
    }
  }
  std::uint64_t size() const { return n_; }
  std::uint64_t kind(std::uint64_t i) const { return file_.word(place(i)); }
  std::uint64_t source(std::uint64_t i) const { return file_.word(place(i) + 4); }
  std::uint64_t label(std::uint64_t i) const { return file_.word(place(i) + 8); }
  double weight(std::uint64_t i) const { return file_.number(place(i) + 12); }
  [[noreturn]] void wrong(std::uint64_t i, const std::string& problem) const {
    refuse(place(i), "feature " + std::to_string(i) + " " + problem);
  }

 private:
  std::uint64_t place(std::uint64_t i) const { return at_ + kChunk + i * kFeature; }
  const FileReader& file_;
  std::uint64_t at_, n_ = 0;
};

// The features of each attribute or label: feature[row_ptr[i]..row_ptr[i + 1]].
struct Lists {
  std::uint64_t at;
  std::vector<std::uint32_t> row_ptr{0}, feature{};
};

Lists read_lists(const FileReader& file, std::uint64_t at, std::string_view magic,
                 std::uint64_t count, const std::string& what) {
  const std::string name = "the lists of features by " + what;
  file.magic(at, magic, name);
  file.need(at + 4, 8, name);
  const std::uint64_t size = file.word(at + 4), n = file.word(at + 8);
  file.need(at, size, name);
  if (n < count) {  // CRFsuite writes two more labels, for the ends of a sequence, without lists
    refuse(at + 8, "there are lists for " + std::to_string(n) + " " + what + "s, the model has " +
                       std::to_string(count));
  }
  const std::uint64_t begin = at + kChunk + 4 * n, end = at + size;
  file.need_within(at, begin - at, name, end);
  const auto place = [&](std::uint64_t i) { return file.word(at + kChunk + 4 * i); };
  const auto check = [&](std::uint64_t i, bool inside) {
    if (inside) return;
    refuse(at + kChunk + 4 * i,
           "the features of " + what + " " + std::to_string(i) + " lie outside of their part");
  };
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    check(i, place(i) >= begin && place(i) + 4 <= end);
    const std::uint64_t length = file.word(place(i));
    check(i, place(i) + 4 + 4 * length <= end);
    taken += 4 + 4 * length;
  }
  if (taken > end - begin) refuse(at, name + " overlap");  // or a small file could make long lists
  Lists lists{.at = at};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = file.word(place(i));
    for (std::uint64_t j = 1; j <= length; ++j) {
      lists.feature.push_back(static_cast<std::uint32_t>(file.word(place(i) + 4 * j)));
    }
    lists.row_ptr.push_back(static_cast<std::uint32_t>(lists.feature.size()));
  }
  return lists;
}

// CRFsuite goes by the lists and looks at neither type nor source; here both must agree.
void check_owners(const Lists& lists, const Features& features, Features::Kind kind,
                  const std::string& what, std::vector<std::uint32_t>& listed) {
  const auto refuse_owner = [&](std::size_t i, const char* problem) {
    refuse(lists.at, what + " " + std::to_string(i) + problem);
  };
  const auto for_all = [&](auto&& each) {
    for (std::size_t i = 0; i + 1 < lists.row_ptr.size(); ++i) {
      for (std::size_t q = lists.row_ptr[i]; q < lists.row_ptr[i + 1]; ++q) {
        each(i, lists.feature[q]);
      }
    }
  };
  for_all([&](std::size_t i, std::uint32_t f) {
    if (f >= features.size()) refuse_owner(i, " lists a feature that does not exist");
  });
  for_all([&](std::size_t i, std::uint32_t f) {
    if (features.kind(f) != kind || features.source(f) != i) {
      refuse_owner(i, " lists a feature that belongs to another");
    }
    ++listed[f];
  });
}

// Brings the features of each owner into the order of their labels, of which none is there twice.
void sort_lists(Lists& lists, const Features& features) {
  const auto before = [&](std::uint32_t f, std::uint32_t g) {
    return features.label(f) < features.label(g);
  };
  for (std::size_t i = 0; i + 1 < lists.row_ptr.size(); ++i) {
    const auto begin = lists.feature.begin() + lists.row_ptr[i],
               end = lists.feature.begin() + lists.row_ptr[i + 1];
    if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
    const auto twice = std::adjacent_find(begin, end, [&](std::uint32_t f, std::uint32_t g) {
      return features.label(f) == features.label(g);
    });
    if (twice != end) features.wrong(twice[1], "has the same source and label as an earlier one");
  }
}

}  // namespace

void check_crfsuite_header(std::string_view head, std::size_t size) {
  const FileReader file(head);
  if (head.empty()) refuse(0, "the file is empty");
  file.magic(0, "lCRF", "the file");
  file.need(0, kCrfsuiteHeader, "the header");
  if (file.word(4) != size) {
    refuse(4, "the size of the file is given as " + bytes_of(file.word(4)) + ", but it has " +
                  std::to_string(size));
  }
}

CrfsuiteModel read_crfsuite(std::string_view data) {
  check_crfsuite_header(data, data.size());
  const FileReader file(data);
  const Header header = read_header(file);
  CrfsuiteModel model;
  read_names(file, header.label_names, header.labels, "label",
             [&](std::uint64_t, std::string_view name) { model.labels.emplace_back(name); });
  model.attributes = read_table(file, header.attribute_names, header.attributes, "attribute");
  read_table(file, header.label_names, header.labels, "label");  // none is there twice
  const Features features(file, header);
  Lists state = read_lists(file, header.attribute_lists, "AFRF", header.attributes, "attribute");
  Lists pairs = read_lists(file, header.label_lists, "LFRF", header.labels, "label");
  std::vector<std::uint32_t> listed(features.size());
  check_owners(state, features, Features::kState, "attribute", listed);
  check_owners(pairs, features, Features::kTransition, "label", listed);
  const auto other = std::find_if(listed.begin(), listed.end(), [](auto n) { return n != 1; });
  if (other != listed.end()) {
    features.wrong(static_cast<std::uint64_t>(other - listed.begin()),
                   "is listed " + std::to_string(*other) + " times, not once");
  }
  sort_lists(state, features);
  sort_lists(pairs, features);
  for (const std::uint32_t f : state.feature) {
    model.column.push_back(static_cast<std::uint32_t>(features.label(f)));
    model.weight.push_back(features.weight(f));
  }
  model.row_ptr = std::move(state.row_ptr);
  model.transition.assign(header.labels * header.labels, 0.0);
  for (const std::uint32_t f : pairs.feature) {
    model.transition[features.source(f) * header.labels + features.label(f)] = features.weight(f);
  }
  return model;
}

}  // namespace structlearn
