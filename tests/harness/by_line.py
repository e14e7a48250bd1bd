"""Results of campaigns as texts in which each cell has a line, so that two of them can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def by_line(found: Mapping[str, Any], name: str) -> str:
    """JSON with a line for each item of one member, which stands last."""
    cells = found[name]
    if isinstance(cells, Mapping):
        opening, closing = "{}"
        lines = [f"  {json.dumps(key)}: {json.dumps(cell)}" for key, cell in cells.items()]
    else:
        opening, closing = "[]"
        lines = [f"  {json.dumps(cell)}" for cell in cells]
    rest = json.dumps({key: value for key, value in found.items() if key != name}, indent=1)
    head, listed = rest.removesuffix("\n}"), ",\n".join(lines)
    return f'{head},\n "{name}": {opening}\n{listed}\n {closing}\n}}\n'
