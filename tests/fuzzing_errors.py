"""What is wrong with the way in which a call failed, for `golden/test_error_calls.py`."""

import ast
import functools
import linecache
import re

import numpy as np

from error_calls import without_folders
from onax._ground.source import is_internal


def has_one_fault(line, calls):
    """Whether a call that succeeds differs from this one in a single word: then it is clear what is wrong with it.

    Which of several faults is found first is not compared.
    """
    words = line.split()
    for i in range(len(words)):
        shorter = " ".join(words[:i] + words[i + 1 :])
        if calls.get(shorter, "?") is None and "=" in words[i]:
            return True
        for other in _variants(words, i):
            if calls.get(other, "?") is None:
                return True
    return False


_GOOD = "f g v w i b c s e 2 1.5 T tuple call None -7 int".split()


def _variants(words, i):
    name, equals, _ = words[i].rpartition("=")
    for good in _GOOD:
        yield " ".join([*words[:i], f"{name}{equals}{good}", *words[i + 1 :]])


def fault(name, wanted, error):
    """A word for what is wrong with an outcome, or None: `wanted` is recorded (see error_calls.py), `error` is ours."""
    if error is None:
        return None if wanted is None else f"accepted, {wanted[0]} in JAX"
    if wanted is None:
        return None if _is_refusal(error) or _is_stricter(error) else f"{type(error).__name__}, accepted in JAX"
    if _is_refusal(error):
        return None
    if type(error).__name__ != wanted[0] and not _is_accident(*wanted, error):
        return f"{type(error).__name__}, {wanted[0]} in JAX"
    text = without_folders(str(error))
    if _same_words(text, wanted[1]):
        return None
    if any(_names(note, name) for note in getattr(error, "__notes__", ())):
        return None  # the public function names it: see onax/_core/api_functions.py
    if not on_purpose(error):
        return "not raised on purpose"
    return None if _names(text, name) else "without the function's name"


# What is meant to differ: (names of functions, calls, faults, each a regular expression for all of it; the reason).
REASONS = (
    (
        "pure_callback|experimental\\.io_callback",
        "None .*",
        "TypeError, accepted in JAX",
        "what cannot be called is refused where it is given; JAX fails when the program runs, or not at all",
    ),
    (
        "tree_util\\.is_tree_node",
        "None",
        "accepted, TypeError in JAX",
        "what is no class is no container; JAX refuses None alone",
    ),
    (
        "tree_util\\.(SequenceKey|FlattenedIndexKey)",
        "s",
        "TypeError, accepted in JAX",
        "a fraction is no index",
    ),
    (
        "disable_jit|transfer_guard",
        ".*",
        "ValueError, (accepted|TypeError) in JAX",
        "a value that the option does not take is refused where it is given; JAX fails later, in the with statement",
    ),
    (
        "sharding\\.make_single_device_sharding",
        ".*",
        "TypeError, accepted in JAX",
        "what is no device is refused where it is given; JAX fails later, where the sharding is used",
    ),
    (
        "sharding\\.AbstractMesh",
        "None .*",
        "TypeError, accepted in JAX",
        "None gives no sizes; JAX fails later, where it counts them",
    ),
    (
        "custom_jvp|custom_vjp|custom_gradient|custom_batching\\..*|checkpoint|remat",
        ".*",
        "TypeError, accepted in JAX",
        "a value that is no function is refused where it is given; JAX fails later, in the first call",
    ),
    (
        "lax\\.(broadcast|expand_dims)",
        "[fi] i",
        "accepted, TypeError in JAX",
        "a known array of integers is taken for a sequence; JAX fails to hash it, as a parameter of an equation",
    ),
    (
        "lax\\.(broadcast|tile)",
        "[fi] tuple",
        "accepted, TypeError in JAX",
        "JAX takes these sizes, too, but after the same call with floats finds that one's trace in its cache",
    ),
    (
        "lax\\.cum.*",
        "i (axis=)?1\\.5",
        "TypeError, ValueError in JAX",
        "a fraction is never an axis here; JAX takes 1.5 for 1, and then there is no such axis",
    ),
    (
        "lax\\.dynamic_index_in_dim",
        "f 2 2",
        "ValueError, IndexError in JAX",
        "an axis out of bounds has the same words everywhere; in JAX a list inside fails",
    ),
    (
        "lax\\.expand_dims",
        ".* text",
        "TypeError, ValueError in JAX",
        "a string is no axis; JAX counts its letters first and finds one twice",
    ),
    (
        "lax\\.(expand_dims|top_k)",
        "None .*",
        "TypeError, ValueError in JAX",
        "None is no array; JAX looks for the axis in its shape first, as if it were a scalar",
    ),
    (
        "lax\\.random_gamma_grad",
        "[fT] 1\\.5",
        "accepted, AttributeError in JAX",
        "Python numbers are taken, as by other operations; JAX asks them for a shape",
    ),
    (
        "lax\\.(reduce_(max|min|prod|sum)|rev|tile)",
        "T i",
        "TracerIntegerConversionError, TypeError in JAX",
        "a TypeError, too, which says what was traced; JAX speaks of parameters that have no hash",
    ),
    (
        "lax\\.reshape",
        "[fi] .*",
        "TypeError, ValueError in JAX",
        "a shape of another size is refused as soon as it is asked for, while XLA's compiler finds it in JAX",
    ),
    (
        "lax\\.reshape",
        "T .*",
        "TypeError, accepted in JAX",
        "a shape of another size is refused as soon as it is asked for, while XLA's compiler finds it in JAX",
    ),
    (
        "make_jaxpr",
        "object",
        "TypeError, accepted in JAX",
        "a value that is no function is refused where it is given; JAX lets objects pass that can be weakly referenced",
    ),
    (
        "numpy\\.array_equiv",
        ".*",
        "accepted, TypeError in JAX",
        "documented to answer False for shapes that do not broadcast; JAX's own check lets them pass to a comparison",
    ),
    (
        "numpy\\.diagflat",
        ".* [ie]",
        "TypeError, ValueError in JAX",
        "JAX counts arange(n + abs(k)) inside, whose error changes with the dtype of an array k; here always TypeError",
    ),
    (
        "numpy\\.ones",
        "i T",
        "ValueError, TypeError in JAX",
        "while tracing, JAX takes no known array for a shape; here it does, and what is wrong is the dtype",
    ),
    (
        "numpy\\.poly(add|sub)",
        "i e",
        "accepted, ValueError in JAX",
        "an empty polynomial is 0, as in NumPy; JAX writes it to the slice -0:, which is the whole of the other",
    ),
    (
        "numpy\\.setdiff1d",
        ".* list",
        "accepted, ValueError in JAX",
        "any truth value serves as assume_unique; JAX also asks for its hash, as a key of what it compiled",
    ),
    (
        "numpy\\.tile",
        "T -7",
        "ValueError, accepted in JAX",
        "JAX stages a tile of negative length, which cannot be compiled; it is refused as soon as it is asked for",
    ),
    (
        "numpy\\.tile",
        "T i",
        "accepted, TypeError in JAX",
        "elements of a known array stay known while tracing; JAX traces them, and its tile takes no traced counts",
    ),
    (
        "numpy\\.array_(repr|str)",
        ".*",
        "AttributeError by accident|ConcretizationTypeError, TypeError in JAX",
        "NumPy's own function, in both packages",
    ),
    (
        "lax\\.psum_scatter",
        ".* (2|-7|tuple)",
        "NameError, ValueError in JAX",
        "integers name no axis here; JAX takes them for axes of a number of its own",
    ),
    (
        "ad_checkpoint\\.checkpoint_name",
        ".*",
        "TypeError, accepted in JAX",
        "what cannot be a name is refused outside of a trace too",
    ),
    (
        "experimental\\.checkify\\.checkify",
        ".*",
        "TypeError, accepted in JAX",
        "what is no set of errors is refused where it is given; JAX fails later, in the first call",
    ),
    (
        "scipy\\.linalg\\.hadamard",
        "1.5",
        "TypeError, ValueError in JAX",
        "a fraction is never a count here",
    ),
    (
        "scipy\\.linalg\\.hessenberg",
        "e",
        "TypeError, accepted in JAX",
        "an empty vector is no matrix; JAX looks at its size first",
    ),
    (
        "scipy\\.signal\\..*",
        "[Tf] g",
        "accepted, ValueError in JAX",
        "only the mode 'valid' needs one array within the other, as in SciPy",
    ),
    (
        "scipy\\.signal\\..*",
        "[Tf] O",
        "TypeError, ValueError in JAX",
        "objects are refused before ranks are compared",
    ),
    (
        "scipy\\.signal\\.fftconvolve",
        ".*axes=twice|i e",
        "ValueError, accepted in JAX",
        "an axis twice, or nothing to convolve with: JAX gives numbers without a meaning",
    ),
    (
        "scipy\\.stats\\.bernoulli\\.cdf",
        ".*",
        "ValueError, TypeError in JAX",
        "shapes that do not broadcast are a ValueError in functions of NumPy; JAX happens to use an operation of lax",
    ),
    (
        "scipy\\.signal\\.detrend",
        "e|empty",
        "accepted, ZeroDivisionError in JAX",
        "no numbers have no trend to lose; JAX divides by how many there are",
    ),
    (
        "scipy\\.special\\.owens_t",
        ".* c",
        "ValueError, accepted in JAX",
        "Owen's T is a function of real numbers; JAX gives complex ones a value that is no continuation of it",
    ),
    (
        "scipy\\.stats\\.sem",
        "f ddof=f",
        "accepted, TypeError in JAX",
        "an array of ddof broadcasts here, as JAX lets it where the ranks are equal",
    ),
)


if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
    REASONS += (
        (
            "(dtypes|numpy)\\.finfo",
            "None|O|Z|b|i|text",
            "not raised on purpose|TypeError, accepted in JAX",
            "finfo is NumPy's, whose errors are others from 2.5 on; the recorded ones came with an older NumPy",
        ),
    )


def reason(name, line, fault):
    """Why a call is meant to differ from JAX, or None."""
    for names, calls, faults, why in REASONS:
        if all(map(re.fullmatch, (names, calls, faults), (name, line, fault))):
            return why
    return None


_ARGUMENT_ERRORS = (TypeError, ValueError, IndexError)
_PYTHONS_WORDS = re.compile(
    "tuple index out of range|list index out of range|object is not (iterable|callable|subscriptable)|has no len|"
    "int\\(\\)|cannot be interpreted as an integer|invalid literal|duplicate value|values to unpack|"
    "unsupported operand|not supported between|unhashable type|iteration over a 0-d|truth value|"
    "argument must be a string|has no attribute|Invalid argument to dtype|arrays used as indices must be|"
    "contains out-of-bounds indices"
)


def _is_accident(kind, message, error):
    """Whether JAX did not choose what it raised (Python did, deep inside), while ours is a proper error."""
    if not isinstance(error, _ARGUMENT_ERRORS):
        return False
    return kind not in ("TypeError", "ValueError", "IndexError") or _PYTHONS_WORDS.search(message) is not None


def _is_refusal(error):
    """An error that says that something is not supported is an answer."""
    return isinstance(error, NotImplementedError) and on_purpose(error)


def _same_words(text, wanted):
    """Whether the message begins as JAX's, but for addresses, names of packages and numbers of ours."""
    clean = lambda s: re.sub(
        r"0x[0-9a-f]+|\W+", " ", s.replace("onax", "jax").replace("jnp.", "").replace("jaxlib._jax.", "")
    ).split()
    mine, other = clean(text), clean(wanted)
    n = min(len(other), 6)
    return n > 0 and mine[:n] == other[:n]


def _names(text, name):
    """Whether the message names the function, or the primitive that it is."""
    last = name.rpartition(".")[2]
    words = {last, last.replace("_", "-"), last.removeprefix("cum"), *_ALIASES.get(last, "").split()}
    return any(re.search(rf"(?<![A-Za-z]){re.escape(word)}", text) for word in words if word)


_WHOLE_NUMBERS = re.compile("(as|be) an integer|integer scalar|(only|Only) int|must be integers|integral type")


def _is_stricter(error):
    """JAX takes 1.5 for 1 in places, by `int()`; a fraction is never a count or an axis here."""
    return isinstance(error, TypeError) and _WHOLE_NUMBERS.search(str(error)) is not None


# Other names under which JAX's own messages speak of a function.
_ALIASES = {
    "abs": "absolute",
    "make_single_device_sharding": "SingleDeviceSharding",
}


def on_purpose(error):
    """Whether the statement that raised it is a `raise` of onax (compiled modules raise on purpose alone)."""
    entry = error.__traceback__
    if entry is None:
        return True
    while entry.tb_next is not None:
        entry = entry.tb_next
    filename = entry.tb_frame.f_code.co_filename
    if not is_internal(filename):
        return False
    return filename.endswith(".pyx") or entry.tb_lineno in _raising_lines(filename)


@functools.cache
def _raising_lines(filename):
    """Lines that belong to a `raise` statement."""
    tree = ast.parse("".join(linecache.getlines(filename)))
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        for line in range(node.lineno, node.end_lineno + 1)
    }
