"""The folder of the persistent cache."""

import pytest

import onax as jax
from onax.experimental.compilation_cache import compilation_cache


def test_folder(tmp_path):
    before = jax.config.jax_compilation_cache_dir
    try:
        compilation_cache.set_cache_dir(str(tmp_path))
        assert jax.config.jax_compilation_cache_dir == str(tmp_path)
        compilation_cache.reset_cache()
        assert jax.config.jax_compilation_cache_dir == str(tmp_path)
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


@pytest.mark.parametrize(("enabled", "event"), [(False, "task_disabled_cache"), (True, "tasks_using_cache")])
def test_the_first_program_tells_whether_the_cache_is_on(enabled, event):
    before = jax.config.jax_compilation_cache_dir
    events = []
    listener = lambda name, **_: events.append(name)
    jax.monitoring.register_event_listener(listener)
    jax.config.update("jax_enable_compilation_cache", enabled)
    try:
        compilation_cache.reset_cache()
        for k in range(2):
            jax.jit(lambda x, k=k: x + k)(1)
    finally:
        jax.config.update("jax_enable_compilation_cache", True)
        jax.config.update("jax_compilation_cache_dir", before)
        jax.monitoring.unregister_event_listener(listener)
    assert events == [f"/jax/compilation_cache/{event}"]
