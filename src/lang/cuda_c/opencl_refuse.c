/* What of CUDA C has no counterpart in OpenCL C, and the line that says so. */
#include "lang/cuda_c/opencl_int.h"

int tt__clw_line(const cl_writer *c, int64_t k) {
  int line = 1;
  uint32_t end = k < c->scan.word.n ? c->scan.word.data[k].at : c->scan.len;
  for (uint32_t at = 0; at < end; at++) line += c->scan.text[at] == '\n';
  return line;
}

void tt__clw_refuse(cl_writer *c, int64_t k, const char *why) {
  int len;
  if (c->code != TT_OK) return;
  const char *word = clw_spelled(c, k, &len);
  c->code =
      tt__fail(c->err, TT_ECOMPILE, "%s:%d: '%.*s': %s", c->file, tt__clw_line(c, k), len > 60 ? 60 : len, word, why);
}

typedef struct refusal {
  const char *word, *why;
} refusal;

const char tt__clw_cpp[] = "OpenCL C is no C++";
static const char warps[] = "OpenCL's devices have no warps", none[] = "OpenCL C has no such thing",
                  whole[] = "OpenCL has no barrier of the whole grid";
static const refusal refusals[] = {
    {"template", tt__clw_cpp},
    {"typename", tt__clw_cpp},
    {"class", tt__clw_cpp},
    {"namespace", tt__clw_cpp},
    {"using", tt__clw_cpp},
    {"operator", tt__clw_cpp},
    {"auto", tt__clw_cpp},
    {"new", tt__clw_cpp},
    {"delete", tt__clw_cpp},
    {"throw", tt__clw_cpp},
    {"try", tt__clw_cpp},
    {"virtual", tt__clw_cpp},
    {"constexpr", tt__clw_cpp},
    {"nullptr", tt__clw_cpp},
    {"static_cast", tt__clw_cpp},
    {"reinterpret_cast", tt__clw_cpp},
    {"const_cast", tt__clw_cpp},
    {"dynamic_cast", tt__clw_cpp},
    {"decltype", tt__clw_cpp},
    {"public", tt__clw_cpp},
    {"private", tt__clw_cpp},
    {"__shfl_sync", warps},
    {"__shfl_up_sync", warps},
    {"__shfl_down_sync", warps},
    {"__shfl_xor_sync", warps},
    {"__shfl", warps},
    {"__shfl_up", warps},
    {"__shfl_down", warps},
    {"__shfl_xor", warps},
    {"__ballot_sync", warps},
    {"__any_sync", warps},
    {"__all_sync", warps},
    {"__match_any_sync", warps},
    {"__activemask", warps},
    {"__syncwarp", warps},
    {"warpSize", warps},
    {"this_grid", whole},
    {"grid_group", whole},
    {"cooperative_groups", whole},
    {"asm", none},
    {"__trap", none},
    {"assert", none},
    {"malloc", none},
    {"free", none},
    {"clock", none},
    {"clock64", none},
    {"__managed__", none},
    {"tex1Dfetch", none},
    {"tex2D", none},
    {"__half", none},
    {"half", none},
    {"__nv_bfloat16", none},
    {"goto", none},
    {"cudaMalloc", none},
};

void tt__clw_refuse_all(cl_writer *c) {
  for (int64_t k = 0; k < c->scan.word.n && c->code == TT_OK; k++) {
    for (size_t i = 0; clw_kind_of(c, k) == 'i' && i < sizeof refusals / sizeof *refusals; i++)
      if (clw_is(c, k, refusals[i].word)) tt__clw_refuse(c, k, refusals[i].why);
    if (clw_kind_of(c, k) == ':' && clw_kind_of(c, k + 1) == ':') tt__clw_refuse(c, k, tt__clw_cpp);
    if (clw_kind_of(c, k) == '<' && clw_kind_of(c, k + 1) == '<' && clw_kind_of(c, k + 2) == '<')
      tt__clw_refuse(c, k, "kernels launch no kernels there");
  }
}
