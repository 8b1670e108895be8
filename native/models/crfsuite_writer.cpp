#include "models/crfsuite_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <unordered_set>

namespace structlearn {
namespace {

constexpr std::size_t kHeader = 48, kTables = 256;

class FileWriter {
 public:
  std::size_t size() const { return data_.size(); }
  // As many numbers of 32 bits; where they are is returned.
  std::size_t skip(std::size_t words) {
    const std::size_t at = data_.size();
    data_.resize(at + 4 * words);
    return at;
  }
  void text(std::string_view s) { data_ += s; }
  void word(std::size_t x) { put(skip(1), x); }
  void number(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    word(static_cast<std::uint32_t>(bits));
    word(static_cast<std::uint32_t>(bits >> 32));
  }
  void put(std::size_t at, std::size_t x) {
    if (x > 0xFFFFFFFFu) throw std::invalid_argument("the model is too large for a CRFsuite file");
    const auto value = static_cast<std::uint32_t>(x);
    std::memcpy(data_.data() + at, &value, sizeof value);
  }
  void put(std::size_t at, std::string_view s) {
    std::memcpy(data_.data() + at, s.data(), s.size());
  }
  void align() { data_.resize((data_.size() + 3) / 4 * 4); }
  std::string done() { return std::move(data_); }

 private:
  std::string data_;
};

// A table of names: header, references to hash tables, records, hash tables, the offset of each
// record; offsets count from the beginning of the table.
void add_names(FileWriter& file, const std::vector<std::string_view>& names) {
  struct Entry {
    std::uint32_t hash;
    std::size_t offset;
  };
  const std::size_t begin = file.skip(6 + 2 * kTables);
  std::array<std::vector<Entry>, kTables> tables;
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t at = file.size() - begin;
    file.word(i);
    file.word(names[i].size() + 1);
    file.text(names[i]);
    file.text({"", 1});
    const std::uint32_t hash = jenkins_hash(std::string(names[i]) + '\0');
    tables[hash % kTables].push_back({hash, at});
    offsets.push_back(at);
  }
  for (std::size_t t = 0; t < kTables; ++t) {
    if (tables[t].empty()) continue;
    const std::size_t n = 2 * tables[t].size(), reference = begin + 4 * (6 + 2 * t);
    file.put(reference, file.size() - begin);
    file.put(reference + 4, n);
    std::vector<Entry> slots(n, {0, 0});  // offset 0: empty
    for (const Entry& entry : tables[t]) {
      std::size_t k = (entry.hash >> 8) % n;
      while (slots[k].offset != 0) k = (k + 1) % n;
      slots[k] = entry;
    }
    for (const Entry& slot : slots) {
      file.word(slot.hash);
      file.word(slot.offset);
    }
  }
  const std::size_t backward = names.empty() ? 0 : file.size() - begin;
  for (const std::size_t offset : offsets) file.word(offset);
  constexpr std::uint32_t kLowBytesFirst = 0x62445371;
  file.put(begin, "CQDB");
  file.put(begin + 4, file.size() - begin);
  file.put(begin + 12, kLowBytesFirst);
  file.put(begin + 16, names.size());
  file.put(begin + 20, backward);
}

// The numbers of the features of each label, or attribute: those of row r are [end[r - 1], end[r])
// of `first`, `first` + 1, ... `extra`: rows without a list.
void add_lists(FileWriter& file, std::string_view magic, std::size_t first,
               const std::vector<std::size_t>& end, std::size_t extra) {
  file.align();
  const std::size_t n = end.size() + extra, begin = file.skip(3 + n);
  std::size_t feature = first;
  for (std::size_t r = 0; r < end.size(); ++r) {
    file.put(begin + 12 + 4 * r, file.size());
    file.word(first + end[r] - feature);
    for (; feature < first + end[r]; ++feature) file.word(feature);
  }
  file.put(begin, magic);
  file.put(begin + 4, file.size() - begin);
  file.put(begin + 8, n);
}

void check(const CrfsuiteContent& content) {
  const std::size_t n = content.weight.size(), L = content.labels.size();
  const auto& rows = content.row_ptr;
  const bool fits = rows.size() == content.attributes.size() + 1 && rows.front() == 0 &&
                    rows.back() == n && std::is_sorted(rows.begin(), rows.end()) &&
                    content.column.size() == n && content.transition.size() == L * L &&
                    std::all_of(content.column.begin(), content.column.end(),
                                [&](std::uint32_t k) { return k < L; });
  if (!fits) throw std::invalid_argument("names and weights do not fit together");
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(content.weight.begin(), content.weight.end(), finite) ||
      !std::all_of(content.transition.begin(), content.transition.end(), finite)) {
    throw std::invalid_argument("a weight is not finite");
  }
  for (const auto* names : {&content.labels, &content.attributes}) {
    std::unordered_set<std::string_view> seen;
    for (const std::string_view name : *names) {
      const char* what = names == &content.labels ? "label '" : "attribute '";
      if (const std::size_t zero = name.find('\0'); zero != std::string_view::npos) {
        throw std::invalid_argument("the " + (what + std::string(name.substr(0, zero))) +
                                    "...' has a zero byte in it, which CRFsuite cannot read");
      }
      if (!seen.insert(name).second) {
        throw std::invalid_argument("the " + (what + std::string(name)) + "' is there twice");
      }
    }
  }
}

}  // namespace

std::uint32_t jenkins_hash(std::string_view key) {
  std::uint32_t a = 0xDEADBEEF + static_cast<std::uint32_t>(key.size()), b = a, c = a;
  const auto add = [&](std::string_view block) {
    std::array<std::uint32_t, 3> words{};
    std::memcpy(words.data(), block.data(), block.size());
    a += words[0];
    b += words[1];
    c += words[2];
  };
  for (; key.size() > 12; key.remove_prefix(12)) {
    add(key.substr(0, 12));
    for (const auto& [first, second] : {std::pair{4, 6}, {8, 16}, {19, 4}}) {
      a = (a - c) ^ std::rotl(c, first);
      c += b;
      b = (b - a) ^ std::rotl(a, second);
      a += c;
      // The three go round.
      const std::uint32_t last = a;
      a = c;
      c = b;
      b = last;
    }
  }
  add(key);
  for (const int k : {14, 11, 25, 16, 4, 14, 24}) {
    c = (c ^ b) - std::rotl(b, k);
    const std::uint32_t last = a;
    a = b;
    b = c;
    c = last;
  }
  return b;
}

std::string crfsuite_file(const CrfsuiteContent& content) {
  check(content);
  FileWriter file;
  file.skip(kHeader / 4);
  const std::size_t features = file.skip(3);
  std::vector<std::string_view> attributes;
  std::vector<std::size_t> end, pair_end;
  std::size_t n = 0;
  const auto feature = [&](std::size_t type, std::size_t from, std::size_t label, double weight) {
    file.word(type);
    file.word(from);
    file.word(label);
    file.number(weight);
    ++n;
  };
  for (std::size_t a = 0; a < content.attributes.size(); ++a) {
    const std::size_t before = n;
    for (std::size_t j = content.row_ptr[a]; j < content.row_ptr[a + 1]; ++j) {
      if (content.weight[j] == 0.0) continue;
      feature(0, attributes.size(), content.column[j], content.weight[j]);
    }
    if (n == before) continue;
    attributes.push_back(content.attributes[a]);
    end.push_back(n);
  }
  const std::size_t states = n, L = content.labels.size();
  for (std::size_t i = 0; i < L; ++i) {
    for (std::size_t j = 0; j < L; ++j) {
      const double weight = content.transition[i * L + j];
      if (weight != 0.0) feature(1, i, j, weight);
    }
    pair_end.push_back(n - states);
  }
  file.put(features, "FEAT");
  file.put(features + 4, file.size() - features);
  file.put(features + 8, n);
  std::array<std::size_t, 5> places{features};
  places[1] = file.size();
  add_names(file, content.labels);
  places[2] = file.size();
  add_names(file, attributes);
  file.align();
  places[3] = file.size();
  add_lists(file, "LFRF", states, pair_end, 2);  // CRFsuite writes two more, without lists
  file.align();
  places[4] = file.size();
  add_lists(file, "AFRF", 0, end, 0);
  file.put(0, "lCRF");
  file.put(4, file.size());
  file.put(8, "FOMC");
  file.put(12, std::size_t{100});
  file.put(20, L);
  file.put(24, attributes.size());
  for (std::size_t p = 0; p < places.size(); ++p) file.put(28 + 4 * p, places[p]);
  return file.done();
}

}  // namespace structlearn
