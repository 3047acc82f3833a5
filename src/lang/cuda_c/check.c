/*
** Names come from the symbols of the binary, lines from its debug information by way of addr2line, which is there where
** a linker is. Both are looked at in the file: it stays until the process ends.
*/
#include "lang/cuda_c/check.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "lang/cuda_c/run.h"

enum { PATH_SIZE = 512 };

typedef struct symbol {
  uint64_t at, size;
  bool shared; /* `at` counts from the thread's block of the program's variables */
  bool guard;  /* the compiler's: whether the constructors of a shared array were called, which write nothing */
  char name[48];
} symbol;

typedef struct program {
  const tt_cudac_program *p;
  char *base; /* where it is loaded */
  char path[PATH_SIZE], file[128];
  uint64_t here; /* of tt_gap_here, as `at` */
  uint64_t rodata, rodata_end;
  TT_VEC(symbol) symbol;
} program;

static TT_VEC(program *) programs;
TT_LOCK(lock, 1); /* of the list; what is in it does not change */

/* ---- symbols */

/* The last part of a mangled name: "_ZZ3addPfE4tile" is "tile". */
static void plain_name(const char *mangled, char out[48]) {
  size_t len = strlen(mangled);
  snprintf(out, 48, "%s", mangled);
  if (strncmp(mangled, "_Z", 2) != 0) return;
  for (size_t k = len; k-- > 2;) {
    if (mangled[k] < '0' || mangled[k] > '9' || (mangled[k - 1] >= '0' && mangled[k - 1] <= '9')) continue;
    char *name;
    unsigned long n = strtoul(mangled + k, &name, 10);
    size_t left = strlen(name);
    if (n == 0 || n > left || (left > n && name[n] != '_' && name[n] != '.' && name[n] != 'E')) continue;
    snprintf(out, 48, "%.*s", (int)(n < 47 ? n : 47), name);
    return;
  }
}

static bool add_symbol(program *p, const Elf64_Sym *s, const char *name) {
  int type = ELF64_ST_TYPE(s->st_info);
  if ((type != STT_TLS && type != STT_OBJECT) || s->st_size == 0 || s->st_shndx == SHN_UNDEF) return true;
  symbol one = {.at = s->st_value, .size = s->st_size, .shared = type == STT_TLS};
  one.guard = strncmp(name, "_ZGV", 4) == 0;
  plain_name(name, one.name);
  if (one.shared && strcmp(one.name, "tt_gap_here") == 0) p->here = one.at;
  if (strncmp(one.name, "tt_gap", 6) == 0) return true; /* stands between two shared arrays, and is nobody's */
  return TT_VEC_PUSH(&p->symbol, one);
}

/* Everything read is inside the file, or it is not read. */
static bool is_inside(const tt_str *b, uint64_t at, uint64_t size) { return at <= b->len && size <= b->len - at; }

static bool read_symbols(program *p, const tt_str *b) {
  Elf64_Ehdr head;
  if (!is_inside(b, 0, sizeof head)) return false;
  memcpy(&head, b->data, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (int k = 0; k < head.e_phnum; k++) {
    Elf64_Phdr ph;
    if (!is_inside(b, head.e_phoff + (uint64_t)k * sizeof ph, sizeof ph)) return false;
    memcpy(&ph, b->data + head.e_phoff + (uint64_t)k * sizeof ph, sizeof ph);
    if (ph.p_type != PT_LOAD || (ph.p_flags & (PF_W | PF_X))) continue;
    p->rodata = ph.p_vaddr; /* the last one: constants stand behind the tables of the loader */
    p->rodata_end = ph.p_vaddr + ph.p_memsz;
  }
  for (int k = 0; k < head.e_shnum; k++) {
    Elf64_Shdr sh, names;
    if (!is_inside(b, head.e_shoff + (uint64_t)k * sizeof sh, sizeof sh)) return false;
    memcpy(&sh, b->data + head.e_shoff + (uint64_t)k * sizeof sh, sizeof sh);
    if (sh.sh_type != SHT_SYMTAB) continue;
    if (!is_inside(b, head.e_shoff + sh.sh_link * sizeof sh, sizeof sh) || !is_inside(b, sh.sh_offset, sh.sh_size))
      return false;
    memcpy(&names, b->data + head.e_shoff + sh.sh_link * sizeof sh, sizeof names);
    if (!is_inside(b, names.sh_offset, names.sh_size) || names.sh_size == 0) return false;
    for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= sh.sh_size; i += sizeof(Elf64_Sym)) {
      Elf64_Sym s;
      memcpy(&s, b->data + sh.sh_offset + i, sizeof s);
      if (s.st_name < names.sh_size && !add_symbol(p, &s, b->data + names.sh_offset + s.st_name)) return false;
    }
    return true;
  }
  return false;
}

tt_code tt__cudac_note(const tt_cudac_program *compiled, const char *path, const tt_str *binary, const char *file,
                       tt_error *err) {
  Dl_info info;
  program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  p->p = compiled;
  snprintf(p->path, sizeof p->path, "%s", path);
  snprintf(p->file, sizeof p->file, "%s", file);
  bool ok = dladdr(compiled, &info) && read_symbols(p, binary);
  if (ok) {
    p->base = info.dli_fbase;
    tt__lock(&lock);
    ok = TT_VEC_PUSH(&programs, p);
    tt__unlock(&lock);
  }
  if (ok) return TT_OK;
  TT_VEC_FREE(&p->symbol);
  tt__mem_free(p, sizeof *p);
  return tt__fail(err, TT_EDEVICE, "the compiler's binary cannot be read, which TUTTI_CHECK=1 needs");
}

static program *program_of(const tt_cudac_entry *e) {
  program *found = NULL;
  tt__lock(&lock);
  for (int64_t k = 0; k < programs.n && !found; k++)
    for (int i = 0; i < programs.data[k]->p->nentry && !found; i++)
      if (programs.data[k]->p->entry[i] == e) found = programs.data[k];
  tt__unlock(&lock);
  return found;
}

/* ---- lines */

/* The first place in the user's text that one of addr2line's lines names, innermost first: "path/kernel.cu:7 (...)". */
static bool take_line(const program *p, const char *said, char *out, size_t size) {
  for (const char *line = said; *line; line += strcspn(line, "\n"), line += *line != 0) {
    size_t len = strcspn(line, "\n");
    const char *colon = line + len;
    while (colon > line && *colon != ':') colon--;
    int number = colon > line ? atoi(colon + 1) : 0;
    const char *name = colon;
    while (name > line && name[-1] != '/') name--;
    size_t n = (size_t)(colon - name);
    if (number <= 0 || (n == 5 && strncmp(name, "tutti", 5) == 0)) continue;
    if (n == strlen(p->file) && strncmp(name, p->file, n) == 0)
      snprintf(out, size, "line %d", number);
    else
      snprintf(out, size, "line %d of %.*s", number, (int)n, name);
    return true;
  }
  return false;
}

static void find_line(void *ctx, uint32_t site, char *out, size_t size) {
  static const char *const tools[] = {"addr2line", "llvm-addr2line", "llvm-addr2line-14", "llvm-addr2line-19"};
  const program *p = ctx;
  char at[32];
  snprintf(at, sizeof at, "0x%x", site - 1); /* the call itself, not what follows it */
  for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
    const char *const argv[] = {tools[k], "-i", "-e", p->path, at, NULL};
    tt_str said = {0};
    int status = 1;
    bool ran = tt__spawn(argv, 20, &status, &said, NULL) == TT_OK && status == 0;
    bool ok = ran && said.data && take_line(p, said.data, out, size);
    tt__str_free(&said);
    if (ok) return;
    if (!ran) continue;
    snprintf(out, size, "an unknown line");
    return;
  }
  snprintf(out, size, "an unknown line (install binutils: addr2line knows it)");
}

/* ---- areas */

static tt_check_area area_of(const program *p, const symbol *s, const char *thread) {
  tt_check_area a = {.base = s->shared ? (char *)(uintptr_t)thread + (s->at - p->here) : p->base + s->at,
                     .size = s->size,
                     .space = TT_CHECK_FREE};
  if (s->shared && !s->guard) a.space = TT_CHECK_SHARED;
  for (int k = 0; k < p->p->nvariable && !s->shared; k++)
    if (p->p->variable[k].data == (void *)a.base) a.space = TT_CHECK_GLOBAL;
  snprintf(a.name, sizeof a.name, "%s", s->name);
  return a;
}

tt_code tt__cudac_check_new(const tt_cudac_entry *e, const tt_grid *g, tt_check **out, tt_error *err) {
  program *p = program_of(e);
  *out = NULL;
  if (!p) return TT_OK;
  tt_check_sites sites = {p->base, find_line, p};
  tt_check *c = tt__check_new(e->name, g, e->sync & TT_CUDAC_TOGETHER, &sites);
  if (!c) return tt__fail_memory(err, 1);
  const char *thread = p->p->where();
  tt_check_area core = {
      .base = (char *)(uintptr_t)&tt__cudac_core, .size = sizeof tt__cudac_core, .space = TT_CHECK_FREE};
  tt_check_area constants = {.base = p->base + p->rodata, .size = p->rodata_end - p->rodata, .space = TT_CHECK_FREE};
  bool ok = tt__check_add(c, &core) && tt__check_add(c, &constants);
  for (int64_t k = 0; k < p->symbol.n && ok; k++) {
    tt_check_area a = area_of(p, &p->symbol.data[k], thread);
    ok = tt__check_add(c, &a);
  }
  if (!ok) {
    tt__check_free(c);
    return tt__fail_memory(err, 1);
  }
  *out = c;
  return TT_OK;
}
