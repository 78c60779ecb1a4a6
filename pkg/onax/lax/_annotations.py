"""Types that the annotations of lax functions name."""

from collections.abc import Sequence

from onax._prims.conv_dimensions import ConvDimensionNumbers
from onax._prims.dot import DotAlgorithm, DotAlgorithmPreset, Precision

DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]
PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset
)
ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None
