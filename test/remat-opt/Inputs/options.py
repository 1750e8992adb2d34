"""Compares Options.def with the options of the passes in Passes.td; the argument is their folder."""
import re
import sys

folder = sys.argv[1]


def strings(text):
    """String literals in order; those with nothing but blanks between them are one."""
    texts, end = [], None
    for literal in re.finditer(r'"((?:[^"\\]|\\.)*)"', text):
        if end is not None and not text[end:literal.start()].strip():
            texts[-1] += literal[1]
        else:
            texts.append(literal[1])
        end = literal.end()
    return texts


table = {}
for entry in re.findall(r"^REMAT_(?:PLAN_)?OPTION\((.*?)\)$", open(folder + "/Options.def").read(), re.M | re.S):
    texts = strings(entry)
    table[texts[0]] = (entry.startswith("List"), texts[-1])

taken = {}
for kind, entry in re.findall(r"\b(List)?Option<(.*?)>[;,\]]", open(folder + "/Passes.td").read(), re.S):
    texts = strings(entry)
    taken[texts[1]] = (kind == "List", texts[-1])

assert len(table) > 5 and len(taken) > 5
for name, option in table.items():
    assert name in taken, f"no pass takes {name}"
    assert option == taken[name], f"{name}: {option} in Options.def, {taken[name]} in Passes.td"
