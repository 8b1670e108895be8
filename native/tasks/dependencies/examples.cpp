#include "tasks/dependencies/examples.hpp"

#include <algorithm>

#include "tasks/dependencies/part_scorer.hpp"

namespace structlearn::parsing {

LabelledTreebank::LabelledTreebank(const text::Corpus& corpus, const SentenceTags& tags,
                                   bool lemmas, std::vector<std::string> names)
    : labels(names.empty() ? relation_names(corpus) : std::move(names)),
      trees(read_treebank(corpus, tags, labels, lemmas)),
      sets(labels.size()) {
  for (std::size_t i = 0; i < trees.sentence.size(); ++i) {
    for (std::size_t m = 1; m < trees.heads[i].size(); ++m) {
      sets.add(trees.sentence[i], trees.heads[i][m], static_cast<int>(m), trees.labels[i][m]);
    }
  }
}

ParseExamples::ParseExamples(const LabelledTreebank& treebank, Pruner& pruner, bool second_order)
    : treebank_(treebank),
      width_(label_width(treebank.labels.size())),
      second_order_(second_order),
      parts_(treebank.trees.sentence.size()),
      delta_(treebank.labels.size() * width_, -0.5) {
  for (std::size_t l = 0; l < treebank.labels.size(); ++l) delta_[l * width_ + l] = -1.0;
  const DependencyTrees structure(false, 1);
  Candidates candidates;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& heads = treebank.trees.heads[i];
    const auto& labels = treebank.trees.labels[i];
    pruner.prune(sentence(i), candidates, heads);
    Parts& parts = parts_[i];
    parts.set(candidates, second_order);
    gold_label_.resize(gold_label_.size() + parts.arcs(), -1);
    for (std::size_t m = 1; m < heads.size(); ++m) {
      const std::uint32_t a = parts.find(heads[m], static_cast<int>(m));
      gold_label_[static_cast<std::size_t>(arc_ptr_.back()) + a] = labels[m];
    }
    Output tree(heads.begin() + 1, heads.end());
    tree.insert(tree.end(), labels.begin() + 1, labels.end());
    structure.encode(layout(i), tree, gold_part_);
    gold_ptr_.push_back(static_cast<std::int64_t>(gold_part_.size()));
    arc_ptr_.push_back(static_cast<std::int64_t>(gold_label_.size()));
    words_.push_back(static_cast<double>(parts.n));
  }
}

structlearn::Gold ParseExamples::gold() const {
  structlearn::Gold gold;
  gold.ptr = gold_ptr_;
  gold.part = gold_part_.data();
  return gold;
}

structlearn::Cost ParseExamples::cost() const {
  structlearn::Cost cost;
  cost.delta = delta_.data();
  cost.label = gold_label_.data();
  cost.site_ptr = arc_ptr_;
  cost.constant = words_.data();
  return cost;
}

double ParseExamples::heads_per_word() const {
  double words = 0.0;
  for (const double n : words_) words += n;
  return static_cast<double>(gold_label_.size()) / std::max(words, 1.0);
}

std::uint64_t ParseExamples::fingerprint() const {
  std::uint64_t h = text::fold(width_ ^ text::kHashA, second_order_ ? 2 : 1);
  const auto add = [&](std::uint64_t x) {
    h = text::fold(h ^ text::kHashA, x ^ text::kHashB) + text::kHashB;
  };
  for (std::size_t i = 0; i < size(); ++i) {
    add(static_cast<std::uint64_t>(parts_[i].n));
    for (int m = 1; m <= parts_[i].n; ++m) {
      const Token& t = sentence(i)[m];
      for (const std::uint64_t x : {t.word.form, t.lemma, t.upos, t.tag, t.feats}) add(x);
    }
    for (const std::uint16_t head : parts_[i].head) add(head);
  }
  for (const std::uint32_t part : gold_part_) add(part);
  return h;
}

}  // namespace structlearn::parsing
