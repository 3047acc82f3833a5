/*
** The library rows of sort/rows.c, scan/rows_reduce.c and pick/rows_select.c on devices. Each answers TT_ENOTIMPL,
** before it did anything, where the host has to do the work.
*/
#ifndef TT_LIB_DEVICE_ROWS_H
#define TT_LIB_DEVICE_ROWS_H

#include "ir/library.h"

#define TT_DEVICE_ROW(NAME)                                                                                    \
  TT_HIDDEN tt_code tt__device_##NAME(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, \
                                      const tt_block *out, tt_error *err)
TT_DEVICE_ROW(sort);
TT_DEVICE_ROW(argsort);
TT_DEVICE_ROW(select);
TT_DEVICE_ROW(argselect);
TT_DEVICE_ROW(lexsort);
TT_DEVICE_ROW(scan);
TT_DEVICE_ROW(searchsorted);
TT_DEVICE_ROW(histogram_uniform);
TT_DEVICE_ROW(histogram_edges);
TT_DEVICE_ROW(reduce_complex);
TT_DEVICE_ROW(draw);
TT_DEVICE_ROW(fold_at);
TT_DEVICE_ROW(sums_at);
TT_DEVICE_ROW(sums_at_rows);
#undef TT_DEVICE_ROW

TT_HIDDEN tt_code tt__device_sort_part(const tt_lib_device *on, const tt_lib_attr *attr, const tt_lib_part *p,
                                       tt_error *err);
TT_HIDDEN tt_code tt__device_argsort_part(const tt_lib_device *on, const tt_lib_attr *attr, const tt_lib_part *p,
                                          tt_error *err);

#define TT_DEVICE_MAKER(NAME)                                                                                  \
  TT_HIDDEN tt_code tt__device_##NAME(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, \
                                      tt_made *out, tt_error *err)
TT_DEVICE_MAKER(unique);
TT_DEVICE_MAKER(nonzero);
TT_DEVICE_MAKER(compress);
TT_DEVICE_MAKER(repeat_index);
TT_DEVICE_MAKER(bincount);
TT_DEVICE_MAKER(bincount_weighted);
#undef TT_DEVICE_MAKER

#endif
