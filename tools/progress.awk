# What ninja or make print, as one line that grows by the tenths; what is no progress is shown as it is.
function shown(percent) {
  while (next_tenth <= percent) {
    printf "%s %d %%", is_open ? "" : "  ", next_tenth
    is_open = 1
    next_tenth += 10
  }
  fflush()
}
BEGIN { next_tenth = 10 }
/Re-checking|no work to do|ing directory|Consolidate compiler|Built target/ { next }
/^\[[0-9]+\/[0-9]+\] / { split(substr($1, 2), done, /[\/\]]/); shown(100 * done[1] / done[2]); next }
/^\[ *[0-9]+%\] / { match($0, /[0-9]+%/); shown(substr($0, RSTART, RLENGTH - 1) + 0); next }
{ if (is_open) print ""; is_open = 0; print; fflush() }
END { if (is_open) print "" }
