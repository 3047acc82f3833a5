/*
** The library rows of linalg/rows.c on devices. Each answers TT_ENOTIMPL where the host has to do the work: no
** library, empty matrices, very many matrices of a kind that goes one by one.
*/
#ifndef TT_LIB_LINALG_DEVICE_H
#define TT_LIB_LINALG_DEVICE_H

#include "ir/library.h"

#define TT_LINALG_ROW(NAME)                                                                                    \
  TT_HIDDEN tt_code tt__device_##NAME(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, \
                                      const tt_block *out, tt_error *err)
TT_LINALG_ROW(solve);
TT_LINALG_ROW(inv);
TT_LINALG_ROW(det);
TT_LINALG_ROW(slogdet);
TT_LINALG_ROW(cholesky);
TT_LINALG_ROW(qr);
TT_LINALG_ROW(qr_r);
TT_LINALG_ROW(svd);
TT_LINALG_ROW(svdvals);
TT_LINALG_ROW(eigh);
TT_LINALG_ROW(eig);
TT_LINALG_ROW(lstsq);
#undef TT_LINALG_ROW

/* Why the host computes general eigenvalues for this device; NULL: it does not. */
TT_HIDDEN const char *tt__device_eig_missing(tt_device *d);

#endif
