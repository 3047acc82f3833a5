/*
** First code: the bytes of every instruction as an assembler writes them, and labels, constants and data by running
** them. What is made of programs is compared with the compiler's code in tests/kernels/jit/test_jit_tier.py.
*/
#include "test.h"

#include "device/cpu/baseline/x86.h"

#include <sys/mman.h>

static tt_x86_mem at(int base, int64_t far) { return tt__x86_at(base, far); }

static tt_x86_mem sum(int base, int index, int scale, int32_t far) {
  tt_x86_mem m = tt__x86_at(base, far);
  m.index = index;
  m.scale = scale;
  return m;
}

/* What was added since `from`, as hexadecimal digits. */
static bool added(const tt_x86 *x, int64_t from, const char *want, const char *what) {
  char text[128] = "";
  for (int64_t k = from; k < x->code.n && k < from + 60; k++)
    snprintf(text + 2 * (k - from), 3, "%02x", (unsigned)x->code.data[k]);
  if (strcmp(text, want) == 0) return true;
  fprintf(stderr, "%s: %s, not %s\n", what, text, want);
  return false;
}

#define ROW(want, call)                  \
  do {                                   \
    int64_t from = x.code.n;             \
    call;                                \
    CHECK(added(&x, from, want, #call)); \
  } while (0)

/* clang-format off */
TEST(integers_are_encoded_as_an_assembler_does) {
  tt_x86 x = {0};
  ROW("498bc7", tt__x86_mov(&x, TT_RAX, TT_R15)); /* mov %r15,%rax */
  ROW("4c8bc3", tt__x86_mov(&x, TT_R8, TT_RBX)); /* mov %rbx,%r8 */
  ROW("41b907000000", tt__x86_mov_imm(&x, TT_R9, 7)); /* mov $0x7,%r9d */
  ROW("48c7c1f9ffffff", tt__x86_mov_imm(&x, TT_RCX, -7)); /* mov $0xfffffffffffffff9,%rcx */
  ROW("49baf0debc9a78563412", tt__x86_mov_imm(&x, TT_R10, INT64_C(0x123456789abcdef0)));
  ROW("488b4508", tt__x86_load(&x, TT_RAX, at(TT_RBP, 8), 8, false)); /* mov 0x8(%rbp),%rax */
  ROW("4c631c24", tt__x86_load(&x, TT_R11, at(TT_RSP, 0), 4, true)); /* movslq (%rsp),%r11 */
  ROW("418b94242c010000", tt__x86_load(&x, TT_RDX, at(TT_R12, 300), 4, false)); /* mov 0x12c(%r12),%edx */
  ROW("490fbf7500", tt__x86_load(&x, TT_RSI, at(TT_R13, 0), 2, true)); /* movswq 0x0(%r13),%rsi */
  ROW("4a0fb77c73fc", tt__x86_load(&x, TT_RDI, sum(TT_RBX, TT_R14, 2, -4), 2, false));
  ROW("490fbe7c0d00", tt__x86_load(&x, TT_RDI, sum(TT_R13, TT_RCX, 1, 0), 1, true)); /* movsbq 0x0(%r13,%rcx,1),%rdi */
  ROW("4c0fb6442d00", tt__x86_load(&x, TT_R8, sum(TT_RBP, TT_RBP, 1, 0), 1, false)); /* movzbq 0x0(%rbp,%rbp,1),%r8 */
  ROW("4b8984d1e8030000", tt__x86_store(&x, sum(TT_R9, TT_R10, 8, 1000), TT_RAX, 8)); /* mov %rax,0x3e8(%r9,%r10,8) */
  ROW("448939", tt__x86_store(&x, at(TT_RCX, 0), TT_R15, 4)); /* mov %r15d,(%rcx) */
  ROW("66448939", tt__x86_store(&x, at(TT_RCX, 0), TT_R15, 2)); /* mov %r15w,(%rcx) */
  ROW("408831", tt__x86_store(&x, at(TT_RCX, 0), TT_RSI, 1)); /* mov %sil,(%rcx) */
  ROW("418810", tt__x86_store(&x, at(TT_R8, 0), TT_RDX, 1)); /* mov %dl,(%r8) */
  ROW("480fbec7", tt__x86_extend(&x, TT_RAX, TT_RDI, 1, true)); /* movsbq %dil,%rax */
  ROW("4c0fb6cf", tt__x86_extend(&x, TT_R9, TT_RDI, 1, false)); /* movzbq %dil,%r9 */
  ROW("490fbfc1", tt__x86_extend(&x, TT_RAX, TT_R9, 2, true)); /* movswq %r9w,%rax */
  ROW("4963c1", tt__x86_extend(&x, TT_RAX, TT_R9, 4, true)); /* movslq %r9d,%rax */
  ROW("458bc1", tt__x86_extend(&x, TT_R8, TT_R9, 4, false)); /* mov %r9d,%r8d */
  ROW("488db5401f0000", tt__x86_lea(&x, TT_RSI, at(TT_RBP, 8000))); /* lea 0x1f40(%rbp),%rsi */
  ROW("4903c0", tt__x86_alu(&x, TT_ALU_ADD, TT_RAX, TT_R8)); /* add %r8,%rax */
  ROW("4c3be1", tt__x86_alu(&x, TT_ALU_CMP, TT_R12, TT_RCX)); /* cmp %rcx,%r12 */
  ROW("4c2b65f8", tt__x86_alu_mem(&x, TT_ALU_SUB, TT_R12, at(TT_RBP, -8))); /* sub -0x8(%rbp),%r12 */
  ROW("4883e4f0", tt__x86_alu_imm(&x, TT_ALU_AND, TT_RSP, -16)); /* and $0xfffffffffffffff0,%rsp */
  ROW("4981f3a0860100", tt__x86_alu_imm(&x, TT_ALU_XOR, TT_R11, 100000)); /* xor $0x186a0,%r11 */
  ROW("4983cb01", tt__x86_alu_imm(&x, TT_ALU_OR, TT_R11, 1)); /* or $0x1,%r11 */
  ROW("41837d0000", tt__x86_cmp32_mem_imm(&x, at(TT_R13, 0), 0)); /* cmpl $0x0,0x0(%r13) */
  ROW("48ff8da0000000", tt__x86_dec_mem(&x, at(TT_RBP, 160))); /* decq 0xa0(%rbp) */
  ROW("4c0fafca", tt__x86_imul(&x, TT_R9, TT_RDX)); /* imul %rdx,%r9 */
  ROW("490faf1424", tt__x86_imul_mem(&x, TT_RDX, at(TT_R12, 0))); /* imul (%r12),%rdx */
  ROW("4c6bc905", tt__x86_imul_imm(&x, TT_R9, TT_RCX, 5)); /* imul $0x5,%rcx,%r9 */
  ROW("4969c96d4ec641", tt__x86_imul_imm(&x, TT_RCX, TT_R9, 1103515245)); /* imul $0x41c64e6d,%r9,%rcx */
  ROW("49f7de", tt__x86_neg(&x, TT_R14)); /* neg %r14 */
  ROW("48c1e03f", tt__x86_shift(&x, TT_SHIFT_LEFT, TT_RAX, 63)); /* shl $0x3f,%rax */
  ROW("49c1e901", tt__x86_shift(&x, TT_SHIFT_RIGHT, TT_R9, 1)); /* shr $0x1,%r9 */
  ROW("49c1f91f", tt__x86_shift(&x, TT_SHIFT_SIGNED, TT_R9, 31)); /* sar $0x1f,%r9 */
  ROW("4899", tt__x86_cqo(&x)); /* cqto */
  ROW("48f7f9", tt__x86_divide(&x, TT_RCX, true)); /* idiv %rcx */
  ROW("49f7f0", tt__x86_divide(&x, TT_R8, false)); /* div %r8 */
  ROW("4985c0", tt__x86_test(&x, TT_R8, TT_RAX)); /* test %rax,%r8 */
  ROW("400f95c6480fb6f6", tt__x86_set(&x, TT_CC_NE, TT_RSI)); /* setne %sil; movzbq %sil,%rsi */
  ROW("410f9dc14d0fb6c9", tt__x86_set(&x, TT_CC_GE, TT_R9)); /* setge %r9b; movzbq %r9b,%r9 */
  ROW("0f97c1480fb6c9", tt__x86_set(&x, TT_CC_A, TT_RCX)); /* seta %cl; movzbq %cl,%rcx */
  ROW("41545b", tt__x86_push(&x, TT_R12); tt__x86_pop(&x, TT_RBX)); /* push %r12; pop %rbx */
  ROW("f348ab", tt__x86_rep_stosq(&x)); /* rep stos %rax,%es:(%rdi) */
  ROW("f30f1efa", tt__x86_endbr(&x)); /* endbr64 */
  ROW("ffd0", tt__x86_call(&x, TT_RAX)); /* call *%rax */
  ROW("ff5758", tt__x86_call_mem(&x, at(TT_RDI, 88))); /* call *0x58(%rdi) */
  ROW("c3", tt__x86_ret(&x)); /* ret */
  tt__x86_free(&x);
}

TEST(floats_are_encoded_as_an_assembler_does) {
  tt_x86 x = {0};
  ROW("410f28cf", tt__x86_movs(&x, 1, 15)); /* movaps %xmm15,%xmm1 */
  ROW("f2440f104d10", tt__x86_loads(&x, 9, at(TT_RBP, 16), false)); /* movsd 0x10(%rbp),%xmm9 */
  ROW("f3430f100488", tt__x86_loads(&x, 0, sum(TT_R8, TT_R9, 4, 0), true)); /* movss (%r8,%r9,4),%xmm0 */
  ROW("f2450f11642408", tt__x86_stores(&x, at(TT_R12, 8), 12, false)); /* movsd %xmm12,0x8(%r12) */
  ROW("f30f1118", tt__x86_stores(&x, at(TT_RAX, 0), 3, true)); /* movss %xmm3,(%rax) */
  ROW("f2410f58c9", tt__x86_sse(&x, TT_SSE_ADD, 1, 9, false)); /* addsd %xmm9,%xmm1 */
  ROW("f3440f59c9", tt__x86_sse(&x, TT_SSE_MUL, 9, 1, true)); /* mulss %xmm1,%xmm9 */
  ROW("f20f51c0", tt__x86_sse(&x, TT_SSE_SQRT, 0, 0, false)); /* sqrtsd %xmm0,%xmm0 */
  ROW("440f57d2", tt__x86_sse(&x, TT_SSE_XOR, 10, 2, false)); /* xorps %xmm2,%xmm10 */
  ROW("410f54d2", tt__x86_sse(&x, TT_SSE_AND, 2, 10, true)); /* andps %xmm10,%xmm2 */
  ROW("f20f5c23", tt__x86_sse_mem(&x, TT_SSE_SUB, 4, at(TT_RBX, 0), false)); /* subsd (%rbx),%xmm4 */
  ROW("f3440f5e33", tt__x86_sse_mem(&x, TT_SSE_DIV, 14, at(TT_RBX, 0), true)); /* divss (%rbx),%xmm14 */
  ROW("66410f2edb", tt__x86_ucomis(&x, 3, 11, false)); /* ucomisd %xmm11,%xmm3 */
  ROW("0f2ed9", tt__x86_ucomis(&x, 3, 1, true)); /* ucomiss %xmm1,%xmm3 */
  ROW("0f57edf2490f2ae9", tt__x86_cvt_from_int(&x, 5, TT_R9, false)); /* xorps %xmm5,%xmm5; cvtsi2sd %r9,%xmm5 */
  ROW("450f57c9f34c0f2ac8", tt__x86_cvt_from_int(&x, 9, TT_RAX, true)); /* xorps %xmm9,%xmm9; cvtsi2ss %rax,%xmm9 */
  ROW("f24c0f2cca", tt__x86_cvtt(&x, TT_R9, 2, false, true)); /* cvttsd2si %xmm2,%r9 */
  ROW("f3410f2cc4", tt__x86_cvtt(&x, TT_RAX, 12, true, false)); /* cvttss2si %xmm12,%eax */
  ROW("f30f5aca", tt__x86_cvts(&x, 1, 2, true)); /* cvtss2sd %xmm2,%xmm1 */
  ROW("f2440f5aca", tt__x86_cvts(&x, 9, 2, false)); /* cvtsd2ss %xmm2,%xmm9 */
  tt__x86_free(&x);
}
/* clang-format on */

#if defined(__x86_64__)
/* sum(n) = 1 + 2 + ... + n by a loop that jumps both ways, plus a constant, plus what stands behind the code. */
TEST(labels_constants_and_data_are_found) {
  enum { PAGE = 4096 };
  tt_x86 x = {0};
  int data = tt__x86_label(&x), head = tt__x86_label(&x), end = tt__x86_label(&x), twice = tt__x86_label(&x);
  tt__x86_mov_imm(&x, TT_RAX, 0);
  tt__x86_place(&x, head);
  tt__x86_test(&x, TT_RDI, TT_RDI);
  tt__x86_jump_if(&x, TT_CC_E, end);
  tt__x86_alu(&x, TT_ALU_ADD, TT_RAX, TT_RDI);
  tt__x86_alu_imm(&x, TT_ALU_SUB, TT_RDI, 1);
  tt__x86_jump(&x, head);
  tt__x86_place(&x, end);
  tt__x86_alu_mem(&x, TT_ALU_ADD, TT_RAX, tt__x86_of_label(tt__x86_constant(&x, 1000)));
  tt__x86_alu_mem(&x, TT_ALU_ADD, TT_RAX, tt__x86_of_label(data));
  tt__x86_cmp32_mem_imm(&x, tt__x86_of_label(data), 7);
  tt__x86_jump_if(&x, TT_CC_NE, twice);
  tt__x86_ret(&x);
  tt__x86_place(&x, twice);
  tt__x86_alu(&x, TT_ALU_ADD, TT_RAX, TT_RAX);
  tt__x86_ret(&x);
  CHECK_INT(tt__x86_constant(&x, 1000), tt__x86_constant(&x, 1000));
  int64_t size = tt__x86_size(&x);
  tt__x86_end(&x, data, PAGE);
  CHECK(!x.failed);
  CHECK_INT(x.code.n, size);
  char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memcpy(memory, x.code.data, (size_t)x.code.n);
  CHECK_INT(mprotect(memory, PAGE, PROT_READ | PROT_EXEC), 0);
  int64_t (*f)(int64_t);
  memcpy(&f, &memory, sizeof f);
  memory[PAGE] = 7;
  CHECK_INT(f(10), 55 + 1000 + 7);
  memory[PAGE] = 8;
  CHECK_INT(f(10), 2 * (55 + 1000 + 8));
  munmap(memory, 2 * PAGE);
  tt__x86_free(&x);
}
#endif

TEST(a_distance_beyond_31_bits_is_a_failure) {
  tt_x86 x = {0};
  int data = tt__x86_label(&x);
  tt__x86_alu_mem(&x, TT_ALU_ADD, TT_RAX, tt__x86_of_label(data));
  tt__x86_end(&x, data, INT64_C(1) << 32);
  CHECK(x.failed);
  tt__x86_free(&x);
}

TEST_MAIN()
