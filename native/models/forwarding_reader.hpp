// A reader around another one, which answers what the outer one does not change.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/reader.hpp"

namespace structlearn {

// Base: Reader, or a class of readers.
template <class Base>
class ForwardingReader : public Base {
 public:
  explicit ForwardingReader(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

  const Scored& scores(std::size_t input, Purpose purpose) override {
    return reader_->scores(input, purpose);
  }
  void to_model(Output& y) const override { reader_->to_model(y); }
  bool to_structure(Output& y) const override { return reader_->to_structure(y); }
  void to_labels(Output& y) const override { reader_->to_labels(y); }
  std::optional<Output> makeshift() const override { return reader_->makeshift(); }
  std::size_t names(const Scored& scored) const override { return reader_->names(scored); }
  void to_names(std::vector<double>& p) const override { reader_->to_names(p); }
  std::vector<Part> parts(const Output& y) const override { return reader_->parts(y); }
  Part part(std::size_t site, std::size_t outcome) const override {
    return reader_->part(site, outcome);
  }
  std::size_t find(const Part& part) const override { return reader_->find(part); }
  void forbid(const Scored& scored, const Part& part) const override {
    reader_->forbid(scored, part);
  }
  bool alike(std::size_t site, std::size_t a, std::size_t b) const override {
    return reader_->alike(site, a, b);
  }
  std::span<const std::int32_t> name_of() const override { return reader_->name_of(); }

 protected:
  std::unique_ptr<Reader> reader_;
};

}  // namespace structlearn
