/* The least that proves a working link: one call into the library. */
#include <stdio.h>
#include <string.h>
#include <tutti/status.h>

int main(void) {
  puts(tt_code_name(TT_EVALUE));
  return strcmp(tt_code_name(TT_EVALUE), "TT_EVALUE") != 0;
}
