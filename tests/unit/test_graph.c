/* The graph stage over the oracle: recording, aliasing, promotion, indexing, errors, bounds on pending work. */
#include "base/fault.h"
#include "base/mem.h"
#include "base/os.h"
#include "graph/slab.h"
#include "oracle.h"
#include "test.h"
#include "tutti/device.h"

__attribute__((constructor)) static void at_load(void) { tt__session_set_evaluator(oracle_evaluate); }

TEST(records_and_reads) {
  tt_array *a = NULL, *b = NULL;
  tt_error err;
  CHECK(tt_arange(TT_I64, tt_v_int(0), tt_v_int(1), 6, &a, &err) == TT_OK);
  tt_value arg[2] = {tt_v_array(a), tt_v_float(2.5)};
  CHECK(tt_apply(TT_ADD, arg, 2, NULL, &b, &err) == TT_OK);
  double out[6];
  CHECK(tt_array_dtype(b) == TT_F64);
  CHECK(!tt_array_is_evaluated(b));
  CHECK(tt_read(b, out, sizeof out, &err) == TT_OK);
  CHECK(out[5] == 7.5);
  tt_release(&a);
  tt_release(&b);
  tt__slab_trim();
}

TEST_MAIN()
