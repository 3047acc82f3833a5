/*
** Staged copies over the null device: right at every size, ordered, and clean when a step fails.
*/
#include "test.h"

#include "base/fault.h"
#include "base/pool.h"
#include "device/cache_alloc.h"
#include "device/device.h"
#include "device/null/null.h"
#include "device/stage.h"

static tt_device *open_null(uint64_t seed) {
  tt_device *d = NULL;
  tt__null_show(1);
  CHECK_INT(tt__device_open(0x300, &d, NULL), TT_OK);
  tt__null_seed(d, seed);
  return d;
}

static void close_null(void) {
  tt__device_close_all();
  tt__null_show(0);
  tt__stage_tune(0, 0);
  tt__pool_shutdown();
}

static unsigned char byte_at(size_t i, int salt) { return (unsigned char)((i * 2654435761u >> 13) + (size_t)salt); }

static void there_and_back(tt_device *d, size_t size, int salt) {
  unsigned char *host = tt__mem_alloc_data(size), *back = tt__mem_alloc_data(size);
  tt_dmem *m = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, size, &m, &err), TT_OK);
  for (size_t i = 0; i < size; i++) host[i] = byte_at(i, salt);
  CHECK_INT(tt__stage_in(d, d->work, tt__dmem_at(m), host, size, &err), TT_OK);
  memset(host, 0, size); /* it has been read */
  CHECK_INT(tt__stage_out(d, d->work, back, tt__dmem_at(m), size, &err), TT_OK);
  size_t wrong = 0;
  for (size_t i = 0; i < size; i++) wrong += back[i] != byte_at(i, salt);
  CHECK_INT(wrong, 0);
  tt__dmem_free(d, m);
  tt__mem_free_data(host, size);
  tt__mem_free_data(back, size);
}

TEST(bytes_arrive_at_every_size) {
  static const size_t sizes[] = {1, 100, 131072, 131073, 1 << 20, (1 << 20) + 1, 5000000, 20000001};
  for (int salt = 0; salt < 4; salt++) {
    tt_device *d = open_null((uint64_t)salt);
    if (salt % 2) tt__stage_tune(200000, 1 + salt);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) there_and_back(d, sizes[i], salt);
    close_null();
  }
}

TEST(copies_are_ordered_with_other_work) {
  enum { N = 3000000 };
  tt_device *d = open_null(5);
  tt__stage_tune(300000, 3);
  unsigned char *host = tt__mem_alloc_data(N);
  tt_dmem *m = NULL;
  CHECK_INT(tt__dmem_alloc(d, d->work, N, &m, NULL), TT_OK);
  for (int turn = 1; turn < 4; turn++) {
    memset(host, turn, N);
    CHECK_INT(tt__stage_in(d, d->work, tt__dmem_at(m), host, N, NULL), TT_OK);
    CHECK_INT(d->ops->fill(d, d->work, tt__dmem_at(m), 0x77, 10, NULL), TT_OK); /* after the copy */
    CHECK_INT(tt__stage_out(d, d->work, host, tt__dmem_at(m), N, NULL), TT_OK);
    CHECK(host[0] == 0x77 && host[9] == 0x77 && host[10] == turn && host[N - 1] == turn);
  }
  tt__dmem_free(d, m);
  tt__mem_free_data(host, N);
  close_null();
}

TEST(pinned_memory_has_been_read_on_return) {
  static const size_t sizes[] = {100, 200000, 6 << 20};
  tt_device *d = open_null(2);
  for (int k = 0; k < 3; k++) {
    size_t n = sizes[k];
    void *pin = NULL;
    tt_dmem *m = NULL;
    CHECK_INT(tt__pinned_alloc(d, n, &pin, NULL), TT_OK);
    CHECK_INT(tt__dmem_alloc(d, d->work, n, &m, NULL), TT_OK);
    memset(pin, 4, n);
    CHECK_INT(tt__stage_in(d, d->work, tt__dmem_at(m), pin, n, NULL), TT_OK);
    memset(pin, 5, n);
    CHECK_INT(tt__stage_out(d, d->work, pin, tt__dmem_at(m), n, NULL), TT_OK);
    CHECK(*(char *)pin == 4 && ((char *)pin)[n - 1] == 4);
    tt__dmem_free(d, m);
    tt__pinned_free(d, pin, n);
  }
  close_null();
}

TEST(a_failing_step_is_an_error_and_the_next_copy_works) {
  enum { N = 2000000 };
  static const tt_fault kinds[] = {TT_FAULT_MEMORY, TT_FAULT_DEVICE_MEMORY, TT_FAULT_COPY};
  unsigned char *host = tt__mem_alloc_data(N);
  for (int k = 0; k < 3; k++) {
    for (int64_t n = 0; n < 40; n++) {
      tt_device *d = open_null((uint64_t)n);
      tt_dmem *m = NULL;
      tt_error err = {0};
      bool fired = false;
      tt__stage_tune(300000, 3);
      CHECK_INT(tt__dmem_alloc(d, d->work, N, &m, NULL), TT_OK);
      memset(host, 9, N);
      tt__fault_arm(kinds[k], n, false);
      tt_code in = tt__stage_in(d, d->work, tt__dmem_at(m), host, N, &err);
      tt_code out = in == TT_OK ? tt__stage_out(d, d->work, host, tt__dmem_at(m), N, &err) : in;
      tt__fault_calls(kinds[k], &fired);
      tt__fault_arm(kinds[k], -1, false);
      CHECK(out == TT_OK || out == TT_ENOMEM || out == TT_EDEVICE);
      if (kinds[k] == TT_FAULT_DEVICE_MEMORY) CHECK_INT(out, TT_OK); /* fewer buffers, or none */
      if (kinds[k] == TT_FAULT_COPY) CHECK((out == TT_EDEVICE) == fired);
      there_and_back(d, 1000000, 3);
      tt__dmem_free(d, m);
      close_null();
      if (!fired) break;
    }
  }
  tt__mem_free_data(host, N);
}

TEST_MAIN()
