"""Ending the processes of a session: all of them, even those that do not want to, and no other."""

from __future__ import annotations

import subprocess
import sys

import pytest

from slacktide.orchestration.processes import end_session, session_members
from slacktide.orchestration.standalone import free_ports

FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def family(monkeypatch):
    monkeypatch.setattr("slacktide.orchestration.processes._WAIT_SECONDS", 1.0)
    with subprocess.Popen(
        [sys.executable, "-c", FAMILY], start_new_session=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_a_whole_session_ends_and_another_goes_on(family):
    other = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
    )
    try:
        assert len(session_members(family.pid)) == 2
        end_session(family.pid)
        assert session_members(family.pid) == []
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_ending_what_has_ended_is_harmless(family):
    end_session(family.pid)
    end_session(family.pid)


def test_ports_are_different_and_free():
    with free_ports(5) as ports:
        assert len(set(ports)) == 5
