"""Results of campaigns have a line for each cell."""

from __future__ import annotations

import json

import pytest

from tests.harness.by_line import by_line


@pytest.mark.parametrize(
    "cells", [{"q1 x": {"rows": [1, 2]}, "q2": {}}, [{"nature": "x"}, {"n": [1]}]]
)
def test_a_cell_is_a_line(cells: object) -> None:
    found = {"cells": cells, "seed": 6}
    text = by_line(found, "cells")
    assert json.loads(text) == found
    assert text.count("\n  ") == 2
