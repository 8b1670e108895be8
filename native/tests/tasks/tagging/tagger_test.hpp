// Trained taggers: weights packed and unpacked, forged tables, labels filled into text.
#pragma once

#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/queries.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/reader.hpp"
#include "tests/text/text_test.hpp"

namespace test {

inline void test_packing() {
  Draw draw(5);
  for (int trial = 0; trial < 300; ++trial) {
    const bool hashed = draw.chance(0.3);
    const std::size_t outcomes = 1 + draw.below(12);
    const std::size_t features = hashed ? std::size_t{1} << draw.below(6) : draw.below(40);
    const double prune = draw.chance(0.5) ? 0.0 : 0.3;
    context = "packing " + std::to_string(trial);
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> row_ptr{0}, column;
    std::vector<double> w;
    std::map<std::pair<std::uint64_t, std::uint32_t>, float> truth;
    std::set<std::uint64_t> alive;
    for (std::size_t f = 0; f < features; ++f) {
      const std::uint64_t key = hashed ? f : (f + 1) << (draw.chance(0.5) ? 40 : 0);
      if (!hashed)
        keys.push_back(std::find(keys.begin(), keys.end(), key) == keys.end() ? key
                                                                              : (f + 1) << 20);
      for (std::uint32_t k = 0; k < outcomes; ++k) {
        if (!draw.chance(0.4)) continue;
        column.push_back(k);
        w.push_back(draw.chance(0.2) ? 0.0 : draw.between(-1.0, 1.0));
        if (std::abs(w.back()) > prune) {
          truth[{hashed ? f : keys.back(), k}] = static_cast<float>(w.back());
          alive.insert(hashed ? f : keys.back());
        }
      }
      row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
    }
    const WeightArrays a = pack(keys, row_ptr, column, w, outcomes, prune);
    const bool folded = keys.empty();
    const WeightTable table{a.slots, a.weight, a.outcome, folded};
    table.check(outcomes);
    const UnpackedWeights u = unpack(table, outcomes);
    std::map<std::pair<std::uint64_t, std::uint32_t>, float> found;
    for (std::size_t f = 0; f < u.keys.size(); ++f) {
      for (std::uint32_t q = u.row_ptr[f]; q < u.row_ptr[f + 1]; ++q) {
        found[{folded ? f : u.keys[f], u.column[q]}] = static_cast<float>(u.weight[q]);
      }
    }
    CHECK(found == truth);
    if (!folded) {
      CHECK(std::is_sorted(u.keys.begin(), u.keys.end()));
      CHECK(std::set<std::uint64_t>(u.keys.begin(), u.keys.end()) == alive);
    }
    CHECK(a.kept.size() == alive.size());
    // One by one, as labelling looks them up.
    TaggerWeights weights;
    weights.labels = outcomes;
    weights.state = table;
    weights.transition.assign(1, std::vector<double>(outcomes * outcomes, 0.0));
    const TaggerModel model(random_features(draw, false), weights);
    for (std::size_t f = 0; f < features; ++f) {
      std::vector<double> row(outcomes, 0.0);
      const std::uint64_t key = folded ? f : keys[f];
      model.weights_of(key, false, row.data());
      for (std::uint32_t k = 0; k < outcomes; ++k) {
        const auto at = truth.find({key, k});
        CHECK_NEAR(row[k], at == truth.end() ? 0.0 : static_cast<double>(at->second), 0.0);
      }
    }
  }
}

// Scores that are partly remembered against those of all keys.
inline void test_token_scorer() {
  Draw draw(9);
  std::size_t planned = 0, by_keys = 0;
  for (int trial = 0; trial < 200; ++trial) {
    context = "token scorer " + std::to_string(trial);
    const std::size_t outcomes = 1 + draw.below(30);
    const bool hashed = draw.chance(0.2);
    auto features = random_features(draw, false);
    if (draw.chance(0.7)) {  // what people write: few places, strings and functions of them
      std::vector<structlearn::text::Template> templates = features->templates();
      for (std::size_t n = 3 + draw.below(8); n > 0; --n) {
        structlearn::text::Template t;
        t.text = "s" + std::to_string(n);
        t.mark_boundaries = draw.chance(0.5);
        for (std::size_t k = 1 + draw.below(3); k > 0; --k) {
          t.atoms.push_back({draw.below(3), static_cast<std::ptrdiff_t>(draw.below(5)) - 2});
        }
        templates.push_back(std::move(t));
      }
      features = std::make_shared<FeatureSet>(features->attributes(), std::move(templates));
    }
    const ScoringPlan plan(*features);
    planned += static_cast<std::size_t>(
        std::count(plan.planned.begin(), plan.planned.end(), std::uint8_t{1}));
    by_keys += plan.all_planned ? 0 : 1;
    Corpus corpus(Format::kColumns);
    Extractor extractor(features, corpus);
    TokenScorer scorer(draw.chance(0.5) ? 100 : std::size_t{1} << 20);
    SlotScratch slots;
    Keys keys;
    for (int round = 0; round < 3; ++round) {
      corpus.read(random_text(draw, 6, '\t'));
      extractor.update();
      std::set<std::uint64_t> seen;
      for (std::size_t s = 0; s < corpus.sentences(); ++s) {
        extractor.keys(s, false, keys);
        seen.insert(keys.key.begin(), keys.key.end());
      }
      static std::vector<std::uint64_t> known;  // a model has its weights before it meets a text
      static std::vector<std::uint32_t> row_ptr, column;
      static std::vector<double> w;
      static WeightArrays arrays;
      if (round == 0) {
        known.clear(), row_ptr.assign(1, 0), column.clear(), w.clear();
        const std::size_t width = 64;
        for (const std::uint64_t key : seen) {
          if (!hashed && draw.chance(0.3)) continue;
          if (hashed && row_ptr.size() > width) break;
          known.push_back(key);
          const double share = draw.chance(0.4) ? 0.05 : draw.chance(0.5) ? 0.2 : 0.9;
          for (std::uint32_t k = 0; k < outcomes; ++k) {
            if (!draw.chance(share)) continue;
            column.push_back(k);
            w.push_back(draw.between(-2.0, 2.0));
          }
          row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
        }
        if (hashed) {
          known.clear();
          row_ptr.resize(width + 1, static_cast<std::uint32_t>(column.size()));
        }
        arrays = pack(known, row_ptr, column, w, outcomes, 0.0);
      }
      const WeightTable table{arrays.slots, arrays.weight, arrays.outcome, hashed};
      for (std::size_t s = 0; s < corpus.sentences(); ++s) {
        const std::size_t L = corpus.sentence(s + 1) - corpus.sentence(s);
        std::vector<double> all(L * outcomes, 0.0), found(L * outcomes, 0.0);
        extractor.keys(s, false, keys);
        add_scores(table, keys, slots, outcomes, all.data());
        scorer.add(plan, table, extractor, corpus, s, outcomes, found.data());
        extractor.keys(s, false, keys, plan.planned);
        add_scores(table, keys, slots, outcomes, found.data());
        for (std::size_t i = 0; i < all.size(); ++i) CHECK_NEAR(found[i], all[i], 1e-12);
      }
      if (round == 1) {
        corpus.clear();
        extractor.forget();
      }
    }
  }
  context = "token scorer";
  CHECK(planned > 500 && by_keys > 50);
}

// What check() promises, written out.
inline bool is_sound(const WeightTable& t, std::size_t outcomes) {
  if (t.slots.empty()) return true;
  const std::size_t n = t.slots.size() / 2;
  if (t.slots.size() % 2 != 0 || (n & (n - 1)) != 0) return false;
  bool empty = t.hashed;
  for (std::size_t i = 0; i < n; ++i) {
    empty = empty || t.slots[2 * i] == 0;
    const std::uint64_t word = t.slots[2 * i + 1], kind = word >> 62;
    const std::uint64_t middle = word >> 32 & 0x3FFFFFFF, low = word & 0xFFFFFFFF;
    if (kind == 3) return false;
    if (kind == 1 && (middle >= outcomes ||
                      !std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(low))))) {
      return false;
    }
    if (kind == 2 && low + outcomes > t.weight.size()) return false;
    if (kind == 0 && (low + middle > t.weight.size() || low + middle > t.outcome.size())) {
      return false;
    }
  }
  for (const std::uint32_t k : t.outcome) {
    if (k >= outcomes) return false;
  }
  for (const float x : t.weight) {
    if (!std::isfinite(x)) return false;
  }
  return empty;
}

inline void test_forged_tables() {
  context = "forged tables";
  Draw draw(6);
  std::size_t accepted = 0, refused = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const std::size_t outcomes = 1 + draw.below(6);
    // On the heap and no larger than said, so that a read beyond the end is seen.
    std::vector<std::uint64_t> slots(draw.chance(0.95) ? 2 * (std::size_t{1} << draw.below(4))
                                                       : draw.below(20));
    std::vector<float> weight(draw.below(12));
    std::vector<std::uint32_t> outcome(draw.chance(0.9) ? weight.size() : draw.below(12));
    for (float& x : weight) {
      x = draw.chance(0.01) ? std::numeric_limits<float>::infinity() : 0.5f;
    }
    for (std::uint32_t& k : outcome) {
      k = static_cast<std::uint32_t>(draw.below(outcomes + (draw.chance(0.02) ? 1 : 0)));
    }
    for (std::size_t i = 0; i + 1 < slots.size(); i += 2) {
      slots[i] = draw.below(4);
      const std::uint64_t kind = draw.chance(0.02) ? 3 : draw.below(3);
      std::uint64_t middle = draw.below(outcomes), low = draw.below(weight.size() + 1);
      if (draw.chance(0.03)) middle = draw.chance(0.5) ? 0x3FFFFFFF : draw.below(20);
      if (draw.chance(0.03)) low = draw.chance(0.5) ? 0xFFFFFFFF : draw.below(20);
      if (kind == 1) low = std::bit_cast<std::uint32_t>(draw.chance(0.02) ? NAN : 1.5f);
      if (kind == 0 && draw.chance(0.7)) middle = draw.below(3);
      slots[i + 1] = kind << 62 | middle << 32 | low;
    }
    const WeightTable table{slots, weight, outcome, draw.chance(0.3)};
    const bool sound = is_sound(table, outcomes);
    if (!sound) {
      ++refused;
      CHECK_THROWS(std::invalid_argument, table.check(outcomes));
      continue;
    }
    ++accepted;
    table.check(outcomes);
    TaggerWeights weights;
    weights.labels = outcomes;
    weights.state = table;
    weights.transition.assign(1, std::vector<double>(outcomes * outcomes, 0.0));
    const TaggerModel model(random_features(draw, false), weights);
    std::vector<double> row(outcomes);
    for (std::uint64_t key = 1; key < 40; ++key) model.weights_of(key, false, row.data());
    for (const double x : row) CHECK(std::isfinite(x));
    unpack(table, outcomes);
  }
  CHECK(accepted > 500 && refused > 500);
}

inline void test_forged_models() {
  context = "forged models";
  Draw draw(7);
  const auto plain = random_features(draw, false);
  structlearn::text::Template pair;
  pair.text = "pair";
  pair.atoms.push_back({0, 0});
  pair.transition = true;
  const auto pairs = std::make_shared<FeatureSet>(std::vector<Attribute>(1), std::vector{pair});
  const auto weights = [](std::size_t K, std::size_t order) {
    TaggerWeights w;
    w.labels = K;
    w.order = order;
    w.start.assign(K, 0.0);
    w.end.assign(K, 0.0);
    std::size_t size = K;
    for (std::size_t m = 0; m < order; ++m) w.transition.emplace_back(size *= K, 0.0);
    return w;
  };
  const auto refused = [&](std::shared_ptr<FeatureSet> f, TaggerWeights w) {
    CHECK_THROWS(std::invalid_argument, TaggerModel(f, std::move(w)));
  };
  TaggerModel(plain, weights(3, 2));
  TaggerModel(pairs, weights(3, 1));
  refused(plain, weights(0, 1));
  refused(pairs, weights(3, 0));
  refused(pairs, weights(3, 2));
  TaggerWeights w = weights(3, 1);
  w.order = 2;
  refused(plain, w);
  w = weights(3, 1);
  w.transition[0].pop_back();
  refused(plain, w);
  w = weights(3, 1);
  w.start.pop_back();
  refused(plain, w);
  w = weights(3, 1);
  w.end.push_back(0.0);
  refused(plain, w);
  CHECK_THROWS(std::invalid_argument, FeatureSet(std::vector<Attribute>(), std::vector{pair}));
  pair.atoms.clear();
  CHECK_THROWS(std::invalid_argument, FeatureSet(std::vector<Attribute>(1), std::vector{pair}));
}

// A model with a random weight for each of the low bits of a key.
struct RandomModel {
  LabelNames names;
  WeightArrays state, pair;
  std::unique_ptr<TaggerModel> model;

  RandomModel(Draw& draw, bool transitions) {
    const std::size_t K = 3;
    names.labels = {"A", "B-x", "C"};
    names.names = names.labels;
    names.name_of = {0, 1, 2};
    const auto table = [&](std::size_t outcomes) {
      std::vector<std::uint32_t> row_ptr{0}, column;
      std::vector<double> w;
      for (int f = 0; f < 32; ++f) {
        for (std::uint32_t k = 0; k < outcomes; ++k) {
          column.push_back(k);
          w.push_back(draw.between(-1.0, 1.0));
        }
        row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
      }
      return pack({}, row_ptr, column, w, outcomes, 0.0);
    };
    state = table(K);
    TaggerWeights w;
    w.labels = K;
    w.state = {state.slots, state.weight, state.outcome, true};
    w.start = {0.1, 0.2, -0.3};
    w.transition.emplace_back(K * K, 0.0);
    for (double& x : w.transition[0]) x = draw.between(-1.0, 1.0);
    const auto features = random_features(draw, transitions);
    if (features->has_transitions()) {
      pair = table(K * K);
      w.pair = {pair.slots, pair.weight, pair.outcome, true};
    }
    model = std::make_unique<TaggerModel>(features, std::move(w));
  }
};

inline void test_labeller() {
  Draw draw(8);
  for (int trial = 0; trial < 200; ++trial) {
    context = "labeller " + std::to_string(trial);
    const RandomModel random(draw, draw.chance(0.5));
    const TaggerModel& model = *random.model;
    const char separator = draw.chance(0.5) ? '\t' : ' ';
    const std::size_t target = 1 + draw.below(2);  // the second column, or a new one
    Labeller labeller(model.features(), readers_of(model), random.names, Format::kColumns,
                      {.targets = {target}, .columns = target + 1});
    std::size_t tokens = 0, line = 0;
    for (int piece = 0; piece < 3; ++piece) {
      const std::string text = random_text(draw, 1 + draw.below(4), separator);
      Corpus corpus(Format::kColumns);
      corpus.read(text, 0);
      TaggerReader reader(model, corpus);
      std::string expected;
      std::size_t copied = 0;
      for (std::size_t s = 0; s < corpus.sentences(); ++s) {
        Output y;
        const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
        structlearn::best(reader, reader.scores(s, structlearn::Purpose::kBest), y);
        for (std::size_t t = 0; t < L; ++t) {
          // Every line ends with one letter, the second cell.
          const Line& at = corpus.lines()[begin + t];
          expected += text.substr(copied, at.end - copied);
          copied = at.end;
          if (target == 1) {
            expected.pop_back();
          } else {
            expected.push_back(separator);
          }
          expected += random.names.labels[static_cast<std::size_t>(y[t])];
        }
      }
      expected += text.substr(copied);
      std::string found = "before";
      labeller.label(text, line, found);
      CHECK(found == "before" + expected);
      tokens += corpus.tokens();
      CHECK(labeller.tokens() == tokens);
      line += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    // Any bytes at all: an error with a line, or the text with labels.
    const std::string bytes = random_bytes(draw, 30);
    std::string out;
    try {
      Labeller(model.features(), readers_of(model), random.names,
               draw.chance(0.5) ? Format::kConllu : Format::kColumns,
               {.targets = {draw.below(3)},
                .columns = draw.below(4),
                .wanted = {.nbest = 1 + draw.below(3),
                           .confidence = draw.chance(0.5),
                           .marginals = draw.chance(0.5)},
                .known = draw.chance(0.3)})
          .label(bytes, 0, out);
      CHECK(invalid_utf8(out) == out.size());
    } catch (const BadLine& e) {
      CHECK(e.line >= 1);
    }
  }
}

}  // namespace test
