"""Above a rendered kernel stands what it calls of the prelude, so there are nearly as many heads as kernels. Heads with
the same directives are merged here and kernels share them; what a kernel says and only others' heads define is told:
alone it would not compile."""

import functools
import graphlib
import re

DIRECTIVE = re.compile(r"#\s*(?:if|ifdef|ifndef|else|elif|endif|undef)\b|#\s*define\s+\w+\s*$")
WORD = re.compile(r"[A-Za-z_]\w*")
# What an item defines: a macro, a type, an array or a function.
DEFINES = (
    re.compile(r"#\s*define\s+(\w+)"),
    re.compile(r"typedef\b.*?(\w+)\s*(?:\[[^\]]*\]\s*)?;\s*$", re.S),
    re.compile(r"TT_CONST\b[^=(]*?(\w+)\s*(?:\[[^\]]*\]\s*)*="),
    re.compile(r"TT_(?:FN|LONG_FN|RARE)\b[^{(=]*?(\w+)\s*\("),
)


@functools.cache
def name_of(item):
    """What it defines, or None: then it is no part that a head may lack."""
    found = next((m for m in (pattern.match(item) for pattern in DEFINES) if m), None)
    return found.group(1) if found and not DIRECTIVE.match(item) else None


@functools.cache
def words_of(text):
    return frozenset(WORD.findall(text))


@functools.cache
def items_of(head):
    """Lines, together until their brackets are closed."""
    items, held, depth = [], [], 0
    for line in head.split("\n"):
        held.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and not line.endswith("\\"):
            items.append("\n".join(held))
            held = []
    return (*items, *held)


def frame_of(head):
    """What heads must have in common to be merged."""
    return tuple(item for item in items_of(head) if name_of(item) is None)


def parts_of(head):
    """The items with names between those of the frame."""
    parts = [[]]
    for item in items_of(head):
        if name_of(item) is None:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def merged(heads):
    """One head for all, whose frame is the same."""
    lines = []
    frame = frame_of(heads[0])
    for at, parts in enumerate(zip(*(parts_of(head) for head in heads), strict=True)):
        order = graphlib.TopologicalSorter()
        for part in parts:
            for k, item in enumerate(part):
                order.add(item, *part[k - 1 : k] if k else ())
        lines += order.static_order()
        lines += frame[at : at + 1]
    return "\n".join(lines)


def lacking(head, body, whole):
    """Names in a kernel's text that are defined in the merged head alone."""
    own = set(items_of(head))
    others = {name_of(item) for item in items_of(whole) if item not in own} - {name_of(item) for item in own}
    return sorted((words_of(body).union(*map(words_of, own))) & others - {None})
