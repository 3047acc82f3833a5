/*
** The rows of random/draws.def.
*/
#include "random/draws.h"

const tt_dist_row tt__dists[TT_DISTS] = {
#define TT_REAL(name, modern, legacy) [TT_DIST_##name] = {.real = {tt__bits_##modern, tt__bits_##legacy}},
#define TT_COUNTS(name, modern, legacy) [TT_DIST_##name] = {.count = {tt__bits_##modern, tt__bits_##legacy}},
#include "random/draws.def"
#undef TT_REAL
#undef TT_COUNTS
};
