"""The page that explains the errors, and its sections: `python -m onax.errors TracerBoolConversionError`."""

import argparse
import difflib
import re
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("errors.md")


def document():
    """The whole page, as Markdown; its sections have the names of the classes as anchors."""
    return PAGE.read_text(encoding="utf-8")


def sections():
    """For each name that the page explains, its section as text without anchors; several names may share one."""
    found = {}
    for part in re.split(r"^(?=<a id=)", document(), flags=re.MULTILINE)[1:]:
        text = re.sub(r"<a id=\"\w+\"></a>", "", part).strip()
        found |= dict.fromkeys(re.findall(r"<a id=\"(\w+)\"></a>", part), text)
    return found


def main(arguments):
    """Prints the section of each named error, or the names; the exit status: 2 for a name that the page lacks."""
    parser = argparse.ArgumentParser(prog="python -m onax.errors", description="Explains the errors that onax raises.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the class of an error; without one, all are listed")
    names, known = parser.parse_args(arguments).names, sections()
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            print(f"onax.errors: no error is called {name!r}; {hint}", file=sys.stderr)
            return 2
    print("\n\n".join(dict.fromkeys(known[name] for name in names)) or "\n".join(known))
    return 0
