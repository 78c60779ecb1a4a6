"""Places: records, their text, and tracebacks without frames of onax."""

import traceback

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground import source
from onax._ground.config import traceback_filtering
from onax._ground.dims import parse_dims


def test_location_is_ours():
    record = source.user_location()
    filename, line, column, function = source.resolve(record)
    assert filename == __file__ and function == "test_location_is_ours"
    assert open(__file__).readlines()[line - 1][column:].startswith("source.user_location()")
    assert source.summarize(record) == f"{__file__}:{line}:{column} (test_location_is_ours)"


def outer_place():
    return inner_place()


def inner_place():
    return source.user_locations(), source.user_location()


def test_callers():
    with_callers, alone = outer_place()
    names = [source.resolve(r)[3] for r in (with_callers, *with_callers.callers)]
    assert names[:3] == ["inner_place", "outer_place", "test_callers"] and len(names) == 5
    assert [f.function_name for f in with_callers.traceback.frames] == names
    assert source.caller_lines(with_callers).startswith(f"\n  called from {__file__}:")
    assert alone.callers is None and source.caller_lines(alone) == source.caller_lines(None) == ""
    assert source.backward(with_callers, ()).callers is with_callers.callers
    again, other = outer_place()[0], inner_place()[0]
    assert again.callers != with_callers.callers  # called from another line
    assert other.callers[0] != with_callers.callers[0]


def test_operations_of_a_function_share_their_callers():
    def f(x):
        return jnp.sin(x) * jnp.cos(x)

    eqns = jax.make_jaxpr(f)(1.0).eqns
    assert all(eqn.source_info.callers is eqns[0].source_info.callers for eqn in eqns)


def test_unknown_place():
    assert source.summarize(None) == "<unknown>"


def test_registered_files_are_skipped():
    assert source.is_internal(source.__file__) and not source.is_internal(__file__)
    source.register_exclusion(__file__)
    try:
        record = source.user_location()
        assert record is None or source.resolve(record)[0] != __file__
    finally:
        source._files.discard(__file__)
        source._is_internal.clear()
    assert source.resolve(source.user_frames(1)[-1])[0] == __file__


def test_function_location():
    def f():
        pass

    assert source.function_location(f) == f"f at {__file__}:{f.__code__.co_firstlineno}"
    assert source.function_location(len) == "len"


MODES = ["off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"]


@pytest.mark.parametrize("mode", MODES)
def test_tracebacks(mode, monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)
    guarded = source.api_boundary(parse_dims)
    with traceback_filtering(mode), pytest.raises(ValueError) as caught:
        guarded("a +")
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    hidden = [f.f_locals.get("__tracebackhide__", False) for f in frames if source.is_internal(f.f_code.co_filename)]
    assert frames[0].f_code.co_filename == __file__
    assert bool(hidden) is (mode in ("off", "tracebackhide"))
    assert all(hidden) is (mode != "off")
    notes = getattr(caught.value, "__notes__", [])
    assert [note.splitlines()[1][:14] for note in notes] == ["For simplicity"] * (mode in MODES[3:])
    cause = caught.value.__cause__
    assert isinstance(cause, source.UnfilteredStackTrace) is (mode == "remove_frames")
    if mode == "remove_frames":
        assert any(source.is_internal(f.filename) for f in traceback.extract_tb(cause.__traceback__))


def test_one_note_for_several_boundaries():
    with traceback_filtering("quiet_remove_frames"), pytest.raises(TypeError) as caught:
        jax.jit(lambda x: jax.vmap(bad)(x))(jnp.ones((2, 4)))
    assert len(caught.value.__notes__) == 1


def test_no_note_where_no_frame_was_left_out():
    def fail():
        raise KeyError("mine")

    with traceback_filtering("quiet_remove_frames"), pytest.raises(KeyError) as caught:
        source.api_boundary(fail)()
    assert not hasattr(caught.value, "__notes__")


def test_the_cause_of_an_error_is_kept():
    def fail():
        try:
            parse_dims("a +")
        except ValueError as error:
            raise KeyError("mine") from error

    with traceback_filtering("remove_frames"), pytest.raises(KeyError) as caught:
        source.api_boundary(source.call_user_rule)(fail)
    whole = caught.value.__cause__
    assert isinstance(whole, source.UnfilteredStackTrace) and isinstance(whole.__cause__, ValueError)


def bad(x):
    return x.reshape(5)


TRANSFORMED = {
    "jit": lambda: jax.jit(bad)(jnp.ones(4)),
    "grad": lambda: jax.grad(lambda x: bad(x).sum())(jnp.ones(4)),
    "vmap": lambda: jax.vmap(bad)(jnp.ones((2, 4))),
    "jvp": lambda: jax.jvp(bad, (jnp.ones(4),), (jnp.ones(4),)),
    "vjp": lambda: jax.vjp(bad, jnp.ones(4)),
    "linearize": lambda: jax.linearize(bad, jnp.ones(4)),
    "make_jaxpr": lambda: jax.make_jaxpr(bad)(jnp.ones(4)),
    "eval_shape": lambda: jax.eval_shape(bad, jnp.ones(4)),
    "scan": lambda: lax.scan(lambda c, _: (bad(c), None), jnp.ones(4), None, length=2),
    "while_loop": lambda: lax.while_loop(lambda c: True, bad, jnp.ones(4)),
    "fori_loop": lambda: lax.fori_loop(0, 2, lambda i, c: bad(c), jnp.ones(4)),
    "cond": lambda: lax.cond(True, bad, bad, jnp.ones(4)),
    "checkpoint": lambda: jax.checkpoint(bad)(jnp.ones(4)),
}


@pytest.mark.parametrize("call", TRANSFORMED.values(), ids=TRANSFORMED.keys())
def test_only_users_frames_on_the_way_in(call):
    with traceback_filtering("remove_frames"), pytest.raises(TypeError) as caught:
        call()
    names = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    names = [name for name in names if "_native/call.pyx" not in name]  # the frame of the compiled `__call__` itself
    last = len(names) - names[::-1].index(__file__)
    assert set(names[:last]) == {__file__}


def test_a_derived_program_keeps_its_lines():
    @jax.jit
    def f(x):
        y = jnp.log(x)
        return y * 3

    lines = {f.__wrapped__.__code__.co_firstlineno + i for i in (2, 3)}
    jaxpr = jax.make_jaxpr(jax.grad(f))(2.0)

    def places(jaxpr):
        for eqn in jaxpr.eqns:
            if "jaxpr" in eqn.params:
                yield from places(eqn.params["jaxpr"])
            elif eqn.source_info is not None:
                yield source.resolve(eqn.source_info)[1], source.phase_prefix(eqn.source_info)

    found = list(places(jaxpr))
    assert {line for line, _ in found} == lines
    assert {phase for _, phase in found} == {"", "the backward pass of "}


def test_library_functions_have_the_lines_of_their_calls():
    model = jax.jit(lambda x: jnp.var(x)).trace(jnp.ones(3)).jaxpr
    inner = next(e.params["jaxpr"] for e in model.eqns if "jaxpr" in e.params)
    assert not any(eqn.source_info for eqn in inner.eqns)


def test_a_users_rule_has_lines_of_its_own():
    @jax.custom_vjp
    def f(x):
        return x * 2

    def bwd(_, ct):
        return (jnp.sinh(ct),)

    f.defvjp(lambda x: (x * 2, None), bwd)
    for program in (jax.grad(f), jax.grad(jax.jit(f))):
        jaxpr = jax.make_jaxpr(program)(1.0)
        texts = str(jaxpr.pretty_print(source_info=True)).splitlines()
        line = next(text for text in texts if "sinh" in text)
        assert f"{__file__}:{bwd.__code__.co_firstlineno + 1}:" in line


FAULTS = {
    "shape": (lambda: jnp.concatenate([jnp.ones(2), jnp.ones((2, 2))]), TypeError),
    "nan": (lambda: jnp.var(jnp.array([])), FloatingPointError),
}


@pytest.mark.parametrize("call, kind", FAULTS.values(), ids=FAULTS.keys())
def test_library_functions_show_no_frames_of_their_own(call, kind):
    with jax.debug_nans(True), traceback_filtering("remove_frames"), pytest.raises(kind) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {f.filename for f in frames} == {__file__}


def test_portable_paths_have_no_folders_of_the_machine(tmp_path, monkeypatch):
    package = tmp_path / "lib" / "net" / "blocks"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    monkeypatch.setattr("sys.path", [str(tmp_path / "scripts")])
    monkeypatch.chdir(tmp_path / "lib")
    assert source.portable_path(str(package / "attention.py")) == "net/blocks/attention.py"
    assert source.portable_path(str(tmp_path / "scripts" / "demo" / "train.py")) == "demo/train.py"
    assert source.portable_path(str(tmp_path / "lib" / "notes" / "a.py")) == "notes/a.py"
    assert source.portable_path(str(tmp_path / "elsewhere" / "b.py")) == "b.py"
    detour = tmp_path / "elsewhere" / ".." / "elsewhere" / "b.py"
    assert source.portable_path(str(detour)) == "b.py"
    assert source.portable_path("<stdin>") == "<stdin>"
