// A chain over tokens of named features, and rows of such tokens as the chains that it scores.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/reader.hpp"
#include "structures/chains/chain.hpp"
#include "text/named_rows.hpp"

namespace structlearn {

// Borrowed.
struct StringChainWeights {
  std::size_t features = 0, labels = 0, order = 1;
  // Feature f has the weights [row_ptr[f], row_ptr[f + 1]) for the labels in `column`. Rows with a
  // weight for each label have them in order.
  std::span<const std::uint32_t> row_ptr, column;
  std::span<const double> weight;
  std::span<const double> mask;  // of labels: 0, or -inf where one is forbidden; empty: none is
  std::span<const double> start, end;  // empty: there are none
  // Of order 1, 2, ..., `order`; empty: there are none of this order.
  std::array<std::span<const double>, Chain::kMaxOrder> transition;
};

class StringChain {
 public:
  // Throws std::invalid_argument unless everything fits together.
  explicit StringChain(StringChainWeights weights);
  const StringChainWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }

 private:
  StringChainWeights weights_;
};

class StringChainReader final : public Reader {
 public:
  // Rows may change between calls of `scores`.
  StringChainReader(const StringChain& model, const text::NamedRows& rows);

  const Scored& scores(std::size_t example, Purpose) override;
  bool to_structure(Output& y) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t token, std::size_t label) const override;
  std::size_t find(const Part&) const override;

  // Numbers of memory that is kept for the next example.
  std::size_t capacity() const { return theta_.capacity(); }

 private:
  const StringChain& model_;
  const text::NamedRows& rows_;
  Chain chain_;
  Scored scored_;
  std::vector<double> theta_;
};

class StringChainInputs final : public Inputs {
 public:
  StringChainInputs(const StringChain& model, text::NamedRows rows)
      : model_(model), rows_(std::move(rows)) {}
  std::size_t size() const override { return rows_.examples(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<StringChainReader>(model_, rows_);
  }
  const text::NamedRows& rows() const { return rows_; }

 private:
  const StringChain& model_;
  text::NamedRows rows_;
};

}  // namespace structlearn
