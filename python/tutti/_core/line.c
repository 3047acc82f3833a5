/*
** Which line of whose program recorded an operation. Asking the interpreter costs about as
** much as recording does, so it is asked only while somebody wants to know.
*/
#include "core.h"

#include <stdlib.h>
#include <string.h>

bool core_line_wanted;

/* Lines seen, by id from 1 on; a line keeps its id. Guarded by the interpreter lock. */
enum { MAX_LINES = 1 << 16, SLOTS = 1 << 12 };
static char **line_text;
static uint32_t line_count;
static struct {
  PyObject *code;
  int line;
  uint32_t id;
} slot[SLOTS];

static uint32_t line_new(PyCodeObject *code, int line) {
  if (!line_text) line_text = calloc(MAX_LINES, sizeof *line_text);
  if (!line_text || line_count + 1 >= MAX_LINES) return 0;
  PyObject *name = PyObject_GetAttrString((PyObject *)code, "co_filename");
  const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  size_t room = s ? strlen(s) + 16 : 0;
  char *text = room ? malloc(room) : NULL;
  if (text) PyOS_snprintf(text, room, "%s:%d", s, line);
  Py_XDECREF(name);
  PyErr_Clear();
  if (!text) return 0;
  line_text[++line_count] = text;
  return line_count;
}

/* The folder of this package, with the slash behind it; "": not known. */
static const char *package_folder(void) {
  static char folder[4096];
  if (*folder) return folder;
  PyObject *module = PyImport_AddModule("tutti"); /* borrowed */
  PyObject *file = module ? PyObject_GetAttrString(module, "__file__") : NULL;
  const char *s = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
  const char *end = s ? strrchr(s, '/') : NULL;
  if (end && (size_t)(end - s) + 2 < sizeof folder) memcpy(folder, s, (size_t)(end - s) + 1);
  Py_XDECREF(file);
  PyErr_Clear();
  return folder;
}

static bool is_ours(PyFrameObject *frame) {
  PyCodeObject *code = PyFrame_GetCode(frame);
  PyObject *name = PyObject_GetAttrString((PyObject *)code, "co_filename");
  const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL, *folder = package_folder();
  bool ours = s && *folder && strncmp(s, folder, strlen(folder)) == 0;
  Py_XDECREF(name);
  Py_DECREF(code);
  PyErr_Clear();
  return ours;
}

/* The innermost frame that is no file of this package, or else the innermost one; held. */
static PyFrameObject *frame_of_program(void) {
  PyFrameObject *innermost = PyEval_GetFrame();
  PyObject *frame = Py_XNewRef((PyObject *)innermost);
  while (frame && frame != Py_None && is_ours((PyFrameObject *)frame)) {
    PyObject *back = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(frame);
    frame = back;
  }
  if (frame && frame != Py_None) return (PyFrameObject *)frame;
  PyErr_Clear();
  Py_XDECREF(frame);
  return (PyFrameObject *)Py_XNewRef((PyObject *)innermost);
}

void core_line_record(void) {
  PyFrameObject *frame = frame_of_program();
  if (!frame) return;
  PyCodeObject *code = PyFrame_GetCode(frame);
  int line = PyFrame_GetLineNumber(frame);
  size_t at = (((size_t)code >> 5) * 31 + (size_t)line) % SLOTS;
  if (slot[at].code != (PyObject *)code || slot[at].line != line) {
    uint32_t id = line_new(code, line);
    PyObject *old = slot[at].code;
    slot[at].code = Py_NewRef((PyObject *)code);
    Py_XDECREF(old);
    slot[at].line = line;
    slot[at].id = id;
  }
  tt_set_line(slot[at].id);
  Py_DECREF(code);
  Py_DECREF((PyObject *)frame);
}

/* Called by the library, on any thread: texts are never freed or changed. */
static void line_name(uint32_t id, char *out, size_t size) {
  const char *s = id > 0 && id <= line_count ? line_text[id] : "";
  PyOS_snprintf(out, size, "%s", s);
}

static PyObject *py_lines(PyObject *self, PyObject *wanted) {
  (void)self;
  int yes = PyObject_IsTrue(wanted);
  if (yes < 0) return NULL;
  bool before = core_line_wanted;
  core_line_wanted = yes;
  if (yes) tt_set_line_name(line_name);
  if (!yes) tt_set_line(0);
  return PyBool_FromLong(before);
}

PyMethodDef core_line_functions[] = {
    {"track_lines", py_lines, METH_O,
     "track_lines(wanted)\n--\n\nNote the line that records each operation, for errors and profiles; returns the "
     "setting before."},
    {NULL, NULL, 0, NULL},
};
