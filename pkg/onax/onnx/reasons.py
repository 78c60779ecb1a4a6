"""Why operators of ONNX cannot be evaluated, for messages and the documentation."""

_SEQUENCES = "onax has no sequences of arrays"
_STRINGS = "onax has no arrays of strings"

REASONS = {
    "": {
        **dict.fromkeys(
            "SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap "
            "SplitToSequence ConcatFromSequence".split(),
            _SEQUENCES,
        ),
        **dict.fromkeys("StringConcat StringNormalizer StringSplit RegexFullMatch TfIdfVectorizer".split(), _STRINGS),
        "ImageDecoder": "onax does not decode pictures",
    },
}
_DOMAINS = {
    "ai.onnx.ml": "onax has no operators of classical machine learning (ai.onnx.ml)",
    "ai.onnx.preview.training": "gradients and optimizers come from onax itself: onax.grad",
    "ai.onnx.training": "gradients and optimizers come from onax itself: onax.grad",
}


def reason_against(domain, op_type):
    """Why an operator cannot be evaluated."""
    known = REASONS.get(domain, {}).get(op_type) or _DOMAINS.get(domain)
    name = f"{domain or 'ai.onnx'}.{op_type}"
    advice = f"onax.onnx.register({domain!r}, {op_type!r}) adds an operator"
    return f"{known}; {advice}" if known else f"onax does not know the operator {name}; {advice}"
