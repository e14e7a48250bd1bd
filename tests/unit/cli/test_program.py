"""The program as a process: defects, closed pipes, interruption, and what it costs to start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from slacktide.cli import main as program_module
from slacktide.cli.main import app, run_command
from tests.unit.cli.conftest import HEEDING_INTERRUPTS, Program

MAIN = (sys.executable, "-m", "slacktide.cli.main")


@pytest.fixture(autouse=True)
def _heeds_hangups() -> Iterator[None]:
    """As in a terminal, whatever the tests were started by: below nohup the signal is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def defective(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command `break` with a defect, and the folder where tracebacks go."""
    broken = typer.Typer()

    @broken.command("break")
    def break_down(json: bool = False) -> None:
        raise ZeroDivisionError("by nothing")

    @broken.command("stop")
    def stop() -> None:
        raise KeyboardInterrupt

    @broken.command("end")
    def end(number: int, fail: bool = False) -> None:
        try:
            os.kill(os.getpid(), number)
        finally:
            if fail:
                raise ConnectionError("Java does not answer")

    monkeypatch.setattr(program_module, "app", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_defect_is_one_line_and_keeps_its_traceback(
    defective: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLACKTIDE_DEBUG", raising=False)
    assert run_command(["break"]) == 1
    out, err = capsys.readouterr()
    (log,) = defective.glob("slacktide-*.log")
    assert out == ""
    assert err == (
        f"error: ZeroDivisionError: by nothing (a defect of Slacktide; the traceback is in {log})\n"
    )
    assert "break_down" in log.read_text(encoding="utf-8")


def test_a_defect_shows_its_traceback_where_asked(
    defective: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACKTIDE_DEBUG", "1")
    assert run_command(["break"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert list(defective.glob("*.log")) == []


def test_interruption_is_one_line(defective: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stop"]) == 130
    assert capsys.readouterr().err.startswith("error: interrupted (")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_fails_after_a_signal_fails_because_of_it(
    defective: Path, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    for more in ([], ["--fail"]):
        assert run_command(["end", str(int(number)), *more]) == 128 + number
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"error: ended by {number.name} (")
    assert list(defective.glob("*.log")) == []
    assert signal.getsignal(number) is before


def test_signals_that_are_ignored_stay_so(defective: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run_command(["end", str(int(signal.SIGHUP))]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_closed_pipe_is_no_error(shop: Program) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        ran = subprocess.run(
            [*MAIN, "--workspace", str(shop.root), "status"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_while_a_query_is_typed(shop: Program, number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [*HEEDING_INTERRUPTS, "--workspace", str(shop.root), "view", "add", "v"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        wait_until_reading(process.pid)
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == code
    assert (out, err.count("\n")) == ("", 1)


def wait_until_reading(pid: int) -> None:
    """Wait until a process waits for its standard input, as the kernel tells it."""
    call = Path(f"/proc/{pid}/syscall")
    wchan = Path(f"/proc/{pid}/wchan")
    if not call.exists():
        pytest.skip("this kernel does not tell what a process waits for")
    while True:
        state = wchan.read_text(encoding="utf-8")
        if "pipe" in state:
            return


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from slacktide import __version__

    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def commands(typed: typer.Typer, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command of the program, as it is typed."""
    own = [(*prefix, str(command.name)) for command in typed.registered_commands]
    for group in typed.registered_groups:
        if group.typer_instance is not None:
            own += commands(group.typer_instance, (*prefix, str(group.name)))
    return own


@pytest.mark.parametrize("command", commands(app), ids=" ".join)
def test_helps_and_takes_json(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "--json" in text
    assert "Usage: slacktide" in text


@pytest.mark.parametrize("words", [(), ("view",)])
def test_without_a_command_the_help_is_shown(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(words) == 2
    told = capsys.readouterr()
    assert "error" not in told.err
    assert "Usage: slacktide" in told.out + told.err
    assert run_command([*words, "--json"]) == 2
    assert '"error"' in capsys.readouterr().out


def test_the_contract_is_there() -> None:
    found = {" ".join(command) for command in commands(app)}
    expected = {"init", "discover", "plan", "refresh", "read", "changes", "explain"}
    expected |= {"status", "history", "verify", "what-if", "calibrate", "gc", "demo", "bench"}
    expected |= {f"{kind} {verb}" for kind in ("source", "view", "function") for verb in VERBS}
    expected |= {f"source {verb}" for verb in SOURCE_VERBS}
    expected |= {"view replace", "view pause", "view resume"}
    assert found == expected


VERBS = ("add", "list", "drop")
SOURCE_VERBS = ("arrivals", "alter", "skip", "hold", "release", "complete", "reset")


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'pyspark', 'airflow', 'pyarrow', 'obstore', 'numpy', 'pandas'}"
    text = (
        "import sys; from slacktide.cli.main import run_command; run_command(['--help']);"
        f"print('loaded', sorted({heavy} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "loaded []"
