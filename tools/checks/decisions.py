#!/usr/bin/env python3
"""Each entry of docs/decisions.md says when it was decided and which files hold it; these files are there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENTRY = re.compile(r"\*\*.+?\*\* \(20\d\d-\d\d-\d\d; ((?:`[^`]+`(?:, )?)+)\)")
bad = []
for paragraph in (ROOT / "docs" / "decisions.md").read_text().split("\n\n"):
    text = paragraph.replace("\n", " ")
    if not text.startswith("**"):
        continue
    entry = ENTRY.match(text)
    if not entry:
        bad.append(f"no date and files: {text[:80]}")
        continue
    for name in re.findall("`([^`]+)`", entry[1]):
        if not any((ROOT / folder / name).exists() for folder in ("src", ".", "include/tutti")):
            bad.append(f"no such file: {name}, of {text[:60]}")
print("\n".join(bad))
sys.exit(bool(bad))
