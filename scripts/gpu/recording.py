"""What one stage of the proof writes down while it runs: a JSON file that is whole at every moment.

A stage is a generator of items `(name, function)`.  Each item passes, fails with a text, is skipped with a reason, or
gives numbers.  The file is replaced at most once a second and at the end, so that a stage that is killed, or takes the
process down with it, still tells how far it came and in which item it was.
"""

import json
import os
import time
import traceback


class Skip(Exception):
    """Raised by an item that does not apply, with the reason."""


def write_json(path, content):
    """Replaces a JSON file in one step."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(temporary, path)


def read_json(path):
    """The content of a JSON file, or None where there is none."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Recording:
    """The results of one stage, by item: "passed", "failed" (text), "skipped" (reason), "numbers"."""

    def __init__(self, path):
        self.path = path
        known = read_json(path) or {}
        self.items = known.get("items", {})
        self.current = None
        self.finished = False
        self._written = 0.0

    def run(self, stage, seconds):
        """Runs the items of a stage that have no result yet, until the time is up."""
        deadline = time.monotonic() + seconds
        for name, function in stage:
            if name in self.items:
                continue
            if time.monotonic() > deadline:
                self.items[name] = {"skipped": "the time of the stage was up"}
                continue
            self.current = name
            self.save(at_most_every=1.0)
            self.items[name] = _outcome(function)
        self.current = None
        self.finished = True
        self.save()

    def save(self, at_most_every=0.0):
        """Writes the file, unless it was written a moment ago."""
        if time.monotonic() - self._written >= at_most_every or at_most_every == 0.0:
            write_json(self.path, {"items": self.items, "current": self.current, "finished": self.finished})
            self._written = time.monotonic()


def _outcome(function):
    try:
        numbers = function()
    except Skip as reason:
        return {"skipped": str(reason)}
    except Exception as error:
        return {"failed": "".join(traceback.format_exception(error, limit=-4))[-4000:]}
    return {"passed": True} if numbers is None else {"passed": True, "numbers": numbers}
