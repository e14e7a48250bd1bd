"""Where the files of pieces lie, and what their names say."""

from __future__ import annotations

import pytest

from slacktide.store.layout import (
    ATTEMPT,
    FOLDERS,
    attempt_of,
    chain_in,
    directory_of,
    is_below_attempt,
)

TRY = "0123456789abcdef" * 2


@pytest.mark.parametrize("chain", [*(f"{folder}/a_1" for folder in FOLDERS), "views/v@12"])
@pytest.mark.parametrize("piece", ["base", "segment", "merged", "refilled"])
def test_a_file_tells_its_chain_and_its_attempt(chain: str, piece: str) -> None:
    path = f"{directory_of(chain, TRY, piece)}/part-00000-c000.zstd.parquet"
    assert attempt_of(path) == TRY
    assert f"s3a://bucket/deep/below/{path}".split("/")[ATTEMPT] == TRY
    assert (
        chain_in(f"Encountered error while reading file s3a://bucket/w/{path}. SQLSTATE") == chain
    )
    assert is_below_attempt(path)


@pytest.mark.parametrize(
    "path", [f"views/v/{TRY}/base/x.parquet", f"landing/v/{TRY}/base/part-0", "views/v/part-0"]
)
def test_other_files_have_no_chain(path: str) -> None:
    assert chain_in(f"file:///w/{path}") is None


def test_what_lies_beside_attempts_is_not_theirs() -> None:
    assert not is_below_attempt("views/v/landed.parquet")
