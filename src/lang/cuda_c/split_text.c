/*
** The form of a kernel that is split at its barriers, as text: see cuda_c/split.c for what its parts are.
*/
#include "lang/cuda_c/form.h"
#include "lang/cuda_c/split_int.h"

static void copy(const tt_cudac_split *p, int64_t from, int64_t to, tt_str *out) {
  if (from >= to) return;
  const tt_cudac_word *a = &p->s->word.data[from], *b = &p->s->word.data[to - 1];
  tt__str_add_n(out, p->s->text + a->at, b->at + b->len - a->at);
}

/* The type without const: what an array's element can be assigned as. */
static void write_type(const tt_cudac_split *p, const tt_split_local *l, tt_str *out) {
  for (int64_t k = l->type; k < l->type_end; k++) {
    if (tt__split_is(p, k, "const") && l->stars == 0) continue;
    copy(p, k, k + 1, out);
    tt__str_add(out, " ");
  }
  for (int k = 0; k < l->stars; k++) tt__str_add(out, "*");
}

static void write_name(const tt_cudac_split *p, const tt_split_local *l, tt_str *out) {
  copy(p, l->name_word, l->name_word + 1, out);
}

static void write_kept(const tt_cudac_split *p, tt_str *out) {
  for (int i = 0; i < p->nlocal; i++) {
    const tt_split_local *l = &p->local[i];
    if (!tt__split_is_kept(l)) continue;
    write_type(p, l, out);
    tt__str_add(out, " tt_v_");
    write_name(p, l, out);
    tt__str_add(out, "[tt_n]");
    copy(p, l->dims, l->dims_end, out);
    tt__str_add(out, ";\n");
  }
}

static void write_anew(const tt_cudac_split *p, const tt_split_local *l, tt_str *out) {
  tt__str_add(out, "const ");
  for (int64_t k = l->type; k < l->type_end; k++) {
    copy(p, k, k + 1, out);
    tt__str_add(out, " ");
  }
  for (int k = 0; k < l->stars; k++) tt__str_add(out, "*");
  if (l->stars) tt__str_add(out, "const ");
  write_name(p, l, out);
  tt__str_add(out, " = ");
  copy(p, l->init, l->init_end, out);
  tt__str_add(out, ";\n");
}

/* What a group needs of variables declared before it. */
static void write_entry(const tt_cudac_split *p, const tt_split_item *g, tt_str *out) {
  uint64_t bit = 1ull << g->group;
  for (int i = 0; i < p->nlocal; i++) {
    const tt_split_local *l = &p->local[i];
    if (l->is_made_anew && l->group < g->group) {
      write_anew(p, l, out); /* others may be made of it: unused ones cost nothing */
    } else if (tt__split_is_kept(l) && l->group != g->group && (l->used & bit)) {
      if (l->dims < l->dims_end) {
        tt__str_add(out, "auto &");
      } else {
        write_type(p, l, out);
        tt__str_add(out, " ");
      }
      write_name(p, l, out);
      tt__str_add(out, " = tt_v_");
      write_name(p, l, out);
      tt__str_add(out, "[tt_t];\n");
    }
  }
}

static void write_exit(const tt_cudac_split *p, const tt_split_item *g, tt_str *out) {
  uint64_t bit = 1ull << g->group;
  for (int i = 0; i < p->nlocal; i++) {
    const tt_split_local *l = &p->local[i];
    if (!tt__split_is_kept(l) || !(l->used & bit) || l->dims < l->dims_end) continue;
    tt__str_add(out, "tt_v_");
    write_name(p, l, out);
    tt__str_add(out, "[tt_t] = ");
    write_name(p, l, out);
    tt__str_add(out, ";\n");
  }
}

/* A kept array's declaration becomes a reference to its place. */
static const tt_split_local *array_declared(const tt_cudac_split *p, int64_t k, int group) {
  for (int i = 0; i < p->nlocal; i++) {
    const tt_split_local *l = &p->local[i];
    if (tt__split_is_kept(l) && l->dims < l->dims_end && l->group == group && l->from == k) return l;
  }
  return NULL;
}

/* The type of the index that a group is guarded by: a variable's, or that of threadIdx.x with or without a cast. */
static void write_index_type(const tt_cudac_split *p, const tt_split_item *g, tt_str *out) {
  bool wide = false;
  for (int64_t k = g->index; k < g->limit - 1; k++) {
    wide |= tt__split_is(p, k, "size_t");
    for (int i = 0; i < p->nlocal; i++)
      if (p->local[i].name == p->s->word.data[k].name && p->s->word.data[k].kind == 'i') {
        write_type(p, &p->local[i], out);
        return;
      }
  }
  tt__str_add(out, wide ? "size_t" : "unsigned");
}

static void write_group(const tt_cudac_split *p, const tt_split_item *g, bool tells, tt_str *out) {
  if (g->guarded) {
    tt__str_add(out, "{\nconst int tt_last = tt_guard<");
    write_index_type(p, g, out);
    tt__str_add(out, ">(tt_s, tt_e, ");
    copy(p, g->limit, g->limit_end, out);
    tt__str_add(out, ");\n");
  }
  tt__str_add(out,
              "for (unsigned tt_z = 0; tt_z < tt_nz; tt_z++)\nfor (unsigned tt_y = 0; tt_y < tt_ny; tt_y++) {\n"
              "const int tt_row = (int)(tt_nx * (tt_y + tt_ny * tt_z)) - tt_s;\n"
              "#pragma GCC ivdep\n"
              "for (int tt_x = tt_s; tt_x < ");
  tt__str_add(out, g->is_turned || g->guarded ? "tt_last" : "tt_e");
  tt__str_add(out,
              "; tt_x++) {\nconst int tt_t = tt_row + tt_x, tt_global_x = tt_x;\n(void)tt_t;\n"
              "const tt_uint3 threadIdx = {(unsigned)(tt_x - tt_s), tt_y, tt_z};\n");
  if (tells) tt__str_add(out, "::threadIdx = threadIdx; ::tt_global_x = tt_global_x;\n");
  write_entry(p, g, out);
  if (g->is_turned) {
    copy(p, g->type, g->name + 1, out);
    tt__str_add(out, " = (");
    copy(p, g->type, g->name, out);
    tt__str_add(out, ")tt_b + (");
    copy(p, g->type, g->name, out);
    tt__str_add(out, ")threadIdx.x;\n");
  }
  int64_t from = g->guarded ? g->guarded : g->from;
  for (int64_t k = from; k < g->to; k++) {
    const tt_split_local *l = array_declared(p, k, g->group);
    if (!l) continue;
    copy(p, from, k, out);
    tt__str_add(out, "\nauto &");
    write_name(p, l, out);
    tt__str_add(out, " = tt_v_");
    write_name(p, l, out);
    tt__str_add(out, "[tt_t];\n");
    if (l->init < l->init_end) {
      tt__str_add(out, "{ ");
      write_type(p, l, out);
      tt__str_add(out, " tt_i");
      copy(p, l->dims, l->dims_end, out);
      tt__str_add(out, " = ");
      copy(p, l->init, l->init_end, out);
      tt__str_add(out, "; __builtin_memcpy(");
      write_name(p, l, out);
      tt__str_add(out, ", tt_i, sizeof tt_i); }\n");
    }
    from = l->to;
    k = l->to - 1;
  }
  copy(p, from, g->to, out);
  tt__str_add(out, "\n");
  write_exit(p, g, out);
  tt__str_add(out, g->guarded ? "}\n}\n}\n" : "}\n}\n");
}

/* Variables that are the same for all threads serve the heads of loops, too. */
static void write_uniform(const tt_cudac_split *p, int group, tt_str *out) {
  for (int i = 0; i < p->nlocal; i++)
    if (p->local[i].is_uniform && p->local[i].group == group) write_anew(p, &p->local[i], out);
}

/* Does the group read or write `name[index]`? */
static bool touches(const tt_cudac_split *p, const tt_split_item *g, const tt_cudac_word *name,
                    const tt_cudac_word *index) {
  const tt_cudac_word *w = p->s->word.data;
  for (int64_t k = g->from; k + 3 < g->to; k++)
    if (w[k].name == name->name && tt__split_is(p, k + 1, "[") && w[k + 2].name == index->name &&
        tt__split_is(p, k + 3, "]"))
      return true;
  return false;
}

/* Parameters that are pointers, indexed by the loop alone: what later turns need of them is asked for. */
static void write_ahead(const tt_cudac_split *p, const tt_split_item *g, tt_str *out) {
  const tt_cudac_word *w = p->s->word.data;
  bool pointer = false;
  for (int64_t k = p->params + 1; k < p->params_end; k++) {
    pointer |= w[k].kind == '*';
    if (w[k + 1].kind != ',' && k + 1 != p->params_end) continue;
    if (pointer && w[k].kind == 'i' && touches(p, g, &w[k], &w[g->name])) {
      tt__str_add(out, "tt_ahead(");
      copy(p, k, k + 1, out);
      tt__str_add(out, ", tt_b, tt_step, tt_nx);\n");
    }
    pointer = false;
  }
}

static void write_strided(const tt_cudac_split *p, const tt_split_item *it, tt_str *out) {
  tt__str_add(out, "for (long tt_bound = (long)(");
  copy(p, it->bound, it->bound_end, out);
  tt__str_add(out, "), tt_step = (long)(");
  copy(p, it->step, it->step_end, out);
  tt__str_addf(out, "), tt_b = %s; tt_b < tt_bound; tt_b += tt_step) {\n",
               it->is_of_grid ? "(long)(blockIdx.x * blockDim.x)" : "0");
  tt__str_add(out, "const int tt_last = tt_bound - tt_b < (long)tt_nx ? tt_s + (int)(tt_bound - tt_b) : tt_e;\n");
  if (it->is_of_grid) write_ahead(p, it + 1, out);
}

static void write_head(const tt_cudac_split *p, const tt_cudac_kernel *k, tt_str *out) {
  tt__cudac_form_head(p->s, k, "tt_split_", "", out);
  tt__str_add(out,
              "{\nconst tt_uint3 blockIdx = ::blockIdx, blockDim = ::blockDim, gridDim = ::gridDim;\n"
              "const unsigned tt_nx = blockDim.x, tt_ny = blockDim.y, tt_nz = blockDim.z;\n"
              "const int tt_n = (int)(tt_nx * tt_ny * tt_nz), tt_s = tt_first_x(), tt_e = tt_s + (int)tt_nx;\n"
              "(void)tt_n;\n");
}

/* Shared memory lies on the stack of who runs the block. */
static void write_blocks_own(const tt_cudac_split *p, const tt_split_item *it, tt_str *out) {
  int64_t from = it->from;
  bool dynamic = tt__split_is(p, from, "extern");
  for (int64_t k = from; k < it->to && !dynamic; k++) {
    if (!tt__split_is(p, k, "static") && !tt__split_is(p, k, "__shared__")) continue;
    copy(p, from, k, out);
    tt__str_add(out, tt__split_is(p, k, "static") ? " " : " tt_shared ");
    from = k + 1;
  }
  copy(p, from, it->to, out);
  tt__str_add(out, "\n");
}

static void write_exchange(const tt_cudac_split *p, const tt_split_item *it, tt_str *out) {
  copy(p, it->from, it->from + 2, out);
  tt__str_add(out, "tt_v_");
  copy(p, it->from + 2, it->from + 4, out);
  tt__str_add(out, " tt_v_");
  copy(p, it->from + 4, it->from + 6, out);
  tt__str_add(out, " tt_n, ");
  copy(p, it->from + 6, it->to, out);
  tt__str_add(out, "\n");
}

void tt__cudac_split_write(const tt_cudac_split *p, const tt_cudac_kernel *k, tt_str *out) {
  write_head(p, k, out);
  write_kept(p, out);
  for (int i = 0; i < p->nitem; i++) {
    const tt_split_item *it = &p->item[i];
    if (it->kind == TT_SPLIT_GROUP) {
      write_group(p, it, k->tells, out);
      write_uniform(p, it->group, out);
    } else if (it->kind == TT_SPLIT_STRIDED) {
      write_strided(p, it, out);
    } else if (it->kind == TT_SPLIT_LOOP) {
      copy(p, it->from, it->to, out);
      tt__str_add(out, " {\n");
    } else if (it->kind == TT_SPLIT_EXCHANGE) {
      write_exchange(p, it, out);
    } else if (it->kind == TT_SPLIT_END) {
      tt__str_add(out, "}\n");
    } else {
      write_blocks_own(p, it, out);
    }
  }
  tt__str_add(out, "}\n");
}
