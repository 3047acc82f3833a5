/* What functions are composed of, when memory runs out. */
#define TEST_KEEPS_MEMORY /* of small objects */
#include "base/fault.h"
#include "fn/compose.h"
#include "graph/session.h"
#include "test.h"

/* Small objects mostly are at hand, so which allocation fails differs from try to try. */
TEST(an_array_that_is_not_made_has_no_elements) {
  enum { TRIES = 5000 };
  int64_t len = 3;
  int failed = 0;
  tt_error err;
  tt__session_lock();
  tt_composer held = {.err = &err};
  for (int i = 0; i < TRIES; i++) {
    void *data = &len;
    tt__fault_arm(TT_FAULT_MEMORY, i % 3, false);
    tt_array *a = tt__compose_block(&held, TT_F64, 1, &len, &data);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    CHECK((a != NULL) == (data != NULL));
    failed += a == NULL;
    held.code = TT_OK;
  }
  tt__compose_end(&held);
  tt__session_unlock();
  CHECK(failed > 0);
}

TEST_MAIN()
