/*
** The table of ufuncs: the elementwise ops, and the functions of functions.def that are ufuncs in NumPy.
*/
#include "fn/ufunc/ufunc.h"

#include <math.h>
#include <string.h>

#include "graph/promote.h"

#define BIT(t) (1u << TT_##t)
#define WHOLE (BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64) | BIT(U8) | BIT(U16) | BIT(U32) | BIT(U64))
#define FLOATS (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define COMPLEX (BIT(C64) | BIT(C128))

typedef struct function {
  tt_ufunc_info info;
  unsigned types; /* that it computes in, a bit each */
} function;

#define EXPONENT(name, nin, nout) \
  { {name, TT_OP_COUNT, nin, nout, {.tag = TT_V_NONE}, NULL, true}, FLOATS }
#define FUNCTION(name, nin, nout, core, types) \
  { {name, TT_OP_COUNT, nin, nout, {.tag = TT_V_NONE}, core, false}, types }
static const function functions[] = {
    FUNCTION("positive", 1, 1, NULL, WHOLE | FLOATS | COMPLEX),
    FUNCTION("fabs", 1, 1, NULL, FLOATS),
    FUNCTION("degrees", 1, 1, NULL, FLOATS),
    FUNCTION("radians", 1, 1, NULL, FLOATS),
    FUNCTION("spacing", 1, 1, NULL, FLOATS),
    FUNCTION("bitwise_count", 1, 1, NULL, WHOLE),
    FUNCTION("modf", 1, 2, NULL, FLOATS),
    EXPONENT("frexp", 1, 2),
    FUNCTION("divmod", 2, 2, NULL, WHOLE | FLOATS),
    FUNCTION("special.sici", 1, 2, NULL, FLOATS),
    FUNCTION("special.shichi", 1, 2, NULL, FLOATS),
    FUNCTION("special.fresnel", 1, 2, NULL, FLOATS),
    FUNCTION("float_power", 2, 1, NULL, BIT(F64) | BIT(C128)),
    {{"logaddexp2", TT_OP_COUNT, 2, 1, {.tag = TT_V_FLOAT, .as.f = -INFINITY}, NULL, false}, FLOATS},
    FUNCTION("heaviside", 2, 1, NULL, FLOATS),
    EXPONENT("ldexp", 2, 1),
    FUNCTION("matmul", 2, 1, "(n?,k),(k,m?)->(n?,m?)", BIT(BOOL) | WHOLE | FLOATS | COMPLEX),
    FUNCTION("vecdot", 2, 1, "(n),(n)->()", BIT(BOOL) | WHOLE | FLOATS | COMPLEX),
    FUNCTION("matvec", 2, 1, "(m,n),(n)->(m)", BIT(BOOL) | WHOLE | FLOATS | COMPLEX),
    FUNCTION("vecmat", 2, 1, "(n),(n,m)->(m)", BIT(BOOL) | WHOLE | FLOATS | COMPLEX),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static tt_ufunc_info ops[TT_OP_COUNT];
static int op_count;

static tt_value identity_of(tt_op op) {
  switch (tt__ops[op].identity) {
    case TT_IDENTITY_ZERO:
      return tt_v_int(0);
    case TT_IDENTITY_ONE:
      return tt_v_int(1);
    case TT_IDENTITY_ONES:
      return tt_v_int(-1);
    case TT_IDENTITY_TRUE:
    case TT_IDENTITY_FALSE:
      return (tt_value){.tag = TT_V_BOOL, .as.b = tt__ops[op].identity == TT_IDENTITY_TRUE};
    case TT_IDENTITY_LOWEST:
      return tt_v_float(-INFINITY);
    default:
      return (tt_value){.tag = TT_V_NONE};
  }
}

__attribute__((constructor)) static void fill(void) {
  for (int op = 0; op < TT_OP_COUNT; op++) {
    const char *name = tt__ops[op].numpy;
    if (!name[0] || op == TT_WHERE || op == TT_REAL || op == TT_IMAG) continue; /* functions there, too */
    ops[op_count++] = (tt_ufunc_info){
        .name = name, .op = (tt_op)op, .nin = tt__ops[op].arity, .nout = 1, .identity = identity_of((tt_op)op)};
  }
}

const tt_ufunc_info *tt_ufunc(int k) {
  if (k < 0 || k >= op_count + FUNCTIONS) return NULL;
  return k < op_count ? &ops[k] : &functions[k - op_count].info;
}

const tt_ufunc_info *tt__ufunc_named(const char *name) {
  const tt_ufunc_info *u;
  for (int k = 0; (u = tt_ufunc(k)); k++)
    if (strcmp(u->name, name) == 0) return u;
  return NULL;
}

bool tt_ufunc_loop(const tt_ufunc_info *u, tt_dtype operand, tt_dtype *result) {
  tt_value v[3];
  tt_types types;
  *result = operand;
  if (u->op == TT_OP_COUNT) {
    const function *f = (const function *)(const void *)u; /* the info is its first member */
    if (strcmp(u->name, "bitwise_count") == 0) *result = TT_U8;
    return f->types >> operand & 1;
  }
  for (int k = 0; k < u->nin; k++) v[k] = (tt_value){.tag = TT_V_DTYPE, .as.dtype = operand};
  if (tt__op_types(u->op, v, u->nin, TT_DTYPE_NONE, &types, NULL) != TT_OK) return false;
  *result = types.result;
  return types.compute == operand || tt__ops[u->op].cls == TT_CLASS_LOGIC;
}

bool tt__ufunc_is_reorderable(const tt_ufunc_info *u) {
  if (u->identity.tag != TT_V_NONE) return true;
  return u->op != TT_OP_COUNT && tt__ops[u->op].flags & TT_OPF_ASSOC;
}
