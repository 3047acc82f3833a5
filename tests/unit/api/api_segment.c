/* Memory that processes share: what one fills in, another has; when it is free; who is told that it is. */
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tutti/tutti.h"

static tt_array *numbers(tt_dtype dtype, int64_t n) {
  tt_array *a;
  CHECK_INT(tt_arange(dtype, tt_v_int(0), tt_v_int(1), n, &a, NULL), TT_OK);
  return a;
}

/* A segment with two arrays, and another map of it, as a reader has it. */
static void fill(tt_segment **writer, tt_segment **reader) {
  tt_array *a[2] = {numbers(TT_F32, 5), numbers(TT_I64, 100)};
  const tt_dtype dtype[2] = {TT_F32, TT_I64};
  const int64_t size[2] = {5, 100};
  int fd;
  CHECK_INT(tt_segment_need(dtype, size, 2), 64 + 832);
  CHECK_INT(tt_segment_new(896, &fd, writer, NULL), TT_OK);
  CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  CHECK_INT(tt_segment_open(fd, false, reader, NULL), TT_OK);
  close(fd);
  CHECK_INT(tt_segment_size(*reader), 896);
  CHECK(tt_segment_claim(*writer));
  CHECK(!tt_segment_claim(*writer));
  CHECK_INT(tt_segment_fill(*writer, a, 2, NULL), TT_OK);
  tt_array *more[3] = {a[1], a[0], a[1]};
  CHECK_INT(tt_segment_fill(*writer, more, 3, NULL), TT_EVALUE);
  CHECK_INT(tt_segment_fill(*writer, a, 2, NULL), TT_OK);
  tt_release(&a[0]);
  tt_release(&a[1]);
}

static const int64_t lengths[] = {5, 10, 10};
static const tt_segment_item items[2] = {{TT_F32, 1, lengths}, {TT_I64, 2, lengths + 1}};

TEST(arrays_lie_where_they_were_filled_in) {
  tt_segment *writer, *reader;
  tt_array *got[2];
  int64_t values[100];
  fill(&writer, &reader);
  CHECK_INT(tt_segment_take(reader, items, 2, got, NULL), TT_OK);
  tt_segment_release(&reader); /* its arrays stay */
  CHECK_INT(tt_read(got[1], values, sizeof values, NULL), TT_OK);
  for (int k = 0; k < 100; k++) CHECK_INT(values[k], k);
  tt_release(&got[0]);
  CHECK(!tt_segment_claim(writer));
  tt_release(&got[1]);
  CHECK(tt_segment_claim(writer));
  tt_segment_release(&writer);
}

TEST(what_is_no_segment_and_what_does_not_fit_is_refused) {
  tt_segment *writer, *reader, *none;
  tt_array *got[3];
  int end[2];
  fill(&writer, &reader);
  const tt_segment_item more[3] = {items[0], items[1], items[1]};
  CHECK_INT(tt_segment_take(reader, more, 3, got, NULL), TT_EVALUE);
  CHECK(tt_segment_claim(writer)); /* free at once */
  CHECK_INT(pipe(end), 0);
  CHECK_INT(tt_segment_open(end[0], false, &none, NULL), TT_EVALUE);
  CHECK(!none);
  CHECK_INT(tt_segment_open(-1, false, &none, NULL), TT_EVALUE);
  close(end[0]);
  close(end[1]);
  tt_segment_release(&reader);
  tt_segment_release(&writer);
  tt_segment_release(&writer);
}

TEST(a_child_that_inherits_arrays_does_not_give_them_back) {
  tt_segment *writer, *reader;
  tt_array *got[2];
  fill(&writer, &reader);
  CHECK_INT(tt_segment_take(reader, items, 2, got, NULL), TT_OK);
  pid_t child = fork();
  if (child == 0) {
    tt_release(&got[0]);
    tt_release(&got[1]);
    _exit(0);
  }
  int status;
  CHECK_INT(waitpid(child, &status, 0), child);
  CHECK_INT(status, 0);
  CHECK(!tt_segment_claim(writer));
  tt_release(&got[0]);
  tt_release(&got[1]);
  CHECK(tt_segment_claim(writer));
  tt_segment_release(&reader);
  tt_segment_release(&writer);
}

TEST(a_map_of_ones_own_is_seen_by_nobody) {
  tt_segment *writer, *reader;
  tt_array *mine[2], *theirs[2];
  int fd;
  CHECK_INT(tt_segment_new(896, &fd, &writer, NULL), TT_OK);
  tt_array *a[2] = {numbers(TT_F32, 5), numbers(TT_I64, 100)};
  CHECK(tt_segment_claim(writer));
  CHECK_INT(tt_segment_fill(writer, a, 2, NULL), TT_OK);
  CHECK_INT(tt_segment_open(fd, true, &reader, NULL), TT_OK);
  close(fd);
  CHECK_INT(tt_segment_take(reader, items, 2, mine, NULL), TT_OK);
  CHECK_INT(tt_set(mine[0], tt_v_int(1), tt_v_float(9), NULL), TT_OK);
  CHECK_INT(tt_eval(mine, 1, NULL), TT_OK);
  CHECK_INT(tt_segment_take(writer, items, 1, theirs, NULL), TT_OK);
  float values[5];
  CHECK_INT(tt_read(theirs[0], values, sizeof values, NULL), TT_OK);
  CHECK(values[1] == 1);
  for (int k = 0; k < 2; k++) tt_release(&a[k]), tt_release(&mine[k]);
  tt_release(&theirs[0]);
  tt_segment_release(&reader);
  tt_segment_release(&writer);
}

TEST_MAIN()
