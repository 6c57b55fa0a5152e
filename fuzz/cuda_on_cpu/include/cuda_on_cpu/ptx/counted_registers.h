// Registers of a PTX module in the count flavour: bits, and beside each word of 32 bits the trail (trails.h) of the number
// that it belongs to.
//
// The class knows what an instruction makes of trails by the type that the instruction names. As a float a register is a
// number that counts (counted.h), and bits that only move keep their trails: mov, selp, shfl, ld and st, pairs and vectors.
// Any other instruction reads integers. Its result has a trail only where nothing is lost: if all that it read are
// constants, or loaded. Else the trail is `lost_trail`, and the tally counts it once the bits become a number again; as an
// index or in a comparison they may be read.
#pragma once
#include "../counted_functions.h"
#include "atomics.h"
#include "memory.h"
#include "registers.h"

namespace cuda_on_cpu {

// What the instruction has read as integers: the trail that bits made of it have.
static uint32_t ptx_read = is_constant;
inline uint32_t ptx_mixed(uint32_t a, uint32_t b) {
  return a > is_constant || b > is_constant ? lost_trail : a == 0 || b == 0 ? 0 : is_constant + 0u;
}
inline void ptx_begin() { ptx_read = is_constant; }

template <class T>
struct PtxCounted {
  static constexpr int words = sizeof(T) < 4 ? 1 : sizeof(T) / 4;
  T bits;
  uint32_t trails[words] = {};

  // The bits of a plain number, or of a register of at least this size.
  template <class Plain, class From>
  static PtxCounted kept(From from) {
    PtxCounted made;
    if constexpr (ptx_counts<From>) {
      static_assert(sizeof from.bits >= sizeof(T), "an instruction reads a register that is large enough");
      made.bits = static_cast<T>(from.bits);
      for (int i = 0; i < words; i++) made.trails[i] = from.trails[i];
      if (sizeof(T) < 4) made.trails[0] = ptx_mixed(is_constant, made.trails[0]);
    } else if constexpr (is_counted<From>) {
      made.put(from);
    } else {
      made.put_bits(ptx_narrowed<Plain>(from), is_constant);
    }
    return made;
  }

  // One trail for all words; integers are widened by their sign.
  template <class From>
  void put_bits(From from, uint32_t trail) {
    if constexpr (std::is_same_v<From, ptx_b128>) {
      bits = from;
    } else if constexpr (ptx_is_integer<From>) {
      using Wide = std::conditional_t<std::is_signed_v<From>, int64_t, uint64_t>;
      bits = static_cast<T>(static_cast<Wide>(from));
    } else {
      static_assert(sizeof from == sizeof(T), "an instruction writes a register of its own size");
      __builtin_memcpy(&bits, &from, sizeof bits);
    }
    for (uint32_t &one : trails) one = trail;
  }
  template <class From>
  void put(From from) {
    if constexpr (ptx_counts<From>) {
      static_assert(sizeof from.bits == sizeof(T), "an instruction writes a register of its own size");
      *this = from;
    } else if constexpr (is_counted<From>) {
      put_bits(from.value, from.trail());
    } else {
      put_bits(from, ptx_read);
    }
  }
  // What a conversion made of `from`, which is a number of the type From.
  template <class From, class Made, class Register>
  void put_converted(Made made, Register from) {
    uint32_t trail = is_constant;
    if constexpr (std::is_integral_v<From>) trail = ptx_read == lost_trail ? lost_trail : is_constant + 0u;
    else if constexpr (ptx_counts<Register>) trail = from.trail();
    put_bits(made, trail);
  }

  // The trail of all words as one number.
  uint32_t trail() const {
    uint32_t made = trails[0];
    for (int i = 1; i < words; i++) {
      if (trails[i] == made) continue;
      if (made == lost_trail || trails[i] == lost_trail) return lost_trail;
      const Trail s = tables.trails[made], t = tables.trails[trails[i]];
      made = number_of(joined(s, t, s.divisor, s.flags & t.flags));
    }
    return made;
  }
  operator T() const { return as<T>(); }
  template <class To>
  To as() const {
    if constexpr (is_counted<To>) {
      uint32_t number = trail();
      if (number == lost_trail) tally.lost++, number = 0;
      return {from_bits<typename PlainOf<To>::type>(bits), number};
    } else {
      for (uint32_t one : trails) ptx_read = ptx_mixed(ptx_read, one);
      if constexpr (ptx_is_integer<To>) {
        return static_cast<To>(bits);
      } else {
        static_assert(sizeof(To) == sizeof bits, "an instruction reads a register of its own size");
        To made;
        __builtin_memcpy(static_cast<void *>(&made), &bits, sizeof made);
        return made;
      }
    }
  }

  // What functions such as expf and logf do with the bits of a float32. A new sign, or another exponent, which is a product
  // with a power of two, rounds nothing; an exponent alone, in its place in a float, is no sum.
  template <char operation>
  void became_of(const PtxCounted &x, const PtxCounted &by) {
    constexpr uint32_t sign = 0x80000000u, digits = 0x7fffffu;
    if (by.trails[0] != is_constant) return;
    bool keeps = operation == '&' ? by.bits == ~sign : operation == '|' || operation == '^' ? by.bits == sign : !(by.bits & digits);
    if (keeps) trails[0] = x.trails[0];
    if (operation == '&' && !(by.bits & digits)) trails[0] = is_constant;
  }
  template <char operation, class A, class B>
  void became(A a, B b) {
    if constexpr (sizeof(T) == 4) {
      const auto x = kept<T>(a), y = kept<T>(b);
      became_of<operation>(x, y);
      if (operation != '-' && y.trails[0] != is_constant) became_of<operation>(y, x);
    }
  }
  void became_shifted(uint32_t by) {
    if (sizeof(T) == 4 && by == 23) trails[0] = is_constant;
  }
};
template <class T>
constexpr bool ptx_counts<PtxCounted<T>> = true;
template <class T>
using PtxCountedAs = PtxCounted<typename PtxWord<8 * sizeof(T)>::type>;

// A register as an address.
template <class T>
inline void *ptx_generic(const PtxCounted<T> &address) { return ptx_generic(address.bits); }
template <class T>
inline void *ptx_local(const PtxCounted<T> &address) { return ptx_local(address.bits); }
template <class T>
inline void *ptx_const(const PtxCounted<T> &address) { return ptx_const(address.bits); }
template <class T>
inline void *ptx_shared(const PtxCounted<T> &address) { return ptx_shared(address.bits); }
template <class T>
inline void *ptx_cluster_shared(const PtxCounted<T> &address) { return ptx_cluster_shared(address.bits); }
template <class T, class Offset>
inline T ptx_at(const PtxCounted<T> &address, Offset offset) { return ptx_at(address.bits, offset); }

// Memory remembers trails by words of 32 bits, as it does for float32 (trails.h). A part of a word that belongs to a number
// that counts is lost, and so is a word that something else has changed.
inline const char *ptx_word_of(const void *p) {
  return reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(p) & ~uintptr_t{3});
}
inline uint32_t ptx_bits_at(const void *word) {
  uint32_t bits;
  __builtin_memcpy(&bits, word, sizeof bits);
  return bits;
}
inline uint32_t ptx_trail_of_word(const void *word) {
  const Noted *one = find(word);
  return !is_current(one->run) ? 0 : one->bits == ptx_bits_at(word) ? one->trail : lost_trail;
}
inline void ptx_note_word(const void *word, uint32_t trail) {
  if (trail == 0 && !is_current(find(word)->run)) return;
  note(word, ptx_bits_at(word), trail);
}
template <class T>
inline PtxCountedAs<T> ptx_counted_at(const T *at) {
  PtxCountedAs<T> made;
  made.bits = static_cast<decltype(made.bits)>(to_bits(*const_cast<const volatile T *>(at)));
  if (sizeof(T) < 4) made.trails[0] = ptx_mixed(is_constant, ptx_trail_of_word(ptx_word_of(at)));
  else for (int i = 0; i < made.words; i++) made.trails[i] = ptx_trail_of_word(reinterpret_cast<const char *>(at) + 4 * i);
  return made;
}
template <>
inline PtxCounted<ptx_b128> ptx_counted_at(const ptx_b128 *at) {
  PtxCounted<ptx_b128> made;
  made.bits = *at;
  for (int i = 0; i < 4; i++) made.trails[i] = ptx_trail_of_word(reinterpret_cast<const char *>(at) + 4 * i);
  return made;
}
template <class T>
inline void ptx_note_at(const T *at, const PtxCountedAs<T> &stored) {
  if (sizeof(T) < 4) {
    const Noted *before = find(ptx_word_of(at));
    ptx_note_word(ptx_word_of(at), ptx_mixed(is_current(before->run) ? before->trail : 0, stored.trails[0]));
  } else {
    for (int i = 0; i < stored.words; i++) ptx_note_word(reinterpret_cast<const char *>(at) + 4 * i, stored.trails[i]);
  }
}

template <class T, class Out>
inline void ptx_put_loaded(Out &&to, const T *at) {
  using To = PtxPlain<Out>;
  if constexpr (!ptx_counts<To>) {
    ptx_put_wider(to, *const_cast<const volatile T *>(at));
  } else {
    const auto found = ptx_counted_at(at);
    if constexpr (sizeof(T) == sizeof to.bits) {
      to = found;
    } else {
      to.put_bits(from_bits<T>(found.bits), is_constant);
      for (int i = 0; i < found.words; i++) to.trails[i] = found.trails[i];
    }
  }
}
template <class T, class... Out>
inline void ptx_load_counted(const void *from, Out &&...out) {
  auto at = static_cast<const typename PlainOf<T>::type *>(from);
  (ptx_put_loaded(out, at++), ...);
}
template <class T, class In>
inline void ptx_store_one(T *at, In in) {
  const auto stored = PtxCountedAs<T>::template kept<T>(in);
  __builtin_memcpy(at, &stored.bits, sizeof *at);
  ptx_note_at(at, stored);
}
template <class T, class... In>
inline void ptx_store_counted(void *to, In... in) {
  auto at = static_cast<typename PlainOf<T>::type *>(to);
  (ptx_store_one(at++, in), ...);
}
// The parameters of a launch are constants, as they are in a call of a kernel's text.
inline void ptx_note_given(const unsigned char *given, uint64_t bytes) {
  for (uint64_t i = 0; i + 4 <= bytes; i += 4) note(given + i, ptx_bits_at(given + i), is_constant);
}
// What is copied later has the trails that it has now; what is filled up are zeros.
inline void ptx_note_copy(const void *to, const void *from, uint32_t bytes, uint32_t given) {
  for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
    const char *source = static_cast<const char *>(from) + i, *place = static_cast<const char *>(to) + i;
    if (i + 4 <= given) note(place, ptx_bits_at(source), ptx_trail_of_word(source));
    else note(place, 0u, i < given ? lost_trail : is_constant + 0u);
  }
}

// Registers of several words, and words of several registers.
template <int bits, class To, class... Part>
inline void ptx_pack_counted(To &to, Part... part) {
  using Word = typename PtxWord<bits / sizeof...(Part)>::type;
  const PtxCounted<Word> words[] = {PtxCounted<Word>::template kept<Word>(part)...};
  Word plain[sizeof...(Part)];
  uint32_t mixed = is_constant;
  int next = 0;
  for (const PtxCounted<Word> &one : words) {
    plain[&one - words] = one.bits;
    if (sizeof(Word) < 4) mixed = ptx_mixed(mixed, one.trails[0]);
    else for (uint32_t trail : one.trails) to.trails[next++] = trail;
  }
  if (sizeof(Word) < 4) for (uint32_t &one : to.trails) one = mixed;
  static_assert(sizeof plain == sizeof to.bits, "the parts fill their register");
  __builtin_memcpy(&to.bits, plain, sizeof plain);
}
template <class Word, class From, class Part>
inline void ptx_unpack_one(const From &from, int place, Part &&part) {
  PtxCounted<Word> made;
  made.bits = static_cast<Word>(from.bits >> (8 * sizeof(Word) * static_cast<uint32_t>(place)));
  if (sizeof(Word) < 4) made.trails[0] = ptx_mixed(is_constant, from.trails[place * sizeof(Word) / 4]);
  else for (int i = 0; i < made.words; i++) made.trails[i] = from.trails[place * made.words + i];
  if constexpr (ptx_counts<PtxPlain<Part>>) part.put(made);
  else ptx_put(part, made.bits);
}
template <int bits, class From, class... Part>
inline void ptx_unpack_counted(From from, Part &&...part) {
  using Whole = typename PtxWord<bits>::type;
  const auto whole = PtxCounted<Whole>::template kept<Whole>(from);
  int next = 0;
  (ptx_unpack_one<typename PtxWord<bits / sizeof...(Part)>::type>(whole, next++, part), ...);
}

// A warp collective moves 64 bits: a register goes through it as its index among the last numbers that did (counted.h).
template <>
inline uint64_t to_bits(PtxCounted<uint32_t> a) { return sent(from_bits<double>(a.bits), a.trails[0]); }
template <>
inline PtxCounted<uint32_t> from_bits(uint64_t bits) {
  PtxCounted<uint32_t> made;
  const Moved *one = moved_by(bits);
  made.bits = static_cast<uint32_t>(one ? to_bits(one->value) : bits);
  made.trails[0] = one ? one->trail : 0;
  return made;
}

// Atomics of integers. Of a number that counts they keep the trail where its bits move as a whole.
template <PtxUpdate kind, class T>
inline PtxCountedAs<T> ptx_updated(const PtxCountedAs<T> &old, const PtxCountedAs<T> &value) {
  T a = static_cast<T>(old.bits), b = static_cast<T>(value.bits);
  if (kind == PtxUpdate::of_exch || (kind == PtxUpdate::of_min && b < a) || (kind == PtxUpdate::of_max && a < b)) return value;
  auto made = old;
  if (kind == PtxUpdate::of_min || kind == PtxUpdate::of_max) return made;
  for (int i = 0; i < made.words; i++) made.trails[i] = ptx_mixed(old.trails[i], value.trails[i]);
  return made;
}
// The trails come first: after it has written, an atomic may let other threads run.
template <class T>
inline void ptx_note_update(const T *at, const PtxCountedAs<T> &made, bool is_known) {
  for (int i = 0; i < made.words; i++) {
    const char *word = reinterpret_cast<const char *>(at) + 4 * i;
    auto bits = static_cast<uint32_t>(static_cast<uint64_t>(made.bits) >> (32 * i));
    if (made.trails[i] == lost_trail || (is_known && (made.trails[i] || is_current(find(word)->run)))) note(word, bits, made.trails[i]);
  }
}
// Integers that changed are as constant, or as loaded, as they were.
inline void ptx_note_changed(const void *at) {
  const Noted *one = find(at);
  if (is_current(one->run) && one->trail <= is_constant) ptx_note_word(at, one->trail);
}
template <PtxUpdate kind, class T, class Out, class In, class Of>
inline void ptx_update_counted(Of of, uint32_t traits, Out &&old, T *p, In given) {
  if constexpr (is_counted<T>) {
    static_assert(kind == PtxUpdate::of_add, "floats are only added");
    auto at = reinterpret_cast<typename PlainOf<T>::type *>(p);
    const auto before = ptx_counted_at(at);
    ptx_store_one(at, before.template as<T>() + ptx_as<T>(given));
    ptx_put(old, before);
  } else {
    constexpr bool is_choice = kind == PtxUpdate::of_exch || kind == PtxUpdate::of_min || kind == PtxUpdate::of_max;
    const auto before = ptx_counted_at(p), value = PtxCountedAs<T>::template kept<T>(given);
    ptx_note_update(p, ptx_updated<kind, T>(before, value), is_choice);
    of(p, static_cast<T>(value.bits), traits);
    if (!is_choice) ptx_note_changed(p);
    ptx_put(old, before);
  }
}
template <class T, class Out, class A, class B>
inline void ptx_cas_counted(uint32_t traits, Out &&old, T *p, A expected, B given) {
  const auto before = ptx_counted_at(p), value = PtxCountedAs<T>::template kept<T>(given);
  T wanted = PtxCountedAs<T>::template kept<T>(expected).bits;
  if (static_cast<T>(before.bits) == wanted) ptx_note_update(p, value, true);
  atomic_compare_and_swap(p, wanted, static_cast<T>(value.bits), traits);
  ptx_put(old, before);
}
// Approximations, which are not rounded as IEEE has it.
template <>
inline counted_float ptx_rough_quotient(counted_float a, counted_float b) { return quotient_of(a, b, a.value / b.value, is_fast); }

}  // namespace cuda_on_cpu
