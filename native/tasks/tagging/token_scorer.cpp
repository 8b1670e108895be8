#include "tasks/tagging/token_scorer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "numeric/kernels.hpp"

namespace structlearn::text {
namespace {

// Numbers of strings that fit three to a code.
constexpr std::uint32_t kMostIds = 1u << 21;
constexpr std::uint64_t kUsed = std::uint64_t{1} << 63;

constexpr std::size_t kLongestOwn = 64;
// A slot's kind besides those of the table: a row of ours.
constexpr std::uint64_t kOwnRow = 3;

using Site = ScoringPlan::Site;

bool is_fixed(const Template& t, const std::vector<Attribute>& attributes) {
  const Attribute::Kind kind = attributes[t.atoms[0].attribute].kind;
  return t.atoms.size() == 1 && t.atoms[0].offset == 0 && !t.transition &&
         (kind == Attribute::Kind::kFirst || kind == Attribute::Kind::kLast ||
          kind == Attribute::Kind::kConstant);
}

bool contains(const std::vector<Site>& sites, const std::vector<Site>& of) {
  return std::all_of(of.begin(), of.end(), [&](const Site& site) {
    return std::find(sites.begin(), sites.end(), site) != sites.end();
  });
}

std::size_t place_of(const std::vector<Site>& sites, const Site& site) {
  return static_cast<std::size_t>(std::find(sites.begin(), sites.end(), site) - sites.begin());
}

// The groups from `first` on that read the same column end there.
std::size_t end_of_column(const std::vector<ScoringPlan::Group>& groups, std::size_t first) {
  std::size_t last = first;
  while (last < groups.size() && groups[last].sites[0].column == groups[first].sites[0].column) {
    ++last;
  }
  return last;
}

}  // namespace

ScoringPlan::ScoringPlan(const FeatureSet& features) {
  const auto& attributes = features.attributes();
  const auto& templates = features.templates();
  planned.assign(templates.size(), 0);
  std::vector<std::vector<Site>> sites(templates.size());
  std::vector<std::uint8_t> narrow;  // by column: of few values
  for (std::size_t n = 0; n < templates.size(); ++n) {
    const Template& t = templates[n];
    if (t.transition) continue;
    if (t.spelling != Spelling::kNone) {
      all_planned = false;
      continue;
    }
    if (is_fixed(t, attributes)) {
      planned[n] = 1;
      fixed.push_back(
          {nonzero(combine(hash_string(t.text), kYes)), attributes[t.atoms[0].attribute].kind});
      continue;
    }
    planned[n] = 1;
    for (const Atom& atom : t.atoms) {
      const Attribute& a = attributes[atom.attribute];
      if (!a.follows_from_string()) planned[n] = 0;
      const Site site{a.column, atom.offset};
      if (!contains(sites[n], {site})) sites[n].push_back(site);
      narrow.resize(std::max(narrow.size(), a.column + 1));
    }
    if (sites[n].size() > kMostSites) planned[n] = 0;
    if (!planned[n]) {
      all_planned = false;
      continue;
    }
    const std::size_t column = sites[n][0].column;
    const bool same = std::all_of(t.atoms.begin(), t.atoms.end(), [&](const Atom& atom) {
      const Attribute& a = attributes[atom.attribute];
      return a.column == column && a.kind == Attribute::Kind::kString && !a.function;
    });
    if (same && sites[n].size() >= 3) narrow[column] = 1;
  }
  const auto is_narrow = [&](const std::vector<Site>& s) {
    return std::all_of(s.begin(), s.end(), [&](const Site& x) { return narrow[x.column] != 0; });
  };
  // The groups: all sites that no other template has among its own, where values are few; otherwise
  // the same sites.
  std::vector<Group> groups;
  for (std::size_t size = kMostSites; size > 0; --size) {
    for (std::size_t n = 0; n < templates.size(); ++n) {
      if (!planned[n] || sites[n].size() != size) continue;  // those of no site are fixed
      const bool few = is_narrow(sites[n]);
      auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
        return contains(g.sites, sites[n]) &&
               (g.sites.size() == sites[n].size() || (few && is_narrow(g.sites)));
      });
      if (group == groups.end()) {
        groups.push_back({sites[n], {}});
        group = groups.end() - 1;
      }
      Member member{hash_string(templates[n].text), templates[n].mark_boundaries, {}};
      for (const Atom& atom : templates[n].atoms) {
        const Site site{attributes[atom.attribute].column, atom.offset};
        member.parts.push_back({atom.attribute, place_of(group->sites, site)});
        pad = std::max(pad, static_cast<std::size_t>(std::abs(atom.offset)));
      }
      group->members.push_back(std::move(member));
    }
  }
  for (Group& group : groups) {
    for (const Site& site : group.sites) {
      if (std::find(columns.begin(), columns.end(), site.column) == columns.end()) {
        columns.push_back(site.column);
      }
    }
    const bool one_place = group.sites.size() == 1;
    const bool alone = group.members.size() == 1;
    auto& kind = one_place && alone                    ? single
                 : one_place || is_narrow(group.sites) ? summed
                                                       : direct;
    kind.push_back(std::move(group));
  }
  std::stable_sort(single.begin(), single.end(), [](const Group& a, const Group& b) {
    return a.sites[0].column < b.sites[0].column;
  });
}

// Numbers of strings begin behind those of the places beyond a sentence: before it at distance 1,
// 2, ..., then after it.
std::uint64_t TokenScorer::key(const ScoringPlan::Member& member, const std::uint32_t* const* ids,
                               const Extractor& extractor) const {
  std::uint64_t key = member.seed;
  for (const ScoringPlan::Part& part : member.parts) {
    const std::uint32_t id = *ids[part.site];
    std::uint64_t value = 0;
    if (id < boundary_.size()) {
      if (member.mark) value = boundary_[id];
    } else {
      const std::uint32_t string = id - static_cast<std::uint32_t>(boundary_.size());
      const std::uint64_t* values = value_[part.attribute];
      value = values ? values[string] : extractor.value_of(part.attribute, string);
    }
    if (value == 0) return 0;
    key = combine(key, value);
  }
  return nonzero(key);
}

std::size_t TokenScorer::Memory::add(std::uint64_t code) {
  if (code != 0 && 2 * ++used > place.size()) {
    double_table(
        place, Place{}, [](const Place& p) { return p.code != 0; },
        [&](const Place& p) { return (p.code * kHashA) >> 32; });
  }
  const std::size_t row = rows.add();
  if (code != 0) place[find(code)] = {code, row};
  return row;
}

void TokenScorer::Memory::reset(std::size_t outcomes) {
  place.assign(1024, {});
  rows.reset(outcomes);
  used = 0;
}

// Weights of several labels become a row of ours where rows are short; other slots stay. There are
// no more of them than the model has features of one string.
std::uint64_t TokenScorer::as_row(std::uint64_t word, const WeightTable& table,
                                  std::size_t outcomes) {
  if (word == 0 || slot::kind(word) == slot::kSingle || outcomes > kLongestOwn) return word;
  const std::size_t row = own_.add();
  total_.assign(outcomes, 0.0);
  table.add(word, 1.0, outcomes, total_.data());
  std::transform(total_.begin(), total_.end(), own_[row],
                 [](double x) { return static_cast<float>(x); });
  return slot::make(kOwnRow, 0, row);
}

void TokenScorer::sum(const ScoringPlan::Group& group, const std::uint32_t* const* ids,
                      const WeightTable& table, const Extractor& extractor, std::size_t outcomes,
                      double* row) const {
  for (const ScoringPlan::Member& member : group.members) {
    const std::uint64_t k = key(member, ids, extractor);
    if (k == 0) continue;
    if (const std::uint64_t word = table.find(k); word != 0) table.add(word, 1.0, outcomes, row);
  }
}

void TokenScorer::prepare(const ScoringPlan& plan, const WeightTable& table,
                          const Extractor& extractor, const Corpus& corpus, std::size_t outcomes) {
  if (stamp_ != extractor.stamp()) {
    stamp_ = extractor.stamp();
    boundary_.clear();
    for (const std::ptrdiff_t side : {-1, 1}) {
      for (std::size_t d = 1; d <= plan.pad; ++d) {
        boundary_.push_back(boundary_value(side * static_cast<std::ptrdiff_t>(d)));
      }
    }
    memory_.assign(plan.summed.size(), {});
    for (Memory& memory : memory_) memory.reset(outcomes);
    word_.assign(corpus.columns().size(), {});
    own_.reset(outcomes);
    fixed_.clear();
    for (const ScoringPlan::Fixed& f : plan.fixed) fixed_.push_back(table.find(f.key));
  }
  value_.clear();
  for (std::size_t a = 0; a < extractor.features().attributes().size(); ++a) {
    value_.push_back(extractor.values_of(a));
  }
  for (Memory& memory : memory_) {
    if (memory.rows.bytes() > most_bytes_) memory.reset(outcomes);
  }
  for (std::size_t first = 0, last; first < plan.single.size(); first = last) {
    const std::size_t column = plan.single[first].sites[0].column;
    last = end_of_column(plan.single, first);
    std::vector<std::uint64_t>& words = word_[column];
    const std::size_t all = boundary_.size() + corpus.columns()[column].strings.size();
    for (std::size_t n = words.size() / (last - first); n < all; ++n) {
      const auto id = static_cast<std::uint32_t>(n);
      const std::uint32_t* ids[1] = {&id};
      for (std::size_t g = first; g < last; ++g) {
        const std::uint64_t k = key(plan.single[g].members[0], ids, extractor);
        words.push_back(k == 0 ? 0 : as_row(table.find(k), table, outcomes));
      }
    }
  }
}

void TokenScorer::add(const ScoringPlan& plan, const WeightTable& table, const Extractor& extractor,
                      const Corpus& corpus, std::size_t sentence, std::size_t outcomes,
                      double* theta) {
  if (table.slots.empty() || (plan.columns.empty() && plan.fixed.empty())) return;
  prepare(plan, table, extractor, corpus, outcomes);
  const std::size_t begin = corpus.sentence(sentence), L = corpus.sentence(sentence + 1) - begin;
  const std::size_t pad = plan.pad;
  ids_.resize(corpus.columns().size());
  for (const std::size_t c : plan.columns) {
    std::vector<std::uint32_t>& ids = ids_[c];
    ids.resize(L + 2 * pad);
    for (std::size_t d = 1; d <= pad; ++d) {
      ids[pad - d] = static_cast<std::uint32_t>(d - 1);
      ids[pad + L + d - 1] = static_cast<std::uint32_t>(pad + d - 1);
    }
    const std::uint32_t* cell = corpus.columns()[c].cell.data() + begin;
    const auto first = static_cast<std::uint32_t>(2 * pad);
    for (std::size_t t = 0; t < L; ++t) ids[pad + t] = first + cell[t];
  }
  const auto at = [&](const ScoringPlan::Group& group, const std::uint32_t** ids) {
    for (std::size_t i = 0; i < group.sites.size(); ++i) {
      ids[i] = ids_[group.sites[i].column].data() + static_cast<std::ptrdiff_t>(pad) +
               group.sites[i].offset;
    }
  };
  const std::uint32_t* ids[ScoringPlan::kMostSites];

  // Everything is asked for first, and added afterwards.
  const std::size_t S = plan.summed.size();
  code_.resize(S * L);
  for (std::size_t g = 0; g < S; ++g) {
    at(plan.summed[g], ids);
    const std::size_t sites = plan.summed[g].sites.size();
    for (std::size_t t = 0; t < L; ++t) {
      std::uint64_t code = 0;
      std::uint32_t largest = 0;
      for (std::size_t i = 0; i < sites; ++i) {
        code = code << 21 | ids[i][t];
        largest = std::max(largest, ids[i][t]);
      }
      code = largest < kMostIds ? code | kUsed : 0;
      code_[t * S + g] = code;
      memory_[g].prefetch(code);
    }
  }
  std::size_t direct = 0;
  for (const ScoringPlan::Group& group : plan.direct) direct += group.members.size();
  keys_.resize(direct * L);
  std::size_t column = 0;
  for (const ScoringPlan::Group& group : plan.direct) {
    at(group, ids);
    for (std::size_t t = 0; t < L; ++t) {
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        const std::uint64_t k = key(group.members[m], ids, extractor);
        keys_[t * direct + column + m] = k;
        if (k != 0) table.prefetch(k);
      }
      for (std::size_t i = 0; i < group.sites.size(); ++i) ++ids[i];
    }
    column += group.members.size();
  }
  const std::size_t W = plan.single.size() + direct;
  words_.resize(W * L);
  for (std::size_t first = 0, last; first < plan.single.size(); first = last) {
    last = end_of_column(plan.single, first);
    const std::size_t stride = last - first;
    const std::uint64_t* word = word_[plan.single[first].sites[0].column].data();
    for (std::size_t g = first; g < last; ++g) {
      at(plan.single[g], ids);
      for (std::size_t t = 0; t < L; ++t) {
        const std::uint64_t w = word[ids[0][t] * stride + g - first];
        words_[t * W + g] = w;
        if (slot::kind(w) == kOwnRow) {
          own_.prefetch(slot::low(w));
        } else {
          table.prefetch_weights(w);
        }
      }
    }
  }
  for (std::size_t t = 0; t < L; ++t) {
    for (std::size_t j = 0; j < direct; ++j) {
      const std::uint64_t k = keys_[t * direct + j];
      const std::uint64_t word = k == 0 ? 0 : table.find(k);
      words_[t * W + plan.single.size() + j] = word;
      table.prefetch_weights(word);
    }
  }

  // From here on codes give way to the places of their rows.
  for (std::size_t g = 0; g < S; ++g) {
    Memory& memory = memory_[g];
    for (std::size_t t = 0; t < L; ++t) {
      const std::uint64_t code = code_[t * S + g];
      const Memory::Place& place = memory.place[memory.find(code)];
      std::size_t row = place.row;
      if (place.code != code || code == 0) {
        at(plan.summed[g], ids);
        for (std::size_t i = 0; i < plan.summed[g].sites.size(); ++i) ids[i] += t;
        row = memory.add(code);
        sum(plan.summed[g], ids, table, extractor, outcomes, memory.rows[row]);
      }
      code_[t * S + g] = row;
      memory.rows.prefetch(row);
    }
  }

  const auto add_rows = kernels().add_rows;
  for (std::size_t t = 0; t < L; ++t, theta += outcomes) {
    rows_.clear();
    sums_.clear();
    for (std::size_t g = 0; g < S; ++g) sums_.push_back(memory_[g].rows[code_[t * S + g]]);
    for (std::size_t j = 0; j < W; ++j) {
      const std::uint64_t word = words_[t * W + j];
      if (word == 0) continue;
      if (slot::kind(word) == slot::kRow) {
        rows_.push_back(table.weight.data() + slot::low(word));
      } else if (slot::kind(word) == kOwnRow) {
        rows_.push_back(own_[slot::low(word)]);
      } else {
        table.add(word, 1.0, outcomes, theta);
      }
    }
    for (std::size_t f = 0; f < fixed_.size(); ++f) {
      const Attribute::Kind kind = plan.fixed[f].kind;
      const bool here = kind == Attribute::Kind::kConstant ||
                        (kind == Attribute::Kind::kFirst ? t == 0 : t + 1 == L);
      if (here && fixed_[f] != 0) table.add(fixed_[f], 1.0, outcomes, theta);
    }
    add_rows(sums_.data(), S, rows_.data(), rows_.size(), outcomes, theta);
  }
}

}  // namespace structlearn::text
