"""A session that another thread has started is used, and not stopped."""

from __future__ import annotations

from typing import cast

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from slacktide.spark.sessions import lease


class Session:
    """A session that notes its end."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


@pytest.mark.parametrize(("context", "stopped"), [(object(), False), (None, True)])
def test_a_session_is_stopped_by_whoever_started_it(
    monkeypatch: pytest.MonkeyPatch, context: object, stopped: bool
) -> None:
    session = Session()
    monkeypatch.setattr(lease, "start_session", lambda *_, **__: session)
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    # Java knows an active session for each thread alone, and of this one none.
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with lease.leased_session("test") as given:
        assert cast("object", given) is session
    assert session.stopped is stopped
