/*
** Sections are laid out in three runs of pages: code and the jumps to names outside, constants with the table of
** addresses, variables. Everything is checked against the file's size before it is read: the file may come from a
** cache.
*/
#include "device/cpu/object.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"

enum { CODE, CONSTANTS, VARIABLES, RUNS, JUMP = 16, SLOT = 8, MOST_SECTIONS = 4096, MOST_SYMBOLS = 65536 };

typedef struct object {
  const unsigned char *bytes;
  size_t size;
  Elf64_Ehdr head;
  Elf64_Shdr *section; /* [nsection], as all that follows in memory of our own: the file may be unaligned */
  size_t *place;       /* [nsection]: where it lies in `base`; NOWHERE */
  Elf64_Sym *symbol;   /* [nsymbol] */
  uint64_t *value;     /* [nsymbol]: its address; 0 for one that is not there */
  size_t nsection, nsymbol;
  const char *text; /* of symbols' names */
  size_t ntext;
  unsigned char *base;
  size_t start[RUNS], end[RUNS], total;
  size_t jumps, slots; /* where they lie: JUMP bytes and SLOT bytes for each symbol */
  bool no_memory;
} object;

#define NOWHERE SIZE_MAX

bool tt__object_is(const void *bytes, size_t size) {
  Elf64_Ehdr h;
  if (size < sizeof h) return false;
  memcpy(&h, bytes, sizeof h);
  return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_type == ET_REL;
}

static bool holds(const object *o, uint64_t from, uint64_t n) { return from <= o->size && n <= o->size - from; }

/* ---- reading */

static bool read_sections(object *o) {
  const Elf64_Ehdr *h = &o->head;
  memcpy(&o->head, o->bytes, sizeof o->head);
  o->nsection = h->e_shnum;
  if (h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_shentsize != sizeof(Elf64_Shdr)) return false;
  if (o->nsection == 0 || o->nsection > MOST_SECTIONS) return false;
  if (!holds(o, h->e_shoff, o->nsection * sizeof(Elf64_Shdr))) return false;
  o->section = tt__mem_alloc(o->nsection * sizeof *o->section);
  o->place = tt__mem_alloc(o->nsection * sizeof *o->place);
  if (!o->section || !o->place) return o->no_memory = true, false;
  memcpy(o->section, o->bytes + h->e_shoff, o->nsection * sizeof *o->section);
  for (size_t k = 0; k < o->nsection; k++) {
    const Elf64_Shdr *s = &o->section[k];
    o->place[k] = NOWHERE;
    if (s->sh_type != SHT_NOBITS && !holds(o, s->sh_offset, s->sh_size)) return false;
    if (s->sh_size > (size_t)1 << 30 || s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1)))
      return false;
  }
  return true;
}

static bool read_symbols(object *o) {
  const Elf64_Shdr *table = NULL;
  for (size_t k = 0; k < o->nsection; k++) {
    if (o->section[k].sh_type == SHT_SYMTAB_SHNDX || (o->section[k].sh_type == SHT_SYMTAB && table)) return false;
    if (o->section[k].sh_type == SHT_SYMTAB) table = &o->section[k];
  }
  if (!table || table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= o->nsection) return false;
  o->nsymbol = table->sh_size / sizeof(Elf64_Sym);
  const Elf64_Shdr *text = &o->section[table->sh_link];
  if (o->nsymbol == 0 || o->nsymbol > MOST_SYMBOLS || text->sh_type != SHT_STRTAB || text->sh_size == 0) return false;
  o->text = (const char *)o->bytes + text->sh_offset;
  o->ntext = text->sh_size;
  if (o->text[o->ntext - 1]) return false;
  o->symbol = tt__mem_alloc(o->nsymbol * sizeof *o->symbol);
  o->value = tt__mem_zalloc(o->nsymbol * sizeof *o->value);
  if (!o->symbol || !o->value) return o->no_memory = true, false;
  memcpy(o->symbol, o->bytes + table->sh_offset, o->nsymbol * sizeof *o->symbol);
  for (size_t k = 0; k < o->nsymbol; k++)
    if (o->symbol[k].st_name >= o->ntext) return false;
  return true;
}

/* ---- laying out */

/* Unwinding tables and notes are for others. */
static bool is_wanted(const object *o, const Elf64_Shdr *s) {
  const Elf64_Shdr *names = o->head.e_shstrndx < o->nsection ? &o->section[o->head.e_shstrndx] : NULL;
  static const char frames[] = ".eh_frame";
  if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0 || s->sh_type == SHT_NOTE) return false;
  if (!names || names->sh_type != SHT_STRTAB || s->sh_name >= names->sh_size ||
      names->sh_size - s->sh_name < sizeof frames)
    return true;
  return memcmp(o->bytes + names->sh_offset + s->sh_name, frames, sizeof frames) != 0;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

static bool lay_out(object *o) {
  size_t page = tt__page_size(), at = 0;
  for (int run = 0; run < RUNS; run++) {
    o->start[run] = at = round_up(at, page);
    for (size_t k = 0; k < o->nsection; k++) {
      const Elf64_Shdr *s = &o->section[k];
      if (!is_wanted(o, s)) continue;
      if ((s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS) || s->sh_flags & (SHF_TLS | SHF_GROUP)) return false;
      if (run != (s->sh_flags & SHF_EXECINSTR ? CODE : s->sh_flags & SHF_WRITE ? VARIABLES : CONSTANTS)) continue;
      at = round_up(at, s->sh_addralign ? s->sh_addralign : 1);
      o->place[k] = at;
      at += s->sh_size;
    }
    if (run == CODE) o->jumps = at = round_up(at, JUMP), at += o->nsymbol * JUMP;
    if (run == CONSTANTS) o->slots = at = round_up(at, SLOT), at += o->nsymbol * SLOT;
    o->end[run] = at;
    if (at > (size_t)1 << 30) return false; /* all within reach of a jump */
  }
  o->total = round_up(at, page);
  void *p = mmap(NULL, o->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return o->no_memory = true, false;
  o->base = p;
  for (size_t k = 0; k < o->nsection; k++)
    if (o->place[k] != NOWHERE && o->section[k].sh_type == SHT_PROGBITS)
      memcpy(o->base + o->place[k], o->bytes + o->section[k].sh_offset, o->section[k].sh_size);
  return true;
}

/* ---- symbols */

static void put_jump(object *o, size_t k) {
  static const unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *(%rip), to the eight bytes that follow */
  memcpy(o->base + o->jumps + k * JUMP, jump, sizeof jump);
  memcpy(o->base + o->jumps + k * JUMP + sizeof jump, &o->value[k], sizeof o->value[k]);
}

static bool find_values(object *o) {
  for (size_t k = 1; k < o->nsymbol; k++) {
    const Elf64_Sym *s = &o->symbol[k];
    int type = ELF64_ST_TYPE(s->st_info);
    if (type == STT_FILE) continue;
    if (type == STT_TLS || type == STT_GNU_IFUNC || s->st_shndx == SHN_COMMON) return false;
    if (s->st_shndx == SHN_UNDEF) {
      o->value[k] =
          (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, o->text + s->st_name); /* not all that are named are used */
      put_jump(o, k);
    } else if (s->st_shndx == SHN_ABS) {
      o->value[k] = s->st_value;
    } else if (s->st_shndx >= o->nsection) {
      return false;
    } else if (o->place[s->st_shndx] != NOWHERE) {
      if (s->st_value > o->section[s->st_shndx].sh_size) return false;
      o->value[k] = (uint64_t)(uintptr_t)(o->base + o->place[s->st_shndx] + s->st_value);
    }
    memcpy(o->base + o->slots + k * SLOT, &o->value[k], sizeof o->value[k]);
  }
  return true;
}

/* ---- relocations */

static bool put_near(unsigned char *at, int64_t distance) {
  int32_t d = (int32_t)distance;
  if (d != distance) return false;
  memcpy(at, &d, sizeof d);
  return true;
}

/* One of x86-64's, at `at` with `left` bytes behind it. */
static bool put_x86(object *o, unsigned char *at, size_t left, const Elf64_Rela *r) {
  size_t k = ELF64_R_SYM(r->r_info);
  uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
  if (type == R_X86_64_NONE) return true;
  if (k >= o->nsymbol || left < (type == R_X86_64_64 || type == R_X86_64_PC64 ? 8u : 4u)) return false;
  bool outside = o->symbol[k].st_shndx == SHN_UNDEF;
  uint64_t here = (uint64_t)(uintptr_t)at, value = o->value[k] + (uint64_t)r->r_addend;
  if (o->value[k] == 0 && !(outside && ELF64_ST_BIND(o->symbol[k].st_info) == STB_WEAK)) return false; /* not there */
  switch (type) {
    case R_X86_64_64:
      memcpy(at, &value, sizeof value);
      return true;
    case R_X86_64_PC64:
      value -= here;
      memcpy(at, &value, sizeof value);
      return true;
    case R_X86_64_PLT32:
      if (outside) value = (uint64_t)(uintptr_t)(o->base + o->jumps + k * JUMP) + (uint64_t)r->r_addend;
      return put_near(at, (int64_t)(value - here));
    case R_X86_64_PC32:
      return put_near(at, (int64_t)(value - here));
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = (uint64_t)(uintptr_t)(o->base + o->slots + k * SLOT) + (uint64_t)r->r_addend;
      return put_near(at, (int64_t)(value - here));
    default:
      return false;
  }
}

static bool relocate(object *o) {
  for (size_t k = 0; k < o->nsection; k++) {
    const Elf64_Shdr *s = &o->section[k];
    if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL) continue;
    if (s->sh_info >= o->nsection) return false;
    size_t to = o->place[s->sh_info];
    if (to == NOWHERE) continue;
    if (s->sh_type == SHT_REL || s->sh_entsize != sizeof(Elf64_Rela)) return false;
    for (size_t i = 0; i < s->sh_size / sizeof(Elf64_Rela); i++) {
      Elf64_Rela r;
      memcpy(&r, o->bytes + s->sh_offset + i * sizeof r, sizeof r);
      size_t len = o->section[s->sh_info].sh_size;
      if (r.r_offset >= len || !put_x86(o, o->base + to + r.r_offset, len - r.r_offset, &r)) return false;
    }
  }
  return true;
}

static bool protect(object *o) {
  static const int how[RUNS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (int run = 0; run < RUNS; run++) {
    size_t n = o->end[run] - o->start[run];
    if (n && mprotect(o->base + o->start[run], n, how[run]) != 0) return false;
  }
  return true;
}

/* ---- the whole */

static void free_object(object *o, bool keep) {
  tt__mem_free(o->section, o->section ? o->nsection * sizeof *o->section : 0);
  tt__mem_free(o->place, o->place ? o->nsection * sizeof *o->place : 0);
  tt__mem_free(o->symbol, o->symbol ? o->nsymbol * sizeof *o->symbol : 0);
  tt__mem_free(o->value, o->value ? o->nsymbol * sizeof *o->value : 0);
  if (o->base && !keep) munmap(o->base, o->total);
}

static void *find_function(const object *o, const char *name) {
  for (size_t k = 1; k < o->nsymbol; k++) {
    const Elf64_Sym *s = &o->symbol[k];
    if (s->st_shndx == SHN_UNDEF || ELF64_ST_BIND(s->st_info) != STB_GLOBAL) continue;
    if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && strcmp(o->text + s->st_name, name) == 0)
      return (void *)(uintptr_t)o->value[k];
  }
  return NULL;
}

tt_code tt__object_load(const void *bytes, size_t size, const char *const *names, int n, void **fns, tt_error *err) {
  assert(n > 0 && names && fns);
  object o = {.bytes = bytes, .size = size};
  bool ok = tt__object_is(bytes, size) && !tt__fault(TT_FAULT_LOAD);
#if !defined(__x86_64__)
  ok = false; /* relocations of other processors are the linker's */
#endif
  ok = ok && read_sections(&o) && o.head.e_machine == EM_X86_64 && read_symbols(&o) && lay_out(&o) && find_values(&o) &&
       relocate(&o) && protect(&o);
  tt_code c = TT_OK;
  if (!ok)
    c = o.no_memory ? tt__fail(err, TT_ENOMEM, "out of memory while loading a kernel")
                    : tt__fail(err, TT_ENOTIMPL, "an object file that only a linker can read");
  for (int i = 0; c == TT_OK && i < n; i++) {
    fns[i] = find_function(&o, names[i]);
    if (!fns[i]) c = tt__fail(err, TT_EDEVICE, "a compiled kernel lacks %s", names[i]);
  }
  free_object(&o, c == TT_OK);
  return c;
}
