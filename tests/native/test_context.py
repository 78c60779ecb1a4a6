"""The state of a thread: current trace, option word, default device, NumPy's silence."""

import threading
import warnings

import numpy as np
import pytest

from onax._native import context


def in_thread(function):
    """The function's result, computed in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize(
    "get, swap",
    [(context.get_trace, context.swap_trace), (context.get_default_device, context.swap_default_device)],
    ids=["trace", "device"],
)
def test_swapping_gives_the_previous_one_and_stays_in_its_thread(get, swap):
    one, two = object(), object()
    before = swap(one)
    try:
        assert get() is one
        assert swap(two) is one
        assert get() is two
        assert in_thread(get) is not two
    finally:
        swap(before)
    assert get() is before


def test_option_word_is_the_global_word_where_the_thread_overrides_nothing():
    before = context.option_word()
    mask, value = context.swap_thread_word(0, 0)
    word = context.option_word()
    try:
        context.set_global_word(0b1100)
        assert context.option_word() == 0b1100
        assert context.swap_thread_word(0b0110, 0b0010) == (0, 0)
        assert context.option_word() == 0b1010
        assert in_thread(context.option_word) == 0b1100
        assert context.swap_thread_word(0, 0) == (0b0110, 0b0010)
    finally:
        context.set_global_word(word)
        context.swap_thread_word(mask, value)
    assert context.option_word() == before


def test_x64_is_bit_zero():
    assert context.X64_BIT == 1


def test_quiet_silences_numpy_in_this_thread_and_only_inside():
    zero = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with context.numpy_warnings_off():
            with context.numpy_warnings_off():  # nests
                assert np.isnan(zero / zero)[0]
            assert np.isnan(zero / zero)[0]
        with pytest.raises(RuntimeWarning):
            zero / zero


def test_quiet_leaves_the_users_error_state_alone():
    with np.errstate(divide="raise"):
        with context.numpy_warnings_off():
            np.ones(1) / np.zeros(1)
        with pytest.raises(FloatingPointError):
            np.ones(1) / np.zeros(1)


def test_many_threads_may_be_quiet_at_once():
    barrier = threading.Barrier(24)

    def wait_inside():
        with context.numpy_warnings_off():
            barrier.wait(timeout=10)

    threads = [threading.Thread(target=wait_inside) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not barrier.broken
