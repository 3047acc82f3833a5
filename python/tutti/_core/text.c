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

/* "-1.250e+07" as its digits without trailing zeros and its exponent. */
static PyObject *digits_of(const char *text) {
  char digits[32];
  int n = 0, point = 0, exponent = 0;
  bool seen_point = false;
  for (const char *p = text; *p; p++) {
    if (*p == 'e' || *p == 'E') {
      exponent = atoi(p + 1);
      break;
    }
    if (*p == '.') seen_point = true;
    if (*p < '0' || *p > '9') continue;
    if (n == 0 && *p == '0') {
      point -= seen_point;
      continue;
    }
    if (n < (int)sizeof digits) digits[n++] = *p;
    point += !seen_point;
  }
  if (n == 0) return Py_BuildValue("(si)", "0", 0);
  while (n > 1 && digits[n - 1] == '0') n--;
  return Py_BuildValue("(s#i)", digits, (Py_ssize_t)n, exponent + point - 1);
}

/*
** The next number of as many digits: "-1.562e-02" to "-1.563e-02". Above a power of two the gaps are twice those
** below, so the farther neighbour may name a value that the nearest does not. False where a digit is carried out.
*/
static bool step_up(char *text) {
  char *p = strchr(text, 'e');
  while (p && --p >= text && *p != '-') {
    if (*p == '.') continue;
    if (*p != '9') return ++*p, true;
    *p = '0';
  }
  return false;
}

static bool names_value(const char *text, double v, int size) {
  return narrow(PyOS_string_to_double(text, NULL, NULL), size) == v;
}

/*
** _shortest(value, size): the fewest digits that name the value among the floats of `size` bytes (3: bfloat16), and the
** decimal exponent of the first.
*/
static PyObject *py_shortest(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  if (n != 2) return PyErr_SetString(PyExc_TypeError, "_shortest() takes 2 arguments"), NULL;
  double v = PyFloat_AsDouble(arg[0]);
  long size = PyLong_AsLong(arg[1]);
  if (PyErr_Occurred()) return NULL;
  for (int digits = size == 8 ? 16 : 0; digits < 17; digits++) {
    char *s = size == 8 ? PyOS_double_to_string(v, 'r', 0, 0, NULL) : PyOS_double_to_string(v, 'e', digits, 0, NULL);
    if (!s) return PyErr_NoMemory();
    bool names = size == 8 || names_value(s, v, (int)size) || (step_up(s) && names_value(s, v, (int)size));
    PyObject *out = names ? digits_of(s) : NULL;
    PyMem_Free(s);
    if (names || PyErr_Occurred()) return out;
  }
  return digits_of("0");
}

PyMethodDef core_text_functions[] = {
    {"_shortest", CORE_FAST(py_shortest), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
