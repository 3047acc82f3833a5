/*
** The shortest decimal text of a float of 16 or 32 bits: Python's own repr does it for 64.
*/
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Round to the nearest value of a narrow format, ties to even; `digits` significant bits, smallest exponent `least`. */
static double round_to(double v, int bits, int least, double largest) {
  int exponent;
  if (v == 0 || !isfinite(v)) return v;
  frexp(v, &exponent);
  int shift = bits - (exponent > least ? exponent : least);
  double r = ldexp(nearbyint(ldexp(v, shift)), -shift);
  return fabs(r) > largest ? copysign(INFINITY, v) : r;
}

static double narrow(double v, int size) {
  if (size == 4) return (double)(float)v;
  if (size == 2) return round_to(v, 11, -13, 65504.0);
  return round_to(v, 8, -125, 3.3895313892515355e38);
}

/* shortest(value, size): repr of the value as a float of `size` bytes; size 3 stands for bfloat16. */
static PyObject *py_shortest(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  if (n != 2) return PyErr_SetString(PyExc_TypeError, "_shortest() takes 2 arguments"), NULL;
  double v = PyFloat_AsDouble(arg[0]);
  long size = PyLong_AsLong(arg[1]);
  if (PyErr_Occurred()) return NULL;
  if (size == 8 || !isfinite(v)) {
    char *s = PyOS_double_to_string(v, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    PyObject *out = s ? PyUnicode_FromString(s) : NULL;
    PyMem_Free(s);
    return out;
  }
  for (int digits = 0; digits < 9; digits++) {
    char text[64];
    char *s = PyOS_double_to_string(v, 'e', digits, 0, NULL);
    if (!s) return PyErr_NoMemory();
    PyOS_snprintf(text, sizeof text, "%s", s);
    PyMem_Free(s);
    double back = PyOS_string_to_double(text, NULL, NULL);
    if (back == -1.0 && PyErr_Occurred()) return NULL;
    if (narrow(back, (int)size) == v || digits == 8) {
      /* Through the double it names: repr of that is the text in positional form where Python uses it. */
      char *shortest = PyOS_double_to_string(back, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
      PyObject *out = shortest ? PyUnicode_FromString(shortest) : NULL;
      PyMem_Free(shortest);
      return out;
    }
  }
  Py_RETURN_NONE;
}

PyMethodDef core_text_functions[] = {
    {"_shortest", CORE_FAST(py_shortest), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
