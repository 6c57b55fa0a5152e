#include "library_image.h"

#include <link.h>

#include <cstdlib>
#include <cstring>

#include "memory_map.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

struct Image {
  const Module *module;
  uintptr_t start, end;
  char *globals;  // the writable part, after the part that the linker made read-only again
  size_t globals_bytes;
  char *remembered;
  Image *next;
};

struct Images {
  Image *first;
};
PerProcess<Images> images;

int fill_in(dl_phdr_info *info, size_t, void *data) {
  Image &image = *static_cast<Image *>(data);
  uintptr_t start = ~uintptr_t{0}, end = 0, writable = 0, writable_end = 0, read_only_again = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) &part = info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
    if (part.p_type == PT_GNU_RELRO) read_only_again = (to + 4095) & ~uintptr_t{4095};
    if (part.p_type != PT_LOAD) continue;
    if (from < start) start = from;
    if (to > end) end = to;
    if (part.p_flags & PF_W) writable = from, writable_end = to;
  }
  uintptr_t mine = reinterpret_cast<uintptr_t>(image.module);
  if (mine < start || mine >= end) return 0;
  image.start = info->dlpi_addr;
  image.end = end;
  if (read_only_again > writable) writable = read_only_again;
  image.globals = reinterpret_cast<char *>(writable);
  image.globals_bytes = writable_end > writable ? writable_end - writable : 0;
  return 1;
}

Image &image_of(const Module &module) {
  for (Image *i = images.first; i; i = i->next)
    if (i->module == &module) return *i;
  Image *image = static_cast<Image *>(calloc(1, sizeof(Image)));
  image->module = &module;
  dl_iterate_phdr(fill_in, image);
  image->remembered = static_cast<char *>(malloc(image->globals_bytes + 1));
  memcpy(image->remembered, image->globals, image->globals_bytes);
  image->next = images.first;
  images.first = image;
  return *image;
}

}  // namespace

uintptr_t library_start(const Module &module) { return image_of(module).start; }
uintptr_t library_end(const Module &module) { return image_of(module).end; }

uintptr_t variables_start(const Module &module) { return reinterpret_cast<uintptr_t>(image_of(module).globals); }
uintptr_t variables_bytes(const Module &module) { return image_of(module).globals_bytes; }

void restore_globals(const Module &module) {
  const Image &image = image_of(module);
  memcpy(image.globals, image.remembered, image.globals_bytes);
}

void forget_library(const Module &module) {
  for (Image **link = &images.first; *link; link = &(*link)->next) {
    if ((*link)->module != &module) continue;
    Image *image = *link;
    *link = image->next;
    free(image->remembered);
    free(image);
    return;
  }
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API void cuda_on_cpu_forget_library(const cuda_on_cpu::Module *module) {
  cuda_on_cpu::forget_library_memory(*module);
  cuda_on_cpu::forget_library(*module);
}
