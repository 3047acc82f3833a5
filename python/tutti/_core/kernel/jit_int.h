/*
** What the files of compiled functions share: the arguments of a call (jit_args.c) and what comes back (jit_result.c).
*/
#ifndef TUTTI_PY_JIT_INT_H
#define TUTTI_PY_JIT_INT_H

#include "core.h"

enum { JIT_CONSTANT = -1 /* in the place of an argument: it is never written */ };
enum { JIT_WORDS = 512, JIT_TYPE = 768, JIT_HELD = 64 };

/* An argument that is held while the code runs. */
typedef struct jit_held {
  PyObject *object; /* borrowed: the caller's */
  Py_buffer view;
  void *hold;     /* of tt_peek */
  char *own;      /* a written tutti array: its elements, to become its new value */
  const char *at; /* first byte */
  int64_t size;   /* bytes it spans, 0 when unknown */
  int arg, word;
  bool has_view, gpu;
} jit_held;

/* A list among the arguments, or in one of them: its items as words while the code runs. */
typedef struct jit_list jit_list;
struct jit_list {
  tt_jit_list head;
  jit_list *next;
  PyObject *object; /* borrowed: tutti._jit.containers.List */
  PyObject *items;  /* its Python list */
  const char *kind; /* the type of an item */
  PyObject *held;   /* what keeps `kind` */
  char letter;      /* of its type, of Python's own lists and sets; 0: the object says it */
  int64_t *own;     /* memory of the items as they were before the call */
  int arg;
};

/* The arguments of a call: their types as a text, and the words that the code gets. */
typedef struct jit_frame {
  char type[JIT_TYPE];
  size_t ntype;
  int64_t word[JIT_WORDS];
  int nword, nheld;
  bool strange; /* one argument is no value of any kind */
  bool strided; /* tutti arrays keep their steps; else they are handed over dense */
  jit_held held[JIT_HELD];
  jit_list *lists;
  PyObject *made; /* list of the memory that results took; NULL: none */
} jit_frame;

/* jit_args.c. False and NULL: an exception is set. */

/* Read a tuple of arguments. `strided`: of a launch. What is held is given back by core_jit_let_go, also on failure. */
bool core_jit_read(jit_frame *f, PyObject *args, bool strided);
bool core_jit_add_type(jit_frame *f, const char *text, size_t n);
/* The memory of a buffer, for parameter `arg`. */
bool core_jit_add_buffer(jit_frame *f, PyObject *o, int arg);
/* An array that a function names: a buffer, or one of ours where it lies. */
bool core_jit_add_kept(jit_frame *f, PyObject *o);
/* tutti arrays: memory before the call, and after it the new values of those in `writes` (a bit a parameter). */
bool core_jit_bind(jit_frame *f, uint64_t writes);
bool core_jit_write_back(jit_frame *f);
bool core_jit_has_gpu(const jit_frame *f);
/* The bytes that an argument's array reaches, from its first element's address. */
void core_jit_extent(const jit_held *h, int64_t *low, int64_t *size);
void core_jit_let_go(jit_frame *f);
/* TypeError; false. */
bool core_jit_too_much(const char *what);
/* The suffix of a dtype: u64, f32 ... */
const char *core_jit_suffix(tt_dtype t);

/* jit_list.c. A list as an argument, or as an item of one; *known: it is one. */
bool core_jit_add_list(jit_frame *f, PyObject *o, int arg, bool *known);
bool core_jit_add_text(jit_frame *f, PyObject *o);
void core_jit_free_lists(jit_frame *f);
/* The lists of parameters in `writes` get the items that they have now. */
bool core_jit_lists_back(jit_frame *f, uint64_t writes, tt_jit_run *run, PyObject *self);

/* jit_result.c: the object that words of this type stand for. `self`: the compiled function. */
PyObject *core_jit_result(const char *type, const int64_t *word, tt_jit_run *run, jit_frame *f, PyObject *self);
/* A Python list of the items of type `kind`. */
PyObject *core_jit_items(const char *kind, const tt_jit_list *list, tt_jit_run *run, jit_frame *f, PyObject *self);
int core_jit_result_init(PyObject *module);

/* jit.c: what a call printed goes to Python's own standard output; the exception of a call that failed. */
bool core_jit_show(const tt_jit_run *run);
void core_jit_raise(PyObject *self, tt_code c, const tt_error *err);

/* jit_generator.c: what a call of `self` gave whose result is a generator; the run and what the frame holds are its
 * from then on. */
PyObject *core_jit_generator(PyObject *self, PyObject *args, const tt_jit *jit, const int64_t *hidden, int64_t word,
                             tt_jit_run **run, jit_frame *f);
int core_jit_generator_init(PyObject *module);

#endif
