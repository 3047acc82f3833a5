/*
** Switching stacks: a few lines of assembly where we know the machine, ucontext elsewhere.
*/
#include "lang/cuda_c/fiber.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

/* Registers that a call keeps, then the return address: rbp rbx r12 r13 r14 r15. */
__asm__(
    ".text\n.hidden tt__fiber_switch\n.globl tt__fiber_switch\n.type tt__fiber_switch,@function\n.p2align 4\n"
    "tt__fiber_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
    ".size tt__fiber_switch, .-tt__fiber_switch\n"
    ".hidden tt__fiber_begin\n.globl tt__fiber_begin\n.type tt__fiber_begin,@function\n"
    "tt__fiber_begin:\n  mov %r12, %rdi\n  call *%r13\n  ud2\n"
    ".size tt__fiber_begin, .-tt__fiber_begin\n");
TT_HIDDEN void tt__fiber_begin(void);

tt_fiber tt__fiber_new(void *top, size_t size, void (*body)(void *), void *arg) {
  void **sp = (void **)top - 7; /* tt__fiber_begin finds the stack aligned, as before a call */
  (void)size;
  memset(sp, 0, 7 * sizeof *sp);
  sp[2] = (void *)(uintptr_t)body; /* r13 */
  sp[3] = arg;                     /* r12 */
  sp[6] = (void *)(uintptr_t)tt__fiber_begin;
  return sp;
}

#elif defined(__aarch64__)

/* x19 to x30 and d8 to d15. */
__asm__(
    ".text\n.hidden tt__fiber_switch\n.globl tt__fiber_switch\n.type tt__fiber_switch,%function\n.p2align 4\n"
    "tt__fiber_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n"
    ".size tt__fiber_switch, .-tt__fiber_switch\n"
    ".hidden tt__fiber_begin\n.globl tt__fiber_begin\n.type tt__fiber_begin,%function\n"
    "tt__fiber_begin:\n  mov x0, x19\n  blr x20\n  brk #1\n"
    ".size tt__fiber_begin, .-tt__fiber_begin\n");
TT_HIDDEN void tt__fiber_begin(void);

tt_fiber tt__fiber_new(void *top, size_t size, void (*body)(void *), void *arg) {
  void **sp = (void **)top - 20;
  (void)size;
  memset(sp, 0, 20 * sizeof *sp);
  sp[0] = arg;                     /* x19 */
  sp[1] = (void *)(uintptr_t)body; /* x20 */
  sp[11] = (void *)(uintptr_t)tt__fiber_begin;
  return sp;
}

#else

#include <ucontext.h>

typedef struct place {
  ucontext_t context;
  void (*body)(void *);
  void *arg;
} place;

static void begin(unsigned hi, unsigned lo) {
  place *p = (place *)(((uintptr_t)hi << 16 << 16) | lo);
  p->body(p->arg);
}

/* The context lies at the top of the stack itself. */
tt_fiber tt__fiber_new(void *top, size_t size, void (*body)(void *), void *arg) {
  place *p = (place *)(((uintptr_t)top - sizeof *p) & ~(uintptr_t)63);
  char *low = (char *)top - size;
  getcontext(&p->context);
  p->body = body;
  p->arg = arg;
  p->context.uc_stack.ss_sp = low;
  p->context.uc_stack.ss_size = (size_t)((char *)p - low);
  p->context.uc_link = NULL;
  uintptr_t u = (uintptr_t)p;
  makecontext(&p->context, (void (*)(void))begin, 2, (unsigned)(u >> 16 >> 16), (unsigned)u);
  return p;
}

void tt__fiber_switch(tt_fiber *from, tt_fiber to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, to);
}

#endif
