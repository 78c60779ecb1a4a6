"""The types of arguments as text: `f32[batch,8,8]`, `{w: f32[64,32], b: f32[32]}`, `[i32[], (f32[3], None)]`.

    spec   :=  dtype [ "[" dims "]" ]  |  "{" key ":" spec, ... "}"  |  "[" spec, ... "]"  |  "(" spec, ... ")"  |  None
    dtype  :=  f32 bf16 i8 u32 bool c64 ... or a full name (float32)
    dims   :=  as in `symbolic_shape`
    key    :=  a word, a number, or a quoted string

A dtype without brackets is a scalar.  Other text raises `SpecError`, which shows it with a caret under the error.
"""

import re

from onax._ground import dtypes
from onax._ground.dims import DimSyntaxError, SymbolicScope, parse_dims
from onax._ground.errors import ExportError
from onax._transforms.abstract import ShapeDtypeStruct

_SHORT = {dtypes.short_name(d): d for d in dtypes.ALL_DTYPES}
_LONG = {d.name: d for d in dtypes.ALL_DTYPES}
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"-?\d+")


class SpecError(ExportError):
    """The error of a text that is not an argument spec; `position` is the index of the first wrong character."""

    def __init__(self, fault, text, position):
        super().__init__(f"{fault}\n    {text}\n    {' ' * position}^")
        self.text = text
        self.position = position


class _Reader:
    """A recursive-descent parser of one spec."""

    def __init__(self, text, scope):
        self.text = text
        self.scope = scope
        self.position = 0

    def fail(self, fault, position=None):
        raise SpecError(fault, self.text, self.position if position is None else position)

    def skip(self):
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    def next(self):
        self.skip()
        return self.text[self.position] if self.position < len(self.text) else ""

    def match(self, pattern):
        self.skip()
        result = pattern.match(self.text, self.position)
        if result is None:
            return None
        self.position = result.end()
        return result.group()

    def whole(self):
        if not self.next():
            self.fail("an argument spec is missing")
        spec = self.spec()
        if self.next():
            self.fail("unexpected text after the spec")
        return spec

    def spec(self):
        first = self.next()
        if first == "{":
            return self.dictionary()
        if first == "[":
            return self.sequence("]")
        if first == "(":
            return self.tuple()
        start = self.position
        word = self.match(_WORD)
        if word is None:
            self.fail("expected a dtype such as f32, or one of { [ (")
        if word == "None":
            return None
        return self.array(word, start)

    def sequence(self, closing):
        self.position += 1
        items = []
        while self.next() != closing:
            items.append(self.spec())
            self.separator(closing)
        self.position += 1
        return items

    def tuple(self):
        return tuple(self.sequence(")"))

    def separator(self, closing):
        token = self.next()
        if token == ",":
            self.position += 1
        elif token != closing:
            self.fail(f"expected ',' or '{closing}'")

    def dictionary(self):
        self.position += 1
        items = {}
        while self.next() != "}":
            start = self.position
            key = self.key()
            if key in items:
                self.fail(f"the key {key!r} occurs twice", start)
            if self.next() != ":":
                self.fail("expected ':' after the key")
            self.position += 1
            items[key] = self.spec()
            self.separator("}")
        self.position += 1
        return items

    def key(self):
        quote = self.next()
        if quote and quote in "'\"":
            end = self.text.find(quote, self.position + 1)
            if end < 0:
                self.fail("this quotation mark is not closed")
            key = self.text[self.position + 1 : end]
            self.position = end + 1
            return key
        number = self.match(_NUMBER)
        if number is not None:
            return int(number)
        word = self.match(_WORD)
        if word is None:
            self.fail("expected a key: a name, a number or a quoted string")
        return word

    def array(self, word, start):
        dtype = _SHORT.get(word, _LONG.get(word))
        if dtype is None:
            known = " ".join(sorted(_SHORT))
            self.fail(f"{word} is not a dtype; the dtypes are {known}", start)
        if dtypes.canonicalize_dtype(dtype) != dtype:
            self.fail(f"{word} is a 64-bit dtype, and these are off: set JAX_ENABLE_X64=1 or use another dtype", start)
        shape = ()
        if self.position < len(self.text) and self.text[self.position] == "[":
            shape = self.dims()
        return ShapeDtypeStruct(shape, dtype)

    def dims(self):
        start = self.position
        end = self.text.find("]", start)
        if end < 0:
            self.fail("this '[' is not closed", start)
        inner = self.text[start + 1 : end]
        try:
            shape = parse_dims(inner, self.scope)
        except DimSyntaxError as error:
            self.fail(f"invalid shape: {error.reason}", start + 1 + error.position)
        for d in shape:
            if isinstance(d, int) and d < 0:
                self.fail(f"a dimension cannot be {d}", start + 1)
        self.position = end + 1
        return shape


def parse_spec(text, scope=None):
    """The tree of ShapeDtypeStruct that a text describes.  Raises SpecError for any other text."""
    return _Reader(text, SymbolicScope() if scope is None else scope).whole()
