/*
** Shared by the files that type Python: the program under construction and makers of nodes.
**
** A failure anywhere leaves by one jump to tt__py_lower: all that is made belongs to the program's arena, so
** nothing is left behind, and a hundred small makers need no error path each.
*/
#ifndef TT_LANG_PYTHON_PY_INT_H
#define TT_LANG_PYTHON_PY_INT_H

#include <setjmp.h>

#include "ir/dtype.h"
#include "ir/ops.h"
#include "lang/python/py.h"
#include "lang/python/tree.h"

typedef tt_pexpr expr;
typedef tt_pstmt stmt;
typedef const tt_ptype type;

/* One function being typed. Functions with barriers are typed inside their callers: then `func` is the caller's. */
typedef struct frame frame;
struct frame {
  frame *up; /* who called */
  tt_pfunc *func;
  const tt_tree *tree;
  int32_t source;
  int32_t line;
  stmt **tail;        /* where the next statement goes */
  const char *prefix; /* of the names of an inlined function's locals */
  type *result;
  int32_t result_local;            /* inlined: where `return` puts the value; -1 */
  bool inlined, at_end;            /* inlined: nothing of the function follows this statement */
  bool final, changed;             /* the pass that keeps what it makes; something was learnt in this one */
  int32_t temps;                   /* hidden locals of this pass */
  bool parallel;                   /* inside a parallel loop */
  int32_t beside[TT_PROGRAM_ARGS]; /* of a parameter: the variable that its name means, where that has another type */
  int32_t depth;                   /* of blocks that may not run, around the statement */
  int32_t deep, open;              /* how many functions are being typed, with this one; as instance.open */
  int32_t attempts;                /* bodies of try and their handlers, around the statement */
  bool asked;                      /* this pass: a call of itself wanted the result before it was known */
  int32_t caught;                  /* 1 + the local with the kind of what the handler around caught; 0: none is */
  struct {
    const char *name;
    int32_t turn;
  } turned[16]; /* names that are another variable in each turn of a loop that is written out (python/loop.c) */
  int32_t nturned;
  uint64_t replaced; /* parameters that are None and were given a value so far in this pass */
};

/* A function for one list of argument types. */
typedef struct instance {
  int32_t source, n;
  type *const *arg;
  int32_t func; /* place in the program */
  bool typing;  /* its function is being typed: a call of it is recursion */
  int32_t open; /* how deep the outermost function lies whose result was not known for sure; 0: it was */
} instance;

typedef struct lower {
  tt_proc *p;
  tt_py_options options;
  const tt_tree *module;
  const char *file;
  TT_VEC(instance) instances;
  int8_t *splits; /* by source: 0 not looked at yet, 1 has barriers (py__splits), -1 has none or is being looked at */
  frame *f;
  stmt *latest; /* the statement that was made last */
  tt_error *err;
  tt_code code;
  jmp_buf out;
} lower;

/* ---- failing: never returns. The message gets the function and its line. */
_Noreturn void py__fail(lower *l, tt_code code, const char *fmt, ...) TT_PRINTF(3, 4);
void *py__alloc(lower *l, size_t size);
const char *py__type_name(lower *l, type *t); /* in the arena */

/* ---- types (python/type.c) */
type *py__scalar(lower *l, tt_dtype t);
/* The layout of a part of an array, of which nothing more is known than its steps. */
static inline char py__any_steps(const expr *array) { return array->type->layout == 'P' ? 'P' : 'A'; }
type *py__array(lower *l, tt_dtype t, int rank, char layout);
type *py__tuple(lower *l, type *const *item, int n);
/* The expressions as a tuple. */
expr *py__tuple_of(lower *l, expr *const *part, int n);
type *py__named(lower *l, type *const *item, int n, const char *meta); /* NULL: without names */
bool py__same_names(const type *a, const type *b);
type *py__none(lower *l);
type *py__unknown(lower *l);
static inline bool py__is_unknown(const expr *e) { return e->type->tag == TT_T_UNKNOWN; }
static inline bool py__is_scalar(const expr *e) { return e->type->tag == TT_T_SCALAR; }
static inline bool py__is_array(const expr *e) { return e->type->tag == TT_T_ARRAY; }
/* The type of a variable that holds both; NULL when there is none. */
type *py__unify(lower *l, type *a, type *b);
type *py__list_type(lower *l, type *item, char kind);
bool py__is_complete(const type *t); /* are the items of its lists known, at any depth? */
/* What arithmetic on two scalar types is done in: whole numbers in 64 bits. */
tt_dtype py__arith(tt_dtype a, tt_dtype b);
/* The type that a value at compile time names: a number's, or one in a signature's language. NULL: it names none. */
type *py__type_meant(lower *l, const expr *e);
/* Types of a signature; gives how many. */
int py__signature(lower *l, const char *text, type **arg, int room, const char **rest);

/* ---- nodes (python/node.c) */
expr *py__expr(lower *l, tt_pop op, type *t, int n);
expr *py__int(lower *l, int64_t i);
expr *py__float(lower *l, double f);
expr *py__bool(lower *l, bool b);
expr *py__nothing(lower *l); /* of type none */
expr *py__missing(lower *l); /* of unknown type: learnt in a later pass */
expr *py__meta(lower *l, const char *what, const char *name);
bool py__is_meta(const expr *e, const char *what);
expr *py__local(lower *l, int32_t local);
expr *py__cast(lower *l, expr *e, tt_dtype to);       /* scalars */
expr *py__convert(lower *l, expr *e, type *to);       /* to what py__unify gave */
expr *py__truth(lower *l, expr *e);                   /* as bool */
expr *py__elem(lower *l, tt_op op, expr *a, expr *b); /* operands already of one type; b NULL: unary */
expr *py__len(lower *l, expr *array, int axis);
expr *py__load(lower *l, expr *array, expr *const *index, int n);
expr *py__item(lower *l, expr *tuple, int k);
expr *py__helper(lower *l, const char *name, type *t, bool context, expr *const *arg, int n);
/* How far integers go (python/range.c). */
void py__range_of_cast(expr *e, const expr *from);
void py__range_of_elem(expr *e, tt_op op, const expr *a, const expr *b);
bool py__may_wrap(const expr *index);                  /* may it count from the end? */
bool py__raise_limit(tt_plocal *v, const expr *value); /* `v` takes the value too; true: that is news */
uint64_t py__top(const expr *e);                       /* the largest it can be */
uint64_t py__higher(const expr *a, const expr *b);     /* the limit of what is one of two */
/* A loop from `start` below `stop` by `step`: may the counter overflow behind its last turn? */
bool py__may_overrun(const expr *start, const expr *stop, const expr *step);
/* `v` counts such a loop; true: that is news. */
bool py__raise_to_counter(tt_plocal *v, bool parallel, const expr *start, const expr *stop, const expr *step);
stmt *py__stmt(lower *l, tt_pstmt_op op); /* appended to the block */
int32_t py__temp(lower *l, type *t);      /* a hidden local */
void py__set(lower *l, int32_t local, expr *value);
int32_t py__beside_parameter(lower *l, int32_t local); /* python/lower.c */
/* The parameters whose arrays this value may be, or be part of. */
uint64_t py__origin(lower *l, const expr *e);
uint8_t py__space(lower *l, const expr *array); /* as tt_plocal.space */
void py__wrote(lower *l, const expr *array);    /* refuses what is read-only */
void py__changed(lower *l, const expr *value);  /* as that, of what cannot be read-only */
/* A value that may be read twice: itself when it is a constant or a local, else put in a hidden local. */
expr *py__keep(lower *l, expr *e);
/* Statements made from here on go to the returned list, until py__block_end. */
typedef struct block {
  stmt *first, **outer;
} block;
void py__block_begin(lower *l, block *b);
stmt *py__block_end(lower *l, block *b);
void py__raise_unless(lower *l, expr *cond, tt_code kind, const char *message);

/* ---- expressions (python/expr.c) and what they call */
expr *py__expression(lower *l, const tt_tree *t);
expr *py__value(lower *l, const tt_tree *t); /* as that; a value that may be None is there, or a TypeError */
/* The order in which Python evaluates (python/order.c). A value whose statement goes on with these trees: where one of
 * them, or it, may change what the other reads, it is computed first. */
expr *py__ahead(lower *l, const tt_tree *t, const tt_tree *const *next, int n);
expr *py__kept(lower *l, const tt_tree *t); /* (kept local) */
/* The tree with a tuple's items for each (star tuple) from item `from` on; NULL: its type is not known yet. */
const tt_tree *py__unstarred(lower *l, const tt_tree *t, int from);
/* target op= value for an index or a field; false: nothing hangs on the order, and nothing is done yet. */
bool py__augment_in_order(lower *l, const tt_tree *target, const tt_tree *value, const char *op);
void py__assign_part(lower *l, const tt_tree *target, expr *value, const char *op); /* python/lower.c */
/* One of two values of a type, of which both are computed. */
expr *py__choose(lower *l, expr *test, expr *yes, expr *no);
/* cmath's function of that name (python/cmath.c); NULL: there is none. */
expr *py__cmath_call(lower *l, const char *w, expr *const *arg, int n);
expr *py__binary(lower *l, const char *op, expr *a, expr *b);
expr *py__unary(lower *l, const char *op, expr *a);
expr *py__compare(lower *l, const char *op, expr *a, expr *b);
void py__needs(lower *l, tt_scalar_text scalar);                           /* its text calls such functions */
expr *py__apply(lower *l, tt_op op, expr *a, expr *b);                     /* ops.def with its typing */
expr *py__where(lower *l, expr *cond, expr *a, expr *b);                   /* of arrays element by element */
expr *py__call(lower *l, const tt_tree *t);                                /* python/call.c */
expr *py__call_user(lower *l, int32_t source, expr *const *arg, int n);    /* python/lower.c */
expr *py__cuda(lower *l, const char *name, const tt_tree *t, bool *known); /* python/cuda.c */
expr *py__complex_ordered(lower *l, tt_op op, expr *a, expr *b);           /* python/complex_order.c */
bool py__orders_complex(tt_op op);                                         /* is it one of these operations? */
expr *py__half(lower *l, const char *name, const tt_tree *t);              /* python/half.c: cuda.fp16's functions */
expr *py__index(lower *l, const tt_tree *t);                               /* python/array.c: a[...] as a value */
void py__assign_index(lower *l, const tt_tree *t, expr *value, const char *op);
expr *py__target(lower *l, expr *array, const tt_tree *const *index, int n);
expr *py__array_call(lower *l, const char *name, const tt_tree *t, bool *known);
expr *py__method(lower *l, expr *self, const char *name, const tt_tree *t);
expr *py__tuple_method(lower *l, expr *tuple, const char *name, const tt_tree *t);
expr *py__attribute(lower *l, expr *self, const char *name);
expr *py__materialise(lower *l, expr *e);  /* array expressions become memory */
expr *py__without_axes(lower *l, expr *e); /* of an array without axes the number; all else as it is */
expr *py__copied(lower *l, expr *array);
/* `array`, or at run time a copy if a store into `view` would change what is read later (python/overlap.c). Both are in
 * locals. */
expr *py__apart(lower *l, expr *view, expr *array);
/* All of the value is read as it was before. `fresh`: it or the view is new, so that they share no memory. */
void py__fill(lower *l, expr *view, expr *value, const char *op, bool fresh);
bool py__is_lazy(const expr *e); /* an array expression */
/* Memory of these lengths; loops over [0, n) around what is made between the two calls; a store (python/create.c). */
expr *py__allocate(lower *l, tt_dtype d, expr *const *len, int rank, bool zero);
stmt *py__count_begin(lower *l, expr *n, block *b, expr **at);
void py__count_end(lower *l, stmt *s, block *b);
void py__put(lower *l, expr *array, expr *const *at, int n, expr *value);
/* Masks and arrays of places as indices (python/pick.c): is it one? What it picks is new memory. */
bool py__picks(const expr *index);
expr *py__picked(lower *l, expr *array, expr *index);
void py__assign_picked(lower *l, expr *array, expr *index, expr *value, const char *op);
/* A reduction of each lane along an axis; the lane itself, of the first element where `at` is NULL. */
expr *py__along(lower *l, expr *array, int axis, expr *(*fold)(lower *l, expr *lane, const void *how), const void *how);
expr *py__lane(lower *l, expr *array, int axis, expr *const *at);
/* NumPy's functions that the library has (python/host.c), of these arguments and the keywords of `call`. */
expr *py__host_call(lower *l, const char *name, expr *const *arg, int n, const tt_tree *call);
expr *py__host_method(lower *l, expr *self, const char *name, const tt_tree *t);
/* A shape, a whole number or a tuple of them; false: not known yet. Then a dense array in another shape, and 0, 1 ...
 * below n. */
bool py__read_shape(lower *l, expr *e, expr **len, int *rank);
expr *py__shaped(lower *l, expr *array, expr *const *len, int rank);
expr *py__ramp(lower *l, expr *n);
/* A call of random's or np.random's functions (python/random.c); *known false: none of these. */
expr *py__random(lower *l, const char *name, const tt_tree *t, bool *known);
/* Functions and methods of whole arrays by name (python/whole.c); *known false or NULL: none of these. */
expr *py__whole_call(lower *l, const char *name, const tt_tree *t, bool *known);
expr *py__whole_method(lower *l, expr *self, const char *name, const tt_tree *t);
expr *py__viewed(lower *l, expr *array, tt_dtype d);
expr *py__generalised(lower *l, const tt_tree *t); /* python/generalised.c */
/* Tuples with names: those of the language, records and arrays of records (python/record.c). */
int py__field(const type *t, const char *name); /* -1: there is none */
_Noreturn void py__no_field(lower *l, const expr *e, const char *name);
bool py__is_records(const expr *e); /* an array of records: a tuple of the arrays of their fields */
bool py__is_record(const expr *e);  /* one of these: arrays without axes, or values */
expr *py__field_value(lower *l, expr *record, int k);
void py__set_field(lower *l, expr *record, const char *name, expr *value, const char *op);
void py__set_field_at(lower *l, expr *record, int k, expr *value, const char *op);
void py__set_record(lower *l, expr *record, expr *value);
/* An array of a field of characters, and one of its strings or a part of it. */
bool py__is_chars(const expr *e);
expr *py__chars_index(lower *l, expr *chars, const tt_tree *const *item, int n);
expr *py__records_index(lower *l, expr *records, const tt_tree *const *item, int n);
/* Dictionaries and sets (python/dict.c). */
bool py__is_dict(const expr *e);
bool py__is_set(const expr *e);
expr *py__dict_count(lower *l, expr *d);
expr *py__dict_equal(lower *l, expr *a, expr *b); /* of sets, too */
expr *py__dict_contains(lower *l, expr *d, expr *key);
expr *py__dict_index(lower *l, expr *d, const tt_tree *at);
void py__dict_assign(lower *l, expr *d, const tt_tree *at, expr *value, const char *op);
expr *py__dict_keys(lower *l, expr *d); /* a list */
expr *py__dict_method(lower *l, expr *d, const char *name, const tt_tree *t);
void py__dict_delete(lower *l, const tt_tree *target); /* del d[key] */
expr *py__dict_display(lower *l, const tt_tree *t, bool set);
/* Values that may be None (python/optional.c). */
bool py__is_optional(const expr *e);
bool py__may_be_none(const type *a, const type *b); /* is one of them None, at times or always? */
type *py__optional(lower *l, type *a, type *b);     /* NULL: there is none */
expr *py__to_optional(lower *l, expr *e, type *to);
expr *py__is_there(lower *l, expr *e);
expr *py__if_there(lower *l, expr *e); /* the value, where it is known to be there */
expr *py__present(lower *l, expr *e);  /* the value: a TypeError where it is None */
expr *py__optional_truth(lower *l, expr *e);
expr *py__optional_equal(lower *l, expr *a, expr *b);
/* Displays whose items have several types (python/literal.c). */
bool py__is_literal_list(const expr *e);
bool py__holds_literal(const type *t);
void py__refuse_change(lower *l, const expr *e); /* a TypeError where it is one */
expr *py__literal_list(lower *l, expr *const *item, int n);
expr *py__literal_list_method(lower *l, expr *list, const char *name);
/* Dictionaries whose keys are words and whose values have several types: tuples. */
expr *py__named_values(lower *l, const tt_tree *t); /* of (dict ...); NULL: its keys are no words */
bool py__is_named_values(const expr *e);
expr *py__named_values_method(lower *l, expr *d, const char *name);
expr *py__named_values_have(lower *l, const expr *d, const expr *key);
expr *py__dict_call(lower *l, const char *name, const tt_tree *t);
/* What a loop over an array, a list or a string has in turn `at`, which is a local. */
expr *py__turn(lower *l, expr *sequence, expr *at);
/* What a loop goes over: of dictionaries and sets a list of the keys, of a generator of all that it gives. */
expr *py__sequence(lower *l, expr *e);
expr *py__new_list(lower *l, type *item);
type *py__plain_item(lower *l, type *item); /* as lists have it */
void py__list_append(lower *l, expr *list, expr *value);
void py__list_write(lower *l, expr *list, expr *at, expr *value);
/* The list of which `value` is to be an item, whose type may be learnt from it. NULL: not now. */
expr *py__list_taking(lower *l, expr *list, const expr *value);
/* Lists (python/list.c). A display, [a, b], is a tuple until something needs it to be a list. */
bool py__is_display(const expr *e);
expr *py__listed(lower *l, expr *e);
expr *py__count_of(lower *l, expr *list);
expr *py__list_index(lower *l, expr *list, const tt_tree *at);
void py__list_assign(lower *l, expr *list, const tt_tree *at, expr *value, const char *op);
expr *py__list_item(lower *l, expr *list, expr *at); /* `at` is one of its places */
expr *py__list_method(lower *l, expr *list, const char *name, const tt_tree *t);
expr *py__list_binary(lower *l, const char *op, expr *a, expr *b); /* NULL: that is no operation of lists */
void py__list_extend(lower *l, expr *list, expr *with);
expr *py__list_equal(lower *l, expr *a, expr *b);
expr *py__list_order(lower *l, const char *op, expr *a, expr *b);
expr *py__list_contains(lower *l, expr *list, expr *value);
expr *py__list_fold(lower *l, const char *name, expr *list);       /* sum, min, max */
expr *py__list_array(lower *l, expr *list, tt_dtype d);            /* NONE: its items' type */
expr *py__list_call(lower *l, const char *name, const tt_tree *t); /* of what makes a list */
void py__list_resize(lower *l, expr *list, expr *n);
/* n items of `from` from `start` on, every step-th, over those of `to` from `at` on; then as a list of their own. */
void py__list_copy(lower *l, expr *to, expr *at, expr *from, expr *start, expr *step, expr *n);
expr *py__list_taken(lower *l, expr *list, expr *start, expr *step, expr *n);
/* An index that may count from the end as one that does not; an IndexError where the list has no such item. */
expr *py__list_checked(lower *l, expr *list, expr *at, const char *message);
expr *py__list_found(lower *l, expr *list, expr *value); /* the place of the first; ValueError: there is none */
/* Parts of lists (python/list_part.c). The start, stop and step of a slice, written (value NULL) or a value; false:
 * it is no slice. */
bool py__slice_parts(lower *l, const tt_tree *t, expr *value, expr **part);
bool py__is_slice(const expr *e);
expr *py__new_slice(lower *l, expr *const *arg, int n);
expr *py__list_part(lower *l, expr *list, expr *const *part);
void py__list_delete(lower *l, expr *list, const tt_tree *at);
void py__list_assign_part(lower *l, expr *list, expr *const *part, expr *other);
expr *py__list_index_in(lower *l, expr *list, expr *value, expr *start, expr *stop); /* stop may be NULL */
/* Strings (python/text.c). Words that are known beforehand (META "str") become strings where a value is needed. */
type *py__text_type(lower *l);
bool py__is_text(const expr *e);
/* Bytes: lists of numbers that nobody changes; of fields of records, and written out. */
type *py__bytes_type(lower *l);
bool py__is_bytes(const expr *e);
void py__refuse_bytes(lower *l, const expr *e, const char *what); /* a TypeError where it is that */
bool py__has_text(const expr *a, const expr *b);                  /* is one of them a string or a word? */
expr *py__text(lower *l, expr *e);                                /* of a word the string; all else as it is */
expr *py__text_char(lower *l, expr *code);
expr *py__text_of(lower *l, expr *e);                              /* str() */
expr *py__text_literal(lower *l, const tt_tree *t, int from);      /* a tuple of values as Python writes it */
expr *py__text_binary(lower *l, const char *op, expr *a, expr *b); /* NULL: that is no operation of strings */
expr *py__text_compare(lower *l, tt_op op, expr *a, expr *b);      /* NULL: as above */
expr *py__text_contains(lower *l, expr *text, expr *part);
expr *py__text_call(lower *l, const char *name, expr *const *arg, int n, bool *known);
expr *py__text_method(lower *l, expr *self, const char *name, const tt_tree *t);
tt_dtype py__dtype_of(lower *l, const tt_tree *t);
int py__local_named(lower *l, const char *name, bool make);
/* The variable that (n "x") or (n "x" "mark" ...) means. A mark is of what only some of the name's assignments give; it
 * is a variable of its own where the assignments have several types (python/lower.c). */
const char *py__variable(lower *l, const tt_tree *t);
bool py__splits(lower *l, int32_t source); /* has barriers or warp exchanges, through calls too */
void py__for(lower *l, const tt_tree *t);  /* python/loop.c */
/* Does a turn of the loop read what an earlier one may have written into a variable (python/order.c)? */
bool py__turns_lean(lower *l, const stmt *loop);
/* May the loop's turns be shared among threads? Then the body of such a loop, whose head is made. */
bool py__may_be_parallel(lower *l, const tt_tree *body);
void py__parallel_body(lower *l, stmt *s, block *b, const tt_tree *body);
/* Loops over all places of a shape (python/grid.c): is what a loop goes over one? */
bool py__is_grid(const tt_tree *iter);
void py__for_grid(lower *l, const tt_tree *t, const tt_tree *iter, bool counted, expr *first);
int py__parameters(lower *l, int32_t source); /* of a function of the module (python/lower.c) */
/* Objects of compiled classes (python/object.c). */
bool py__is_object(const expr *e);
expr *py__new_object(lower *l, const tt_tree *t);
expr *py__object_method(lower *l, expr *object, const char *name, const tt_tree *t);
expr *py__object_attribute(lower *l, expr *object, const char *name);
void py__set_object_field(lower *l, expr *object, const char *name, expr *value, const char *op);
/* Generators (python/generator.c). */
bool py__yields(const tt_tree *body); /* has a function's body a yield? */
void py__yield(lower *l, const tt_tree *t);
static inline bool py__is_generator(const expr *e) { return e->type->tag == TT_T_GENERATOR; }
expr *py__has_next(lower *l, expr *generator); /* goes on; the value is read by: */
expr *py__yielded(lower *l, expr *generator);
expr *py__next(lower *l, expr *generator);    /* next() */
expr *py__drained(lower *l, expr *generator); /* a list of all that it gives */
void py__assign(lower *l, const tt_tree *target, expr *value);

/* ---- statements (python/lower.c) */
/* Does the flow leave the list before its end, by a return or the like? What is never reached is not read. */
bool py__statements(lower *l, const tt_tree *list, int from);

/* ---- words of trees */
static inline const tt_tree *py__at(lower *l, const tt_tree *t, int k) {
  if (k >= t->n || t->tag != TT_TREE_LIST) py__fail(l, TT_EVALUE, "the program text is malformed");
  return t->item[k];
}
const char *py__word(lower *l, const tt_tree *t); /* of a WORD or a STRING */
/* A keyword argument of a call tree, or NULL. */
const tt_tree *py__keyword(lower *l, const tt_tree *call, const char *name);
int py__positional(const tt_tree *call); /* how many */

#endif
