"""Primitives about the placement of arrays."""

from onax._core.trace import as_array
from onax._core.zeros import Zero, is_undefined_primal
from onax._native.dispatch import DATA_MOVEMENT, LINEAR, Primitive


class _ReuseInput:
    """How `device_put` treats its operand's memory: arrays are immutable, so it is always shared."""

    def __repr__(self):
        return "ArrayCopySemantics.REUSE_INPUT"


REUSE_INPUT = _ReuseInput()


def _place(x, device):
    x = as_array(x)
    return x if device is None else x._with(device=device, committed=True)


def _impl(*xs, devices, srcs, copy_semantics):
    return [_place(x, d) for x, d in zip(xs, devices)]


def _abstract_eval(*avals, **_):
    return list(avals)


def _jvp(primals, tangents, **params):
    outs = device_put_p.bind(*primals, **params)
    tangents_out = [
        t if type(t) is Zero else device_put_p.bind(t, devices=(d,), srcs=(s,), copy_semantics=(REUSE_INPUT,))[0]
        for t, d, s in zip(tangents, params["devices"], params["srcs"])
    ]
    return outs, tangents_out


def _transpose(cts, *operands, devices, srcs, copy_semantics):
    return [
        None
        if not is_undefined_primal(x)
        else Zero(x.aval)
        if type(ct) is Zero
        else device_put_p.bind(ct, devices=(s,), srcs=(d,), copy_semantics=(REUSE_INPUT,))[0]
        for ct, x, d, s in zip(cts, operands, devices, srcs)
    ]


def _batch(axis_data, operands, dims, **params):
    return device_put_p.bind(*operands, **params), dims


device_put_p = Primitive(
    "device_put",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    facts=frozenset({LINEAR, DATA_MOVEMENT}),
)
