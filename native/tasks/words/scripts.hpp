// Kinds of characters, by Unicode script: what a word of a language without blanks is made of.
#pragma once

#include <cstdint>

namespace structlearn::words {

enum Script : std::uint8_t {
  kBeyond,  // the ends of a run of characters
  kHan,
  kHiragana,
  kKatakana,
  kLatin,
  kDigit,
  kHangul,
  kThai,  // Thai, Lao, Khmer, Myanmar and their like
  kLetter,
  kMark,  // what combines with the character before it
  kBlank,
  kPunctuation,
  kSymbol,
  kScripts,
};
inline constexpr unsigned kScriptBits = 4;

inline Script script_of(std::uint32_t p) {
  const auto in = [p](std::uint32_t first, std::uint32_t last) { return p >= first && p <= last; };
  if (p < 0x80) {
    if (in('0', '9')) return kDigit;
    if (in('a', 'z') || in('A', 'Z')) return kLatin;
    return p <= 0x20 ? kBlank : kPunctuation;
  }
  if (in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || p == 0x3005 || p == 0x3007 ||
      in(0xF900, 0xFAFF) || in(0x20000, 0x3FFFF)) {
    return kHan;
  }
  if (in(0x3041, 0x309F)) return kHiragana;
  if (in(0x30A1, 0x30FA) || in(0x30FC, 0x30FF) || in(0x31F0, 0x31FF) || in(0xFF66, 0xFF9F)) {
    return kKatakana;
  }
  if (in(0xFF10, 0xFF19) || in(0x0660, 0x0669) || in(0x06F0, 0x06F9) || in(0x0966, 0x096F) ||
      in(0x0E50, 0x0E59)) {
    return kDigit;
  }
  if (in(0xFF21, 0xFF3A) || in(0xFF41, 0xFF5A) || in(0xC0, 0x24F) || in(0x1E00, 0x1EFF)) {
    return p == 0xD7 || p == 0xF7 ? kSymbol : kLatin;
  }
  if (in(0x300, 0x36F) || in(0x200C, 0x200D) || in(0xFE00, 0xFE0F) || in(0x20D0, 0x20FF) ||
      in(0x3099, 0x309A) || in(0x1F3FB, 0x1F3FF) || in(0xE0100, 0xE01EF)) {
    return kMark;
  }
  if (in(0xAC00, 0xD7A3) || in(0x1100, 0x11FF) || in(0x3130, 0x318F)) return kHangul;
  if (in(0x0E00, 0x0EFF) || in(0x1000, 0x109F) || in(0x1780, 0x17FF) || in(0x1A20, 0x1AAF)) {
    return kThai;
  }
  if (p == 0xA0 || p == 0x1680 || in(0x2000, 0x200A) || p == 0x2028 || p == 0x2029 || p == 0x202F ||
      p == 0x205F || p == 0x3000 || p == 0x85) {
    return kBlank;
  }
  if (in(0x2010, 0x205E) || in(0x3001, 0x303F) || in(0xFF01, 0xFF0F) || in(0xFF1A, 0xFF20) ||
      in(0xFF3B, 0xFF40) || in(0xFF5B, 0xFF65) || p == 0x30FB || p == 0x30A0 || in(0xA1, 0xBF)) {
    return kPunctuation;
  }
  if (in(0x2060, 0x2BFF) || in(0x3200, 0x33FF) || in(0x1F000, 0x1FAFF) || in(0xE000, 0xF8FF)) {
    return kSymbol;
  }
  return kLetter;
}

}  // namespace structlearn::words
