/*
** Saying what would run; see explain.h.
*/
#include "run/report/explain.h"

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cpu/cc.h"
#include "graph/build.h"
#include "graph/session.h"
#include "ir/user/call.h"
#include "lib/product/blas_host.h"
#include "run/cache/cache.h"
#include "run/machine/calibrate.h"
#include "run/machine/library_pace.h"
#include "run/exec.h"
#include "run/place.h"
#include "run/realize.h"
#include "sched/cost.h"

static char *taken(tt_str *s) {
  char *out = s->failed ? NULL : tt__mem_dup(s->data ? s->data : "", s->len + 1);
  tt__str_free(s);
  return out;
}

/* What happens when the result is asked for on the host. */
static void explain_pieces(const tt_kernel_cut *p, tt_str *s) {
  tt__str_addf(s, "      in %lld pieces %s: %.4f ms for %.4f up, %.4f of work and %.4f down\n",
               (long long)tt__partition_pieces(&p->parts),
               p->windows ? "(the device has no room for all)" : "when the result is asked for on the host",
               p->ns / 1e6, p->up_ns / 1e6, p->work_ns / 1e6, p->down_ns / 1e6);
}

static void explain_kernel(const tt_step *st, tt_device *on, const tt_decision *how, tt_str *s) {
  static const char *const mode[] = {"map", "rows folded along the row", "rows folded across lanes"};
  const tt_launch *l = st->launch;
  const tt_unit *u = l->unit;
  tt__str_addf(s, "kernel %08llx (%s)  space", (unsigned long long)(u->kernel->key.lo & 0xffffffffu),
               mode[u->kernel->mode]);
  for (int i = 0; i < st->space.naxes; i++)
    tt__str_addf(s, "%s%lld%s", i ? " x " : " ", (long long)st->space.len[i], st->space.row[i] ? " (row)" : "");
  tt__str_addf(s, "\n      %d instructions, %d operands, %d results; reads %.3f MB, writes %.3f MB\n", st->ninst,
               st->noperand - st->nroot, st->nroot, (double)l->work.bytes_read / 1e6,
               (double)l->work.bytes_written / 1e6);
  tt__str_add(s, "      computes:");
  for (int i = 0; i < st->ninst; i++) {
    const tt_pinst *p = &st->inst[i];
    if (p->op < TT_OP_COUNT)
      tt__str_addf(s, " %s", tt__ops[p->op].lower);
    else if (p->op == TT_P_REDUCE)
      tt__str_add(s, " reduce");
    else if (p->op == TT_P_LOADX)
      tt__str_add(s, " gather");
    else if (p->op == TT_P_STOREX)
      tt__str_add(s, " scatter");
  }
  if (st->many) tt__str_addf(s, "\n      one launch with the %d steps after it", st->many - 1);
  if (on) {
    tt__calibrate_device(on);
    const tt_machine_device *d = &tt__machine()->device[tt__machine_device(on)];
    tt__str_addf(s, "\n      compiled for the device; predicted %.4f ms\n", tt__cost_kernel_there(st->work, d) / 1e6);
    if (how->way == TT_WAY_STREAM_KERNEL) explain_pieces(how->cut.kernel, s);
    return;
  }
  tt__calibrate();
  tt__str_addf(s, "\n      %s; predicted %.4f ms", atomic_load(&u->fn) ? "compiled (tier 1)" : "interpreted (tier 0)",
               tt__cost_kernel_here(st->work, tt__machine()) / 1e6);
  double ns = tt__unit_ns(u, l->work.points);
  if (ns > 0) tt__str_addf(s, ", measured %.4f ms at this size", ns / 1e6);
  tt__str_add(s, "\n");
}

/* What is cut, and into how many. */
static void explain_tiles(const tt_tiles *t, tt_str *s) {
  static const char *const of[TT_TILE_AXES] = {"of the batch", "of rows", "of columns", "of sums"};
  if (t->sort.count > 0) {
    tt__str_addf(
        s, "      in %lld pieces (the device has no room for all: %lld runs of %lld elements, then as many blocks",
        (long long)(2 * t->sort.count * t->sort.rows), (long long)t->sort.count, (long long)t->sort.run);
    tt__str_addf(s, "): %.4f ms for %.4f of work\n", t->ns / 1e6, t->work_ns / 1e6);
    return;
  }
  tt__str_addf(s, "      in %lld pieces (the device has no room for all:", (long long)tt__tiles_turns(t));
  for (int k = 0; k < TT_TILE_AXES; k++)
    if (t->count[k] > 1)
      tt__str_addf(s, " %lld parts %s of %lld,", (long long)t->count[k], of[k], (long long)t->tile[k]);
  tt__str_addf(s, " %.3f MB up, %.3f MB down): %.4f ms for %.4f of work\n", t->up_bytes / 1e6, t->down_bytes / 1e6,
               t->ns / 1e6, t->work_ns / 1e6);
}

static void explain_epilogue(const tt_epilogue_match *f, tt_str *s) {
  const char *term = f->epilogue & TT_EPILOGUE_ADD ? "sum" : f->epilogue & TT_EPILOGUE_BIAS ? "bias" : "";
  const char *then = f->epilogue & TT_EPILOGUE_RELU ? "relu" : f->epilogue & TT_EPILOGUE_GELU ? "gelu" : "";
  tt__str_addf(s, ", which does step %d too (%s%s%s)", f->step, term, term[0] && then[0] ? ", " : "", then);
}

/* The device is expected to leave it to the host. */
static const char *why_left(const tt_cost_call *call, tt_device *d) {
  if (!call->row->run_on) return "no device has it";
  const char *missing = call->row->missing_on && d->target.kind == TT_DEVICE_CUDA ? call->row->missing_on(d) : NULL;
  if (missing) return missing;
  return call->work.steps < 0 ? "so many matrices are sooner done there" : "the device left it the last such call";
}

static void explain_library(const tt_walk *walk, const tt_plan *plan, int i, const tt_place *place,
                            const tt_decision *how, tt_str *s) {
  const tt_cost_call call = tt__cost_call(walk, &plan->step[i]);
  const char *missing = place->situation.facts[i].leaves ? why_left(&call, place->device) : NULL;
  tt__str_addf(s, "library %s", plan->step[i].why);
  if (missing) tt__str_addf(s, ", done by the host: %s", missing);
  if (place->device && place->device->target.is_host)
    tt__str_add(s, ", by the host's function where the operands lie: the device is the processor");
  if (how->way == TT_WAY_EPILOGUE) explain_epilogue(&how->match, s);
  tt_device *there = missing ? NULL : place->device;
  double ns = tt__library_measured(&call, there, 0);
  tt__str_addf(s, "\n      %.3g operations; predicted %.4f ms", call.work.flops,
               tt__library_likely(&call, there) / 1e6);
  if (ns > 0) tt__str_addf(s, ", measured %.4f ms at this size", ns / 1e6);
  tt__str_add(s, "\n");
  if (how->way == TT_WAY_STREAM_LIBRARY) explain_tiles(how->cut.tiles, s);
}

static void explain_call(const tt_walk *walk, const tt_step *st, tt_str *s) {
  const tt_kernel_call *c = walk->node[st->lib]->attr.call;
  const uint32_t *g = c->grid.grid, *b = c->grid.block;
  char name[16], line[160] = "";
  int64_t read = 0, written = 0;
  for (int k = 0; k < st->nsrc; k++) {
    const tt_node *n = walk->node[st->src[k].node];
    int64_t bytes = n->size * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
    read += bytes;
    if (c->operand[k].writes) written += bytes;
  }
  tt__session_line_name(walk->node[st->lib]->line, line, sizeof line);
  tt__str_addf(s, "launch of %s  grid (%u,%u,%u), block (%u,%u,%u)", c->name, g[0], g[1], g[2], b[0], b[1], b[2]);
  if (c->grid.shared) tt__str_addf(s, ", %lld bytes of shared memory", (long long)c->grid.shared);
  tt__str_addf(s, ", on %s%s%s\n", tt__device_name(c->device, name), line[0] ? ", recorded at " : "", line);
  tt__str_addf(s, "      %d arrays of %.3f MB, may write %.3f MB of them\n", st->nsrc, (double)read / 1e6,
               (double)written / 1e6);
}

static void explain_result(const tt_walk *walk, const tt_proot *r, tt_str *s) {
  const tt_node *root = walk->node[r->node];
  char line[160] = "";
  tt__session_line_name(root->line, line, sizeof line);
  tt__str_addf(s, "      gives %s[", tt__dtypes[root->dtype].name);
  for (int k = 0; k < root->rank; k++) tt__str_addf(s, k ? ", %lld" : "%lld", (long long)root->dim[k]);
  tt__str_addf(s, "]%s%s%s%s\n", r->in_place ? ", in place if the old value is not needed" : "",
               r->donor >= 0 ? ", in an operand's memory if that is not needed" : "", line[0] ? ", recorded at " : "",
               line);
}

static const char *place_name(tt_where where, char name[16]) {
  if (where == TT_NOWHERE) return "another device";
  return tt__device_name(where == TT_HOST ? 0 : tt__machine()->device[where].id, name);
}

/* What moves before it, and where it runs if that is not where the others do. */
static void explain_place(const tt_walk *walk, const tt_place *place, const tt_decision *how, tt_str *s) {
  char from[16], to[16];
  for (int k = 0; k < how->nmove; k++) {
    const tt_transfer *m = &how->move[k];
    const tt_node *n = walk->node[m->node];
    tt__str_addf(s, "      moves first: %s of %.3f MB from %s to %s\n", tt__dtypes[n->dtype].name,
                 place->situation.value[m->node].bytes / 1e6, place_name(m->from, from), place_name(m->to, to));
  }
  if (how->where != place->where) tt__str_addf(s, "      runs on %s\n", place_name(how->where, to));
}

static void explain_steps(const tt_walk *walk, const tt_plan *plan, const tt_place *place, tt_str *s) {
  for (int i = 0; i < plan->n; i++) {
    const tt_step *st = &plan->step[i];
    const tt_decision *how = &place->decisions.step[i];
    tt__str_addf(s, "  %d  ", i);
    if (st->kind == TT_STEP_KERNEL)
      explain_kernel(st, tt__place_device(place, i), how, s);
    else if (st->kind == TT_STEP_LIB)
      explain_library(walk, plan, i, place, how, s);
    else if (st->kind == TT_STEP_CALL)
      explain_call(walk, st, s);
    else
      tt__str_add(s, "memory only\n");
    explain_place(walk, place, how, s);
    tt__str_addf(s, "      why: %s\n", st->why ? st->why : "asked for");
    for (int r = st->kind == TT_STEP_CALL; r < st->nroot; r++) explain_result(walk, &st->root[r], s);
  }
}

static void explain_head(const tt_walk *walk, const tt_plan *plan, bool found, const tt_place *place, tt_str *s) {
  const tt_prices *p = &place->prices;
  const char *why = place->device ? "told: the operands or the program say so"
                                  : "nothing to choose from, or too little work to look for a device";
  tt__str_addf(s, "%d step%s over %d pending nodes, on ", plan->n, plan->n == 1 ? "" : "s", walk->n);
  if (place->device)
    tt__str_addf(s, "%s (%s)", place->device->name, place->device->label);
  else
    tt__str_addf(s, "cpu:0 with %d thread%s", tt__pool_size(), tt__pool_size() == 1 ? "" : "s");
  tt__str_addf(s, "; plan %s\n", found ? "found" : "made now");
  if (place->chosen)
    tt__str_addf(s,
                 "  chosen: cpu %.4f ms against device %.4f ms (moves %.4f, of which %.4f are owed by earlier work)\n",
                 p->host_ns / 1e6, p->device_ns / 1e6, p->moves_ns / 1e6, p->lent_ns / 1e6);
  else
    tt__str_addf(s, "  %s\n", why);
}

/* It is decided as if somebody looked at the results. */
static tt_code explain_plan(const tt_walk *walk, const tt_plan *plan, bool found, tt_str *s, tt_error *err) {
  tt_place place;
  tt_code code = tt__place(walk, plan, true, false, &place, err);
  if (code == TT_OK) code = tt__place_spell(&place, err);
  if (code == TT_OK) {
    explain_head(walk, plan, found, &place, s);
    explain_steps(walk, plan, &place, s);
  }
  tt__place_free(&place);
  return code;
}

/* Small work leaves no step. */
static void explain_at_once(tt_node *const *target, int n, tt_str *s) {
  for (int i = 0; i < n; i++) {
    char line[160] = "";
    if (!(target[i]->flags & TT_NODE_AT_ONCE)) continue;
    tt__session_line_name(target[i]->line, line, sizeof line);
    tt__str_addf(s, "  %s of %lld elements, done at the call: so little work costs less than a plan%s%s\n",
                 tt__dtypes[target[i]->dtype].name, (long long)target[i]->size, line[0] ? ", recorded at " : "", line);
  }
}

static char *explain(tt_node *const *target, int n) {
  tt_str s = {0};
  const tt_plan *plan;
  const tt_walk *walk;
  bool found;
  tt_error err = {0};
  if (tt__realize_plan(target, n, &plan, &walk, &found, &err) != TT_OK) {
    tt__str_addf(&s, "no plan: %s\n", err.message);
    return taken(&s);
  }
  if (!plan) {
    tt__str_add(&s, "evaluated: nothing to run\n");
    explain_at_once(target, n, &s);
    return taken(&s);
  }
  if (explain_plan(walk, plan, found, &s, &err) != TT_OK) tt__str_addf(&s, "no place: %s\n", err.message);
  return taken(&s);
}

char *tt__explain(tt_array *const *array, int n) {
  size_t size = sizeof(tt_node *) * (size_t)n;
  tt_node **node = tt__mem_alloc(size);
  char *text = NULL;
  int made = 0;
  while (node && made < n && (node[made] = tt__array_node(array[made], NULL))) made++;
  if (made == n) text = explain(node, n);
  while (made > 0) tt__node_release(node[--made]);
  tt__mem_free(node, size);
  return text;
}
