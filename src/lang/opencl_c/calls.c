/*
** Functions of OpenCL C whose calls are written in other words. What is a function of the prelude stands as it is.
*/
#include <string.h>

#include "lang/opencl_c/translate.h"

/* ---- where a work-item is */

#define NUMBER_X "blockIdx.x * blockDim.x + threadIdx.x"
#define NUMBER_Y "blockIdx.y * blockDim.y + threadIdx.y"
#define NUMBER_Z "blockIdx.z * blockDim.z + threadIdx.z"
#define LINEAR "tt_linear(threadIdx.x, threadIdx.y, threadIdx.z, blockDim.x, blockDim.y)"
#define THREADS "(blockDim.x * blockDim.y * blockDim.z)"

typedef struct axis_row {
  const char *name, *axis[3], *otherwise;
  const char *offset[3]; /* behind it where indices do not begin at 0 */
} axis_row;
static const axis_row axis_rows[] = {
    {"get_global_id", {NUMBER_X, NUMBER_Y, NUMBER_Z}, "0", {" + tt_offset.x", " + tt_offset.y", " + tt_offset.z"}},
    {"get_local_id", {"threadIdx.x", "threadIdx.y", "threadIdx.z"}, "0", {"", "", ""}},
    {"get_group_id", {"blockIdx.x", "blockIdx.y", "blockIdx.z"}, "0", {"", "", ""}},
    {"get_global_size",
     {"gridDim.x * blockDim.x", "gridDim.y * blockDim.y", "gridDim.z * blockDim.z"},
     "1",
     {"", "", ""}},
    {"get_local_size", {"blockDim.x", "blockDim.y", "blockDim.z"}, "1", {"", "", ""}},
    {"get_enqueued_local_size", {"blockDim.x", "blockDim.y", "blockDim.z"}, "1", {"", "", ""}},
    {"get_num_groups", {"gridDim.x", "gridDim.y", "gridDim.z"}, "1", {"", "", ""}},
    {"get_global_offset", {"0", "0", "0"}, "0", {" + tt_offset.x", " + tt_offset.y", " + tt_offset.z"}},
};

/* "((size_t)(...) + tt_offset.x)" */
static void write_axis(const tt_opencl_text *t, const axis_row *row, int d, tt_str *out) {
  bool alone = !strchr(row->axis[d], ' ');
  tt__str_addf(out, alone ? "((size_t)%s" : "((size_t)(%s)", row->axis[d]);
  tt__str_addf(out, "%s)", t->how->offset ? row->offset[d] : "");
}

static int64_t write_axis_call(tt_opencl_text *t, int64_t k, const axis_row *row) {
  int64_t close = tt__cudac_close(&t->scan, k + 1);
  if (close == k + 3 && tt__opencl_kind(t, k + 2) == 'n') {
    size_t len;
    const char *digit = tt__opencl_word(t, k + 2, &len);
    int d = digit[0] - '0';
    if (d >= 0 && d < 3)
      write_axis(t, row, d, t->out);
    else
      tt__str_addf(t->out, "((size_t)%s)", row->otherwise);
    tt__opencl_line_ends(t, k, close + 1);
    return close + 1;
  }
  tt__str_add(t->out, "tt_axis(");
  for (int d = 0; d < 3; d++) {
    write_axis(t, row, d, t->out);
    tt__str_add(t->out, ", ");
  }
  tt__str_addf(t->out, "%s, ", row->otherwise);
  return k + 2;
}

/* ---- calls that other words stand for, with their brackets */

typedef struct whole_row {
  const char *name, *text;
} whole_row;
static const whole_row whole_rows[] = {
    {"barrier", "__syncthreads()"},
    {"work_group_barrier", "__syncthreads()"},
    {"wait_group_events", "__syncthreads()"},
    {"sub_group_barrier", "__syncwarp()"},
    {"get_work_dim", "tt_work_dim"},
    {"get_local_linear_id", "((size_t)" LINEAR ")"},
    {"get_sub_group_local_id", "((uint)" LINEAR " & 31u)"},
    {"get_sub_group_id", "((uint)" LINEAR " / 32u)"},
    {"get_sub_group_size", "tt_sub_group_size_of((uint)" LINEAR ", " THREADS ")"},
    {"get_max_sub_group_size", "tt_sub_group_size_of(0u, " THREADS ")"},
    {"get_num_sub_groups", "((" THREADS " + 31u) / 32u)"},
    {"get_enqueued_num_sub_groups", "((" THREADS " + 31u) / 32u)"},
    {"get_global_linear_id",
     "((size_t)tt_linear(" NUMBER_X ", " NUMBER_Y ", " NUMBER_Z ", gridDim.x * blockDim.x, gridDim.y * blockDim.y))"},
};

/* ---- names that become others */

typedef struct name_row {
  const char *from, *to, *last; /* an argument that is added */
} name_row;
static const name_row name_rows[] = {
    {"atomic_add", "atomicAdd", NULL},
    {"atomic_sub", "atomicSub", NULL},
    {"atomic_xchg", "atomicExch", NULL},
    {"atomic_min", "atomicMin", NULL},
    {"atomic_max", "atomicMax", NULL},
    {"atomic_and", "atomicAnd", NULL},
    {"atomic_or", "atomicOr", NULL},
    {"atomic_xor", "atomicXor", NULL},
    {"atomic_cmpxchg", "atomicCAS", NULL},
    {"atomic_inc", "atomicAdd", ", 1"},
    {"atomic_dec", "atomicSub", ", 1"},
    {"atom_add", "atomicAdd", NULL},
    {"atom_sub", "atomicSub", NULL},
    {"atom_xchg", "atomicExch", NULL},
    {"atom_min", "atomicMin", NULL},
    {"atom_max", "atomicMax", NULL},
    {"atom_and", "atomicAnd", NULL},
    {"atom_or", "atomicOr", NULL},
    {"atom_xor", "atomicXor", NULL},
    {"atom_cmpxchg", "atomicCAS", NULL},
    {"atom_inc", "atomicAdd", ", 1"},
    {"atom_dec", "atomicSub", ", 1"},
    {"work_group_all", "tt_group_all", NULL},
    {"work_group_any", "tt_group_any", NULL},
    {"work_group_broadcast", "tt_group_broadcast", NULL},
    {"sub_group_all", "__all", NULL},
    {"sub_group_any", "__any", NULL},
    {"sub_group_broadcast", "__shfl", NULL},
    {"sub_group_shuffle", "__shfl", NULL},
    {"sub_group_shuffle_xor", "__shfl_xor", NULL},
    {"sub_group_shuffle_up", "__shfl_up", NULL},
    {"sub_group_shuffle_down", "__shfl_down", NULL},
};

static bool begins(const char *word, size_t len, const char *with) {
  size_t n = strlen(with);
  return len >= n && memcmp(word, with, n) == 0;
}

/* work_group_reduce_add and its kin. */
static bool write_fold(tt_opencl_text *t, const char *word, size_t len) {
  static const char *const folds[] = {"reduce_", "scan_inclusive_", "scan_exclusive_"};
  bool group = begins(word, len, "work_group_"), sub = begins(word, len, "sub_group_");
  if (!group && !sub) return false;
  const char *rest = word + (group ? 11 : 10);
  size_t left = len - (size_t)(rest - word);
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
    if (!begins(rest, left, folds[i])) continue;
    size_t skip = sub && i == 0 ? strlen(folds[0]) : 0;
    tt__str_addf(t->out, "%s%.*s", group ? "tt_group_" : "__reduce_tt_", (int)(left - skip), rest + skip);
    return true;
  }
  return false;
}

/* ---- names that carry types: convert_float4_sat_rte, as_uint, vload4, vstore_half2_rtz */

static bool read_mode(const char *text, size_t len, int *mode) {
  static const char *const modes[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
  for (int k = 0; k < 5; k++)
    if (strlen(modes[k]) == len && memcmp(modes[k], text, len) == 0) return *mode = k, true;
  return false;
}

static bool write_convert(tt_opencl_text *t, const char *word, size_t len) {
  if (!begins(word, len, "convert_")) return false;
  const char *type = word + 8, *rest;
  size_t n = tt__opencl_type(type, len - 8, true), left = len - 8 - n;
  int mode;
  rest = type + n;
  bool sat = begins(rest, left, "_sat");
  if (n == 0 || !read_mode(rest + (sat ? 4 : 0), left - (sat ? 4 : 0), &mode)) return false;
  tt__str_addf(t->out, "tt_convert<%.*s, %s, %d>", (int)n, type, sat ? "true" : "false", mode);
  return true;
}

static bool write_as(tt_opencl_text *t, const char *word, size_t len) {
  if (!begins(word, len, "as_") || tt__opencl_type(word + 3, len - 3, true) != len - 3 || len == 3) return false;
  tt__str_addf(t->out, "tt_as<%.*s>", (int)(len - 3), word + 3);
  return true;
}

/* The digits of a vector's length; 1 where there are none. */
static int read_size(const char **text, size_t *len) {
  int n = 0;
  while (*len && **text >= '0' && **text <= '9') {
    n = n * 10 + (**text - '0');
    ++*text;
    --*len;
  }
  return n ? n : 1;
}

static bool write_memory(tt_opencl_text *t, const char *word, size_t len) {
  static const struct {
    const char *from, *to;
    bool store;
  } rows[] = {{"vload_half", "tt_vload_half", false},
              {"vloada_half", "tt_vloada_half", false},
              {"vstore_half", "tt_vstore_half", true},
              {"vstorea_half", "tt_vstorea_half", true},
              {"vload", "tt_vload", false},
              {"vstore", "tt_vstore", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!begins(word, len, rows[i].from)) continue;
    const char *rest = word + strlen(rows[i].from);
    size_t left = len - strlen(rows[i].from);
    int mode = 0, n = read_size(&rest, &left);
    if (left && (!rows[i].store || !read_mode(rest, left, &mode))) continue;
    if (n == 1 && i >= 4) continue;
    if (rows[i].store)
      tt__str_addf(t->out, "%s<%d, %d>", rows[i].to, n, mode);
    else
      tt__str_addf(t->out, "%s<%d>", rows[i].to, n);
    return true;
  }
  return false;
}

/* async_work_group_copy: each thread its share. */
static int64_t write_copy(tt_opencl_text *t, int64_t k) {
  bool plain = tt__opencl_is(t, k, "async_work_group_copy"),
       strided = tt__opencl_is(t, k, "async_work_group_strided_copy");
  if (!plain && !strided) return k;
  int64_t to = k + 2;
  while (tt__opencl_kind(t, to) == '&' || tt__opencl_kind(t, to) == '(') to++;
  const char *name = plain ? "tt_copy" : tt__opencl_has(t, to, TT_OPENCL_LOCAL) ? "tt_copy_gather" : "tt_copy_scatter";
  tt__str_addf(t->out, "%s((uint)" LINEAR ", " THREADS ", ", name);
  return k + 2;
}

/* Is the function the program's own? It is defined in the text. */
static bool is_own(const tt_opencl_text *t, int64_t k) {
  for (int64_t d = 0; d < t->scan.def.n; d++) {
    const tt_cudac_def *def = &t->scan.def.data[d];
    int64_t params = tt__cudac_params(&t->scan, def->head, def->open);
    if (params > def->head && t->scan.word.data[params - 1].name == t->scan.word.data[k].name) return true;
  }
  return false;
}

int64_t tt__opencl_call(tt_opencl_text *t, int64_t k) {
  size_t len;
  const char *word = tt__opencl_word(t, k, &len);
  if (!tt__opencl_is(t, k + 1, "(") || is_own(t, k)) return k;
  int64_t close = tt__cudac_close(&t->scan, k + 1), next;
  if (close >= t->scan.word.n) return k;
  for (size_t i = 0; i < sizeof axis_rows / sizeof *axis_rows; i++)
    if (tt__opencl_is(t, k, axis_rows[i].name)) return write_axis_call(t, k, &axis_rows[i]);
  for (size_t i = 0; i < sizeof whole_rows / sizeof *whole_rows; i++) {
    if (!tt__opencl_is(t, k, whole_rows[i].name)) continue;
    tt__str_add(t->out, whole_rows[i].text);
    tt__opencl_line_ends(t, k, close + 1);
    return close + 1;
  }
  for (size_t i = 0; i < sizeof name_rows / sizeof *name_rows; i++) {
    if (!tt__opencl_is(t, k, name_rows[i].from)) continue;
    tt__str_add(t->out, name_rows[i].to);
    if (name_rows[i].last) tt__opencl_insert(t, close, name_rows[i].last);
    return k + 1;
  }
  if ((next = write_copy(t, k)) != k) return next;
  bool done =
      write_convert(t, word, len) || write_as(t, word, len) || write_memory(t, word, len) || write_fold(t, word, len);
  return done ? k + 1 : k;
}
