"""The words of a change feed: the columns beside those of the relation, and what a row is."""

from __future__ import annotations

from typing import Final

CHANGE_TYPE: Final = "_change_type"
COMMIT_VERSION: Final = "_commit_version"
INSERT: Final = "insert"
DELETE: Final = "delete"
PREIMAGE: Final = "update_preimage"
POSTIMAGE: Final = "update_postimage"
INSERTS: Final = (INSERT, POSTIMAGE)
DELETES: Final = (DELETE, PREIMAGE)
