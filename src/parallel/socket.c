/* The socket of a line: descriptors, bytes that wake, and the end of the other side. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parallel/line.h"

typedef union control {
  struct cmsghdr head;
  char room[CMSG_SPACE(sizeof(int) * TT_LINE_DESCRIPTORS)];
} control;

static void fill_control(struct msghdr *m, control *c, const int *fd, int fds) {
  memset(c, 0, sizeof *c);
  m->msg_control = c;
  m->msg_controllen = CMSG_SPACE(sizeof *fd * (size_t)fds);
  struct cmsghdr *head = CMSG_FIRSTHDR(m);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof *fd * (size_t)fds);
  memcpy(CMSG_DATA(head), fd, sizeof *fd * (size_t)fds);
}

/* A byte that wakes may be left out where unread ones are many; descriptors wait for their place. */
bool tt__line_tell(tt_line *line, const int *fd, int fds) {
  char byte = 0;
  struct iovec v = {.iov_base = &byte, .iov_len = 1};
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
  control c;
  if (fds) fill_control(&m, &c, fd, fds);
  while (sendmsg(line->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EAGAIN && !fds) return true;
    if (errno != EAGAIN && errno != EINTR && errno != ETOOMANYREFS && errno != ENOBUFS) return false;
    struct pollfd p = {.fd = line->fd, .events = errno == EAGAIN ? POLLOUT : 0};
    poll(&p, 1, errno == EINTR ? 0 : 10);
  }
  return true;
}

/* Descriptors beyond those that messages may have are nobody's. */
static void keep_descriptors(tt_line *line, struct msghdr *m) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t k = 0; k < n; k++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + k * sizeof fd, sizeof fd);
      if (line->kepts < TT_LINE_KEPT) {
        line->kept[line->kepts++] = fd;
      } else {
        close(fd);
      }
    }
  }
}

/* Descriptors stay in the socket while there is no place to keep them. */
bool tt__line_drain(tt_line *line) {
  while (line->kepts <= TT_LINE_KEPT - TT_LINE_DESCRIPTORS) {
    char byte;
    control c;
    struct iovec v = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t got = recvmsg(line->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got == 0) return false;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    keep_descriptors(line, &m);
  }
  return true;
}
