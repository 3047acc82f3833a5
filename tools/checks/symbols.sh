#!/usr/bin/env bash
# The shared library exports tt_ names and nothing else; every one of them is declared in a public header.
cd "$(dirname "$0")/../.." || exit 1
lib=build/libtutti.so
[ -e $lib ] || { echo "no $lib: run make build first"; exit 1; }
bad=0
names=$(nm -D --defined-only $lib | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }')
for name in $names; do
  case $name in tt__*) echo "internal name exported: $name"; bad=1 ;; tt_*) ;; *) echo "foreign name exported: $name"; bad=1 ;; esac
  grep -qrw "$name" include/tutti || { echo "exported, but in no public header: $name"; bad=1; }
done
[ -n "$names" ] || { echo "nothing is exported"; bad=1; }
exit $bad
