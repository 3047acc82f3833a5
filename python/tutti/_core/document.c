/*
** The documentation of what is written in C: texts that tools/documents.py made. They are constant memory of the
** module, which the system reads when somebody asks.
*/
#include "core.h"

#include <string.h>

typedef struct document {
  const char *name, *text;
} document;

/* By name. */
static const document documents[] = {
#include "documents.inc"
};

/* A name against "part.name", or "name" where there is no part. */
static int compare(const char *name, const char *part, const char *own) {
  size_t n = part ? strlen(part) : 0;
  int order = n ? strncmp(name, part, n) : 0;
  if (order != 0 || n == 0) return order ? order : strcmp(name, own);
  return name[n] != '.' ? (name[n] < '.' ? -1 : 1) : strcmp(name + n + 1, own);
}

const char *core_document(const char *part, const char *name) {
  size_t low = 0, high = sizeof documents / sizeof *documents;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare(documents[middle].name, part, name);
    if (order == 0) return documents[middle].text;
    if (order < 0) low = middle + 1;
    if (order > 0) high = middle;
  }
  return NULL;
}

const char *core_document_body(const char *part, const char *name) {
  const char *text = core_document(part, name), *end = text ? strstr(text, "\n--\n\n") : NULL;
  return end ? end + 5 : text;
}

PyType_Slot core_document_slot(const char *name) {
  union {
    const char *text;
    void *slot;
  } u = {core_document(NULL, name)}; /* slots have no const */
  return (PyType_Slot){Py_tp_doc, u.slot};
}

PyMethodDef *core_document_all(const char *part, PyMethodDef *table) {
  for (PyMethodDef *def = table; def->ml_name; def++) {
    const char *text = core_document(part, def->ml_name);
    if (text) def->ml_doc = text;
  }
  return table;
}
