"""There is no pipeline of XLA."""

import pytest

from onax.extend import xla


def test_refusal():
    assert xla.PipelineStage.PRE_SCHEDULER is not xla.PipelineStage.POST_SCHEDULER
    assert xla.clear_hlo_module_transformation("name") is None
    with pytest.raises(NotImplementedError, match="no modules of XLA"):
        xla.register_hlo_module_transformation(print, name="name")
