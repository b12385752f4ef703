// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

// Names of functions, for messages about tasks. The parts of a coroutine are local functions, which only the full
// symbol table has; so the file of the program or library is read, when a name is wanted.

PLAIT_INTERFACE

namespace plait::base {

namespace detail {

#if defined(__linux__)

/// A file in memory while it lives; empty if it can't be read.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0 && status.st_size > 0) {
      auto* memory = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        start_ = static_cast<const char*>(memory);
        size_ = static_cast<std::size_t>(status.st_size);
      }
    }
    ::close(file);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (start_ != nullptr) ::munmap(const_cast<char*>(start_), size_);
  }

  /// `count` objects of type T at an offset, or null if the file is too short or they lie askew.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) return nullptr;
    return reinterpret_cast<const T*>(start_ + offset);
  }

 private:
  const char* start_ = nullptr;
  std::size_t size_ = 0;
};

/// Appends the mangled name of the function that lies at an address of a program or library as it is in its file, if
/// there is one.
inline void symbol_in(const char* path, ElfW(Addr) address, text& name) {
  const mapped_file file(path);
  const auto* head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || head->e_ident[EI_MAG0] != ELFMAG0 || head->e_ident[EI_MAG1] != ELFMAG1) return;
  const auto* sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  if (sections == nullptr) return;
  for (std::size_t i = 0; i < head->e_shnum; ++i) {
    const auto& table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= head->e_shnum) continue;
    const auto count = table.sh_size / sizeof(ElfW(Sym));
    const auto& strings = sections[table.sh_link];
    const auto* symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
    const auto* names = file.at<char>(strings.sh_offset, strings.sh_size);
    if (symbols == nullptr || names == nullptr || strings.sh_size == 0 || names[strings.sh_size - 1] != 0) continue;
    for (std::size_t k = 0; k < count; ++k) {
      const auto& s = symbols[k];
      const bool inside = (s.st_info & 0xf) == STT_FUNC && address >= s.st_value && address - s.st_value < s.st_size;
      if (inside && s.st_name < strings.sh_size) return name.append(names + s.st_name, std::strlen(names + s.st_name));
    }
  }
}

struct address_search {
  ElfW(Addr) address;
  text name;
};

inline int look_in_module(dl_phdr_info* module, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<address_search*>(argument);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& part = module->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || search.address - module->dlpi_addr - part.p_vaddr >= part.p_memsz) continue;
    try {
      const bool program = module->dlpi_name == nullptr || *module->dlpi_name == 0;
      symbol_in(program ? "/proc/self/exe" : module->dlpi_name, search.address - module->dlpi_addr, search.name);
    } catch (...) {  // no memory: no name
    }
    return 1;
  }
  return 0;
}

inline text mangled_name_at(const void* address) {
  address_search search{reinterpret_cast<ElfW(Addr)>(address), {}};
  ::dl_iterate_phdr(&look_in_module, &search);
  return std::move(search.name);
}

#else

inline text mangled_name_at(const void*) { return {}; }

#endif

}  // namespace detail

/// The name of the function that `address` lies in, without its parameters and what the compiler appended, or
/// `otherwise` where the program has been stripped of its symbols.
inline text function_at(const void* address, const char* otherwise) {
  if (address == nullptr) return std::string_view(otherwise);
  const text mangled = detail::mangled_name_at(address);
  if (mangled.size() == 0) return std::string_view(otherwise);
  text name = demangle_text(mangled.c_str());
  int depth = 0;  // of parentheses, seen from the end
  for (auto i = name.size(); i-- > 0;) {
    if (name.c_str()[i] == ')') ++depth;
    if (name.c_str()[i] == '(' && --depth == 0) {
      name.truncate(i);
      break;
    }
  }
  return name;
}

}  // namespace plait::base
