#include "text/vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace structlearn::text {
namespace {

constexpr std::size_t kMostLabels = 65000;
constexpr std::size_t kFirstLabels = 64;  // that have a bit

std::vector<SeenPair> used_pairs(const OpenTable<SeenPair>& table) {
  std::vector<SeenPair> used;
  std::copy_if(table.slots().begin(), table.slots().end(), std::back_inserter(used),
               [](const SeenPair& pair) { return pair.used(); });
  return used;
}

void sort_pairs(std::vector<SeenPair>& pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const SeenPair& a, const SeenPair& b) {
    return a.feature != b.feature ? a.feature < b.feature : a.label < b.label;
  });
}

// The labels that a feature was seen with, in the order of their numbers; `next` moves on in the
// sorted pairs.
template <class Use>
void each_label(std::uint64_t bits, std::uint32_t feature, const std::vector<SeenPair>& later,
                std::size_t& next, Use use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<std::uint32_t>(std::countr_zero(bits)));
  for (; next < later.size() && later[next].feature == feature; ++next) use(later[next].label);
}

template <class Numbers>
void remap(std::vector<std::int64_t>& begin, Numbers& feature, std::vector<double>* value,
           const std::vector<std::uint32_t>& moved) {
  std::size_t kept = 0, j = 0;
  for (std::size_t row = 0; row + 1 < begin.size(); ++row) {
    const auto end = static_cast<std::size_t>(begin[row + 1]);
    for (; j < end; ++j) {
      const std::uint32_t id = moved[static_cast<std::size_t>(feature[j])];
      if (id == FeatureIndex::kAbsent) continue;
      if (value && !value->empty()) (*value)[kept] = (*value)[j];
      feature[kept++] = static_cast<std::int32_t>(id);
    }
    begin[row + 1] = static_cast<std::int64_t>(kept);
  }
  feature.resize(kept);
  if (value && !value->empty()) value->resize(kept);
}

template <class T>
std::vector<T> moved_to(const std::vector<T>& old, const std::vector<std::uint32_t>& moved,
                        std::size_t n) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] != FeatureIndex::kAbsent) out[moved[i]] = old[i];
  }
  return out;
}

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const FeatureSet> features, std::size_t target,
                       std::size_t width, std::string unknown)
    : features_(std::move(features)), target_(target), width_(width), unknown_(std::move(unknown)) {
  if (width_ != 0 && !std::has_single_bit(width_)) {
    throw std::invalid_argument("the width of hashed features must be a power of two");
  }
  seen_.resize(width_, 0);
}

std::uint32_t Vocabulary::number(std::uint64_t key, std::uint32_t times) {
  if (width_) return static_cast<std::uint32_t>(key & (width_ - 1));
  const std::uint32_t id = index_.add(key, times);
  if (id >= seen_.size()) seen_.resize(id + 1, 0);
  return id;
}

std::uint32_t Vocabulary::find(std::uint64_t key) const {
  if (width_) return static_cast<std::uint32_t>(key & (width_ - 1));
  return index_.find(key);
}

void Vocabulary::observe(std::uint32_t feature, std::uint32_t label) {
  if (label < kFirstLabels) {
    seen_[feature] |= std::uint64_t{1} << label;
    return;
  }
  const SeenPair pair{feature, label};
  SeenPair& slot = later_.find(
      pair.home(), [&](const SeenPair& s) { return s.feature == feature && s.label == label; });
  if (!slot.used()) later_.fill(slot, pair);
}

std::uint32_t Vocabulary::add_label(std::string_view label) {
  const std::uint32_t id = label_.add(label);
  if (id >= kMostLabels) {
    throw std::invalid_argument("the target column has more than " + std::to_string(kMostLabels) +
                                " different values: is it the right column?");
  }
  return id;
}

void Vocabulary::add_feature(std::uint64_t key, const std::vector<std::uint32_t>& labels) {
  if (!width_) index_.count_often(key);
  const std::uint32_t id = number(key);
  if (!width_ && id >= sighting_.size()) sighting_.push_back({});
  for (const std::uint32_t label : labels) observe(id, label);
}

Vocabulary::Counts Vocabulary::counts() const {
  if (frozen_) throw std::logic_error("the vocabulary is frozen");
  Counts out;
  if (!width_) {
    out.key = index_.keys();
    out.times = index_.counts();
  }
  out.row_ptr.push_back(0);
  std::vector<SeenPair> later = used_pairs(later_);
  sort_pairs(later);
  std::size_t next = 0;
  for (std::size_t f = 0; f < size(); ++f) {
    const std::size_t before = out.column.size();
    each_label(seen_[f], static_cast<std::uint32_t>(f), later, next,
               [&](std::uint32_t label) { out.column.push_back(label); });
    if (width_ && out.column.size() == before) continue;
    if (width_) {
      out.key.push_back(f);
      out.times.push_back(1);
    }
    out.row_ptr.push_back(static_cast<std::uint32_t>(out.column.size()));
  }
  for (std::uint32_t k = 0; k < label_.size(); ++k) out.label.emplace_back(label_[k]);
  out.pair_key = pair_index_.keys();
  out.pair_times = pair_index_.counts();
  return out;
}

void Vocabulary::add_counts(const Counts& counts) {
  if (frozen_) throw std::logic_error("the vocabulary is frozen");
  const std::size_t n = counts.key.size();
  if (counts.times.size() != n || counts.row_ptr.size() != n + 1 ||
      counts.row_ptr.back() != counts.column.size() ||
      counts.pair_key.size() != counts.pair_times.size()) {
    throw std::invalid_argument("the counts do not fit together");
  }
  std::vector<std::uint32_t> label;
  for (const std::string& name : counts.label) label.push_back(add_label(name));
  for (const std::uint32_t k : counts.column) {
    if (k >= label.size()) throw std::invalid_argument("counts of a label without a name");
  }
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint32_t id = number(counts.key[f], counts.times[f]);
    if (!width_ && id >= sighting_.size()) sighting_.push_back({});
    for (std::size_t j = counts.row_ptr[f]; j < counts.row_ptr[f + 1]; ++j) {
      observe(id, label[counts.column[j]]);
    }
  }
  for (std::size_t f = 0; f < counts.pair_key.size(); ++f) {
    const std::uint32_t id = pair_index_.add(counts.pair_key[f], counts.pair_times[f]);
    if (id >= pair_sighting_.size()) pair_sighting_.push_back({});
  }
}

void Vocabulary::add(Extractor& extractor, const Corpus& corpus, std::size_t from, std::size_t to,
                     TokenRows* rows) {
  if (frozen_) throw std::logic_error("the vocabulary is frozen");
  const Column& target = corpus.columns()[target_];
  label_of_cell_.assign(target.strings.size(), FeatureIndex::kAbsent);
  if (rows) {
    const std::size_t tokens = corpus.sentence(to) - corpus.sentence(from);
    rows->begin.reserve(rows->begin.size() + tokens);
    rows->label.reserve(rows->label.size() + tokens);
    rows->feature.reserve(rows->feature.size() + tokens * features_->templates().size());
  }
  auto set = first_set(corpus.sets(), corpus.sentence(from));
  std::vector<std::int32_t> members;
  for (std::size_t s = from; s < to; ++s, ++sentences_) {
    const std::size_t begin = corpus.sentence(s), n = corpus.sentence(s + 1) - begin;
    const std::uint32_t copies = corpus.copies(s);
    extractor.keys(s, false, keys_);
    number_.resize(keys_.key.size());
    std::size_t j = 0;
    for (std::size_t t = 0; t < n; ++t) {
      const std::uint32_t cell = target.cell[begin + t];
      std::uint32_t& label = label_of_cell_[cell];
      if (label == FeatureIndex::kAbsent && target.strings[cell] != unknown_) {
        label = add_label(target.strings[cell]);
      }
      for (; j < keys_.end[t]; ++j) {
        if (j + kAhead < keys_.key.size()) index_.prefetch(keys_.key[j + kAhead]);
        const std::uint32_t id = number(keys_.key[j], copies);
        if (!width_ && id >= sighting_.size()) {
          sighting_.push_back({static_cast<std::uint32_t>(sentences_),
                               static_cast<std::uint32_t>(t), keys_.origin[j]});
        }
        number_[j] = id;
        __builtin_prefetch(&seen_[id], 1);
        if (rows) rows->feature.push_back(static_cast<std::int32_t>(id));
      }
      if (rows) {
        rows->begin.push_back(static_cast<std::int64_t>(rows->feature.size()));
        rows->label.push_back(label == FeatureIndex::kAbsent ? -1
                                                             : static_cast<std::int32_t>(label));
      }
    }
    // What was asked for is here by now.
    j = 0;
    for (std::size_t t = 0; t < n; ++t) {
      const std::uint32_t label = label_of_cell_[target.cell[begin + t]];
      members.clear();
      if (set != corpus.sets().end() && set->token == begin + t) {
        for (const std::string& one : set->labels) {
          members.push_back(static_cast<std::int32_t>(add_label(one)));
        }
        if (rows) rows->add_set(rows->label.size() - n + t, members);
        ++set;
      }
      for (; j < keys_.end[t]; ++j) {
        if (label != FeatureIndex::kAbsent) observe(number_[j], label);
        for (const std::int32_t one : members) observe(number_[j], static_cast<std::uint32_t>(one));
      }
    }
    if (rows) {
      rows->value.insert(rows->value.end(), keys_.value.begin(), keys_.value.end());
      rows->sentence.push_back(static_cast<std::int64_t>(rows->label.size()));
    }
    if (!features_->has_transitions()) continue;
    extractor.keys(s, true, keys_);
    j = 0;
    for (std::size_t t = 1; t < n; ++t) {
      for (; j < keys_.end[t - 1]; ++j) {
        const std::uint32_t id = pair_index_.add(keys_.key[j], copies);
        if (id >= pair_sighting_.size()) {
          pair_sighting_.push_back({static_cast<std::uint32_t>(sentences_),
                                    static_cast<std::uint32_t>(t), keys_.origin[j]});
        }
        if (rows) rows->pair_feature.push_back(static_cast<std::int32_t>(id));
      }
      if (rows) rows->pair_begin.push_back(static_cast<std::int64_t>(rows->pair_feature.size()));
    }
    if (rows) {
      rows->pair_sentence.push_back(static_cast<std::int64_t>(rows->pair_begin.size()) - 1);
    }
  }
}

void Vocabulary::freeze(std::size_t min_count, std::size_t fill, TokenRows* rows) {
  frozen_ = true;
  // Labels in sorted order, whatever order the corpus has them in.
  std::vector<std::uint32_t> order(label_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return label_[a] < label_[b]; });
  label_order_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    label_order_[order[i]] = static_cast<std::int32_t>(i);
    labels_.emplace_back(label_[order[i]]);
  }
  std::vector<SeenPair> later = used_pairs(later_);
  later_ = OpenTable<SeenPair>();
  if (min_count > 1 && !width_) {
    const std::vector<std::uint32_t> moved = index_.keep(static_cast<std::uint32_t>(min_count));
    sighting_ = moved_to(sighting_, moved, index_.size());
    seen_ = moved_to(seen_, moved, index_.size());
    for (SeenPair& pair : later) pair.feature = moved[pair.feature];
    if (rows) remap(rows->begin, rows->feature, &rows->value, moved);
    if (pair_index_.size() > 0) {
      const auto pairs = pair_index_.keep(static_cast<std::uint32_t>(min_count));
      pair_sighting_ = moved_to(pair_sighting_, pairs, pair_index_.size());
      if (rows) remap(rows->pair_begin, rows->pair_feature, nullptr, pairs);
    }
  }
  if (rows) {
    for (std::int32_t& label : rows->label) {
      if (label >= 0) label = label_order_[static_cast<std::size_t>(label)];
    }
    for (std::int32_t& label : rows->set_label) {
      label = label_order_[static_cast<std::size_t>(label)];
    }
  }
  sort_pairs(later);  // features that are gone, with the largest number, come last
  std::size_t next = 0;
  row_ptr_.assign(1, 0);
  row_ptr_.reserve(size() + 1);
  std::vector<std::uint32_t> labels;
  for (std::size_t f = 0; f < size(); ++f) {
    labels.clear();
    each_label(seen_[f], static_cast<std::uint32_t>(f), later, next, [&](std::uint32_t label) {
      labels.push_back(static_cast<std::uint32_t>(label_order_[label]));
    });
    if (fill > 0 && labels.size() >= fill) {
      labels.resize(labels_.size());
      std::iota(labels.begin(), labels.end(), 0u);
    }
    std::sort(labels.begin(), labels.end());
    column_.insert(column_.end(), labels.begin(), labels.end());
    row_ptr_.push_back(static_cast<std::uint32_t>(column_.size()));
  }
  std::vector<std::uint64_t>().swap(seen_);
}

std::int32_t Vocabulary::read_label(const Corpus& corpus, std::size_t token) const {
  if (target_ >= corpus.columns().size()) return -1;
  const Column& column = corpus.columns()[target_];
  const std::string_view text = column.strings[column.cell[token]];
  return text == unknown_ ? -1 : find_label(corpus, token, text);
}

std::int32_t Vocabulary::find_label(const Corpus& corpus, std::size_t token,
                                    std::string_view text) const {
  const auto at = std::lower_bound(labels_.begin(), labels_.end(), text);
  if (at == labels_.end() || *at != text) {
    throw BadLine(corpus.line_number(token),
                  "the label '" + std::string(text) + "' is not one that training had");
  }
  return static_cast<std::int32_t>(at - labels_.begin());
}

void Vocabulary::rows(Extractor& extractor, const Corpus& corpus, std::size_t from, std::size_t to,
                      TokenRows& out) const {
  Keys keys;
  auto set = first_set(corpus.sets(), corpus.sentence(from));
  std::vector<std::int32_t> members;
  for (std::size_t s = from; s < to; ++s) {
    const std::size_t begin = corpus.sentence(s), n = corpus.sentence(s + 1) - begin;
    extractor.keys(s, false, keys);
    std::size_t j = 0;
    for (std::size_t t = 0; t < n; ++t) {
      for (; j < keys.end[t]; ++j) {
        if (!width_ && j + kAhead < keys.key.size()) index_.prefetch(keys.key[j + kAhead]);
        const std::uint32_t id = find(keys.key[j]);
        if (id == FeatureIndex::kAbsent) continue;
        out.feature.push_back(static_cast<std::int32_t>(id));
        if (!keys.value.empty()) out.value.push_back(keys.value[j]);
      }
      out.begin.push_back(static_cast<std::int64_t>(out.feature.size()));
      if (set != corpus.sets().end() && set->token == begin + t) {
        members.clear();
        for (const std::string& one : set->labels) {
          members.push_back(find_label(corpus, begin + t, one));
        }
        out.add_set(out.label.size(), members);
        ++set;
      }
      out.label.push_back(read_label(corpus, begin + t));
    }
    out.sentence.push_back(static_cast<std::int64_t>(out.label.size()));
    if (!features_->has_transitions()) continue;
    extractor.keys(s, true, keys);
    j = 0;
    for (std::size_t t = 1; t < n; ++t) {
      for (; j < keys.end[t - 1]; ++j) {
        const std::uint32_t id = pair_index_.find(keys.key[j]);
        if (id != FeatureIndex::kAbsent) out.pair_feature.push_back(static_cast<std::int32_t>(id));
      }
      out.pair_begin.push_back(static_cast<std::int64_t>(out.pair_feature.size()));
    }
    out.pair_sentence.push_back(static_cast<std::int64_t>(out.pair_begin.size()) - 1);
  }
}

}  // namespace structlearn::text
