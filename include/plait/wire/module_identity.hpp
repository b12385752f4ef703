// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/wire/digest.hpp>

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

PLAIT_INTERFACE

namespace plait::wire {

/// Where an object lies: in which executable or shared library, and how far from its beginning.
struct module_place {
  /// "build id <hex>", or "code <hex>" (a digest of the machine code) where the linker left no build id.
  std::string identity;
  /// The distance from the module's load address; the same in each process that runs the same file.
  std::uintptr_t offset = 0;
};

namespace detail {

// The GNU build id among the notes of a segment; empty if there is none.
inline std::string build_id_in(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    const std::size_t name = sizeof note;
    const std::size_t text = name + padded(note.n_namesz);
    const std::size_t next = text + padded(note.n_descsz);
    if (next > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      constexpr std::string_view digits = "0123456789abcdef";
      std::string id;
      for (const std::byte byte : notes.subspan(text, note.n_descsz)) {
        id += digits[std::to_integer<unsigned>(byte) >> 4];
        id += digits[std::to_integer<unsigned>(byte) & 15];
      }
      return id;
    }
    notes = notes.subspan(next);
  }
  return {};
}

inline std::span<const std::byte> segment_bytes(const dl_phdr_info& module, const ElfW(Phdr) & segment) {
  return {reinterpret_cast<const std::byte*>(module.dlpi_addr + segment.p_vaddr), segment.p_memsz};
}

inline bool holds(const dl_phdr_info& module, std::uintptr_t address) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& segment = module.dlpi_phdr[i];
    const std::uintptr_t begin = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) return true;
  }
  return false;
}

inline std::string identity_of(const dl_phdr_info& module) {
  digester code;
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& segment = module.dlpi_phdr[i];
    if (segment.p_type == PT_NOTE) {
      const auto id = build_id_in(segment_bytes(module, segment));
      if (!id.empty()) return base::compose({"build id ", id});
    }
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_R) != 0) {
      code.add(segment_bytes(module, segment));
    }
  }
  return base::compose({"code ", code.result().text()});
}

}  // namespace detail

/// The module in which `object` (something with static storage) lies. Linear in the number of modules, and in the size
/// of the code where there is no build id. Thread-safe.
inline module_place place_in_module(const void* object) {
  struct query {
    std::uintptr_t address;
    module_place found;
  } wanted{reinterpret_cast<std::uintptr_t>(object), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        auto& query_ = *static_cast<query*>(data);
        if (!detail::holds(*module, query_.address)) return 0;
        query_.found = {detail::identity_of(*module), query_.address - module->dlpi_addr};
        return 1;
      },
      &wanted);
  return wanted.found;
}

}  // namespace plait::wire
