/*
** A graph as text and back: TUTTI_DEBUG=graph and fuzzers. One node a line, operands before users:
**
**   %0 = float64[2,3] BUFFER
**   %1 = float64[2,3] CONST 2.5
**   %2 = float64[2,3] MUL %0 %1
**   %3 = float64[2] REDUCE %2 SUM axes=1
**   out %3
**
** VIEW %0 off=4 step=-1,2     STORE %0 %1 off=0 step=1     PICK %4 0     LIB %0 %1 name i=1,2 f=0.5
** A BUFFER of at most 64 bytes carries its bytes (BUFFER 00ff...); larger ones read back as zeros.
*/
#ifndef TT_GRAPH_TEXT_PRINT_H
#define TT_GRAPH_TEXT_PRINT_H

#include "base/str.h"
#include "graph/build.h"

/* "ADD", "VIEW"; "SUM". */
TT_HIDDEN const char *tt__node_name(int op);
TT_HIDDEN const char *tt__red_name(int red);
/* Everything below the nodes. False when memory is out; check out->failed too. */
TT_HIDDEN bool tt__graph_print(tt_node *const *node, int n, tt_str *out);
/* The nodes of the `out` line, at most `room`, a hold each; *n their number. TT_EVALUE names the line that does not
 * read. */
TT_HIDDEN tt_code tt__graph_parse(const char *text, tt_node **out, int room, int *n, tt_error *err);

#endif
