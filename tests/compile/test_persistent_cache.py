"""The persistent compilation cache: what later processes find, what is refused, and what is not kept."""

import subprocess
import sys

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile import persistent_cache
from onax._ground import monitoring
from onax._native import tape

X = np.linspace(0.1, 1, 6, dtype=np.float32)
LARGE = np.arange(3000, dtype=np.float32)

SCRIPT = """
import sys
import numpy as np
import onax as jax, onax.numpy as jnp
events = []
jax.monitoring.register_event_listener(lambda name, **_: "/cache_" in name and events.append(name.rsplit("/", 1)[1]))
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
step = lambda c, x: (jnp.tanh(c * x), c)
f = jax.jit(lambda x, key: (jax.lax.scan(step, x[0], x), jnp.sort(x)[::-1], jax.random.bits(key, (2,))))
print(events, np.asarray(f(np.linspace(0.1, 1, 6, dtype=np.float32), jax.random.key(3))[0][0]).tobytes().hex(), events)
"""


@pytest.fixture
def cache(tmp_path):
    """The folder of the cache, and the events that were recorded."""
    events = []
    listener = lambda name, **_: "/cache_" in name and events.append(name.rsplit("/", 1)[1])
    monitoring.register_event_listener(listener)
    names = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    before = [getattr(jax.config, name) for name in names]
    for name, value in zip(names, (str(tmp_path / "programs"), 0.0)):
        jax.config.update(name, value)
    yield tmp_path / "programs", events
    for name, value in zip(names, before):
        jax.config.update(name, value)
    monitoring.unregister_event_listener(listener)


def call(function, *args):
    """What a function that is compiled anew gives, flat."""
    return [x._value for x in jax.tree.leaves(jax.jit(lambda *a: function(*a))(*args))]


def test_another_process_finds_the_program(tmp_path):
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    first, second = [run.stdout.split() for run in runs]
    assert first[1] == second[1]
    assert first[2:] == ["['cache_misses']"] and second[2:] == ["['cache_hits']"]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "function, args",
    [
        (lambda x: jnp.sin(x) * 2 + X, (X,)),
        (lambda x: x[:3000] + LARGE, (LARGE,)),
        (lambda x: lax.fori_loop(0, 4, lambda i, c: c * 2 + i, x), (X,)),
        (lambda k: jax.random.split(k), (jax.random.key(0),)),
        (lambda x: x.astype(jnp.bfloat16) * 3, (X,)),
        (lambda x: (x * 1j, x > 0.5), (X,)),
    ],
)
def test_what_is_found_computes_the_same(cache, function, args):
    folder, events = cache
    wanted = call(function, *args)
    assert [len(list(folder.iterdir())), events] == [1, ["cache_misses"]]
    for got, want in zip(call(function, *args), wanted, strict=True):
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
    assert events == ["cache_misses", "cache_hits"]


def test_programs_are_told_apart(cache):
    folder, events = cache
    for k in (0.0, -0.0, 2.0):
        assert call(lambda x, k=k: x * k, X)[0].tobytes() == (X * np.float32(k)).tobytes()
    call(lambda x: x * 0.0, X[:2])
    call(lambda x: x + LARGE[0] + np.zeros(6, np.float32), X)
    call(lambda x: x[0] + LARGE, X)
    call(lambda x: x[0] + (LARGE + 1), X)
    assert events == ["cache_misses"] * 7 and len(list(folder.iterdir())) == 7


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "format", "words"])
def test_a_damaged_file_is_replaced(cache, damage):
    folder, events = cache
    function = lambda x: jnp.cos(x) + 1
    wanted = call(function, X)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    data = bytearray(good)
    if damage == "bit":
        data[len(data) // 2] ^= 1
    elif damage == "format":
        data[0] ^= 1
    elif damage == "words":  # a whole file whose words are no tape
        made = persistent_cache._read(path)
        content = persistent_cache._encoded(made)
        content = content.replace(np.int64(tape.MAGIC).tobytes(), np.int64(1).tobytes(), 1)
        data = persistent_cache._FORMAT + persistent_cache.hashlib.sha256(content).digest() + content
    path.write_bytes({"cut": data[: len(data) // 2], "empty": b""}.get(damage, data))
    np.testing.assert_array_equal(call(function, X), wanted)
    assert events == ["cache_misses", "cache_misses"] and path.read_bytes() == good


@pytest.mark.parametrize("other", ["cpu_level", "_FORMAT"])
def test_other_versions_and_cpus_have_files_of_their_own(cache, monkeypatch, other):
    folder, events = cache
    call(jnp.sin, X)
    monkeypatch.setattr(persistent_cache, other, (lambda: 0) if other == "cpu_level" else b"onax program 2\n")
    call(jnp.sin, X)
    assert events == ["cache_misses", "cache_misses"] and len(list(folder.iterdir())) == 2


def test_what_is_not_kept(cache):
    folder, _ = cache
    host = lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    assert np.allclose(call(host, X)[0], np.sin(X))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1000.0)
    call(lambda x: x * 5, X)
    assert not folder.exists()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        call(lambda x: x * 6, X)
    finally:
        jax.config.update("jax_enable_compilation_cache", True)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_a_warning(cache, tmp_path):
    (tmp_path / "programs").write_text("a file")
    with pytest.warns(UserWarning, match="could not be kept"):
        np.testing.assert_array_equal(call(lambda x: x - 1, X)[0], X - 1)


def test_programs_whose_parameters_have_names_are_found(cache):
    """The programs of a linear solve lie in a named tuple."""
    folder, events = cache
    solve = lambda x: jnp.linalg.solve(x @ x.T + 2 * jnp.eye(6), x)
    x = np.arange(36, dtype=np.float32).reshape(6, 6) / 36
    first, second = call(solve, x), call(lambda x: solve(x), x)
    assert np.array_equal(first, second) and list(folder.iterdir()) and "cache_hits" in events
