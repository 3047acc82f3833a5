/*
** Functions around their statements, and code in memory.
*/
#include "device/cpu/baseline/baseline.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/os/os.h"
#include "device/cpu/baseline/baseline_int.h"

#if defined(__x86_64__)

enum { MOST_WORDS = 400, MOST_HIDDEN = 64 }; /* a frame stays well within what one probe of the stack may leave out */

/* Registers that a function keeps for its caller; an odd number of pushes would leave the stack as it must not be. */
static const int saved[] = {TT_RBP, TT_RBX, TT_R12, TT_R13, TT_R14, TT_R15};
enum { NSAVED = sizeof saved / sizeof *saved };

static int hidden_words(const tt_proc *p) {
  int n = 0;
  for (int64_t k = 0; k < p->globals.n; k++) n += tt__ptype_words(p->globals.data[k]);
  return n;
}

static bool has_while(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->op == TT_X_WHILE || has_while(s->body) || has_while(s->other)) return true;
  return false;
}

static bool holds_list(const tt_ptype *t) {
  bool any = t->tag == TT_T_LIST || t->tag == TT_T_GENERATOR;
  for (int k = 0; k < t->n && !any; k++) any = holds_list(t->item[k]);
  return any;
}

/* Lay out the frame; it grows by what calls of the program's functions need. */
static bool lay_out(tt_baseline_maker *m) {
  int locals = tt__pframe_loop(m->f, tt__program_loops(m->f->body) + 1);
  m->hidden = locals;
  m->nlocation = locals + hidden_words(m->p);
  m->call = m->nlocation;
  m->out = m->call + 1;
  m->turns = m->out + 1;
  m->temp = m->turns + 1;
  m->words = m->temp + TT_SCRATCH + TT_SCRATCH_REAL;
  m->location = tt__arena_alloc(&m->arena, (size_t)(m->nlocation + 1) * sizeof *m->location);
  if (!m->location) m->x.failed = true;
  for (int64_t k = 0; k < m->f->locals.n; k++)
    if (holds_list(m->f->locals.data[k].type)) tt__baseline_decline(m, "a list");
  if (m->words > MOST_WORDS) tt__baseline_decline(m, "too many variables");
  return m->location && !m->why;
}

/* Arguments to the frame, all else there zero; then the hidden arrays. */
static void put_arguments(tt_baseline_maker *m) {
  int at = 0;
  tt__x86_mov(&m->x, TT_R8, TT_RDI);
  tt__x86_mov(&m->x, TT_RDI, TT_RBP);
  tt__x86_mov_imm(&m->x, TT_RAX, 0);
  tt__x86_mov_imm(&m->x, TT_RCX, m->nlocation);
  tt__x86_rep_stosq(&m->x);
  tt__x86_store(&m->x, tt__baseline_word(m->call), TT_R8, 8);
  tt__x86_store(&m->x, tt__baseline_word(m->out), TT_RDX, 8);
  for (int32_t k = 0; k < m->f->nparam; k++) {
    const tt_ptype *t = m->f->locals.data[k].type;
    bool number = tt__baseline_is_int(t);
    for (int n = tt__ptype_words(t); n > 0; n--, at++) {
      tt__x86_load(&m->x, TT_RAX, tt__x86_at(TT_RSI, 8 * at), number ? tt__baseline_size(t) : 8,
                   number && tt__baseline_signed(t));
      tt__x86_store(&m->x, tt__baseline_word(at), TT_RAX, 8);
    }
  }
  if (m->nlocation > m->hidden) tt__x86_load(&m->x, TT_RSI, tt__x86_at(TT_R8, offsetof(tt_pcall, hidden)), 8, false);
  for (int k = m->hidden; k < m->nlocation; k++) {
    tt__x86_load(&m->x, TT_RAX, tt__x86_at(TT_RSI, 8 * (k - m->hidden)), 8, false);
    tt__x86_store(&m->x, tt__baseline_word(k), TT_RAX, 8);
  }
  if (!has_while(m->f->body)) return;
  tt__x86_mov_imm(&m->x, TT_RAX, TT_BASELINE_TURNS);
  tt__x86_store(&m->x, tt__baseline_word(m->turns), TT_RAX, 8);
}

/* How far the stack goes down is known when the function is written: four bytes that stand for it. */
static void put_room(tt_baseline_maker *m, bool back, int64_t *at) {
  tt__x86_alu_imm(&m->x, back ? TT_ALU_ADD : TT_ALU_SUB, TT_RSP, 0x01000000);
  *at = m->x.code.n - 4;
}

static void put_function(tt_baseline_maker *m, int32_t number) {
  int64_t room, back;
  m->f = m->p->funcs.data[number];
  m->number = number;
  m->loop = NULL;
  if (m->f->recursive) tt__baseline_decline(m, "recursion");
  if (m->f->yields) tt__baseline_decline(m, "a generator");
  if (m->f->kind != TT_X_FUNCTION || m->f->place) tt__baseline_decline(m, "a kernel");
  if (!lay_out(m)) return;
  m->fail = tt__x86_label(&m->x);
  m->done = tt__x86_label(&m->x);
  tt__baseline_allocate(m);
  tt__x86_place(&m->x, m->entry[number]);
  tt__x86_endbr(&m->x);
  for (int k = 0; k < NSAVED; k++) tt__x86_push(&m->x, saved[k]);
  put_room(m, false, &room);
  tt__x86_mov(&m->x, TT_RBP, TT_RSP);
  put_arguments(m);
  tt__baseline_stmts(m, m->f->body);
  tt__x86_place(&m->x, m->done);
  tt__x86_mov_imm(&m->x, TT_RAX, 0);
  int out = tt__x86_label(&m->x);
  tt__x86_place(&m->x, out);
  put_room(m, true, &back);
  for (int k = NSAVED - 1; k >= 0; k--) tt__x86_pop(&m->x, saved[k]);
  tt__x86_ret(&m->x);
  tt__x86_place(&m->x, m->fail);
  tt__x86_mov_imm(&m->x, TT_RAX, 1);
  tt__x86_jump(&m->x, out);
  tt__baseline_put_cold(m);
  if (m->words > MOST_WORDS) tt__baseline_decline(m, "too many variables");
  if (m->x.failed || m->why) return;
  int32_t bytes = 8 * (m->words | 1); /* the address to return to and the registers above are seven words */
  memcpy(m->x.code.data + room, &bytes, sizeof bytes);
  memcpy(m->x.code.data + back, &bytes, sizeof bytes);
}

/* ---- code in memory: written, then made executable; behind it a page of data */

static bool place_code(tt_baseline_maker *m, tt_baseline *out) {
  size_t page = tt__page_size();
  if (m->x.failed || tt__fault(TT_FAULT_LOAD)) return false;
  size_t code = ((size_t)tt__x86_size(&m->x) + page - 1) & ~(page - 1);
  tt__x86_end(&m->x, m->flag, (int64_t)code);
  if (m->x.failed) return false;
  char *at = mmap(NULL, code + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  memcpy(at, m->x.code.data, (size_t)m->x.code.n);
  if (mprotect(at, code, PROT_READ | PROT_EXEC) != 0) {
    munmap(at, code + page);
    return false;
  }
  *out = (tt_baseline){.memory = at, .size = code + page, .over = (int32_t *)(void *)(at + code)};
  return true;
}

bool tt__baseline_make(const tt_proc *p, const tt_baseline_host *host, tt_baseline *out, char *why, size_t size) {
  tt_baseline_maker m = {.p = p, .host = host};
  int32_t entry = -1;
  size_t n = (size_t)p->funcs.n;
  m.entry = tt__arena_alloc(&m.arena, (n + 1) * sizeof *m.entry);
  if (!m.entry) m.x.failed = true;
  if (p->bounds) tt__baseline_decline(&m, "indices are checked");
  if (hidden_words(p) > MOST_HIDDEN) tt__baseline_decline(&m, "too many global arrays");
  m.flag = tt__x86_label(&m.x);
  for (int k = 0; k < 8; k++) tt__x86_endbr(&m.x); /* sanitizers look for their marks before a function */
  for (int32_t k = 0; k < p->funcs.n && !m.x.failed; k++) {
    m.entry[k] = tt__x86_label(&m.x);
    if (p->funcs.data[k] == p->entry) entry = k;
  }
  for (int32_t k = 0; k < p->funcs.n && !m.x.failed && !m.why; k++) put_function(&m, k);
  bool ok = !m.why && !m.x.failed && entry >= 0 && place_code(&m, out);
  if (ok) {
    char *at = (char *)out->memory + m.x.label.data[m.entry[entry]];
    memcpy(&out->entry, &at, sizeof at);
  } else {
    snprintf(why, size, "%s", m.why ? m.why : "no memory for code");
  }
  TT_VEC_FREE(&m.cold);
  tt__x86_free(&m.x);
  tt__arena_free(&m.arena);
  return ok;
}

void tt__baseline_free(tt_baseline *f) {
  if (f->memory) munmap(f->memory, f->size);
  *f = (tt_baseline){0};
}

#else

bool tt__baseline_make(const tt_proc *p, const tt_baseline_host *host, tt_baseline *out, char *why, size_t size) {
  (void)p, (void)host, (void)out;
  snprintf(why, size, "this processor");
  return false;
}

void tt__baseline_free(tt_baseline *f) { *f = (tt_baseline){0}; }

#endif
