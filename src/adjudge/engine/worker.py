"""The worker process: reads cases, evaluates conditions, runs judges in code, renders prompts.

Run as `python -m adjudge.engine.worker`. Frames come on standard input and leave on a private copy of standard
output; the judges themselves see neither. The process ends when its input does, even in the middle of a judge.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import queue
import signal
import sys
import threading
from collections.abc import Collection
from typing import Any

import msgspec

from adjudge._version import __version__
from adjudge.cases import OF_TRAJECTORY, case_record
from adjudge.domain import (
    BuiltinJudge,
    Case,
    CheckJudge,
    CriterionJudge,
    DecisionJudge,
    Discovered,
    ErrorKind,
    Failure,
    Judge,
    LLMJudge,
    MissingExtraError,
    PairwiseJudge,
    Problem,
    ScriptJudge,
)
from adjudge.engine.protocol import FrameReader, Item, Job, Loaded, Setup, frame, job_decoder, setup_decoder
from adjudge.engine.spawn import WORKER_FOLDER, remove_folder
from adjudge.judges import MAX_PRINTED, Asking, LocalRunner, NothingToJudgeError, Outcome, asking, cap, describe
from adjudge.judges.looks import keys_used
from adjudge.prompts import DocumentReader, PromptError, TrajectoryError

MAX_PRINTED_BYTES = 16 * 1024 * 1024
MEMORY_BYTES = int(os.environ.get("ADJUDGE_WORKER_MEMORY_MB", "8192")) * 1024 * 1024


_READER = f"adjudge {__version__}, Python {sys.version}".encode()


class _TooMuchOutput(BaseException):
    """Not an Exception, so that a judge's `except Exception` does not swallow it."""


class _Capture(io.TextIOBase):
    """Collects what a judge prints, up to a limit."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.kept = 0
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.size += len(text)
        if self.kept < MAX_PRINTED:
            self.parts.append(text[: MAX_PRINTED - self.kept])
            self.kept += len(self.parts[-1])
        if self.size > MAX_PRINTED_BYTES:
            raise _TooMuchOutput
        return len(text)

    def text(self) -> str:
        kept = cap("".join(self.parts), MAX_PRINTED)
        return kept if self.size <= self.kept else f"{kept}\n[... cut: {self.size - self.kept} characters more]"


class _Worker:
    def __init__(self, setup: Setup, out: int) -> None:
        self.setup = setup
        self.out = out
        self.runners: dict[int, LocalRunner | Outcome] = {}
        self.light = frozenset(index for index, judge in enumerate(setup.judges) if _is_light(judge))
        self.pid = os.getpid()

    def send(self, message: Loaded | Item) -> None:
        _write(self.out, message)

    def job(self, job: Job) -> None:
        light = self.light.issuperset(job.judges)
        read = self.read(job, trajectory=not light)
        without: Failure | None = None
        if isinstance(read, Failure) and not light and not self.light.isdisjoint(job.judges):
            without = read  # of the trajectory, which not all of them look at
            read = self.read(job, trajectory=False)
        if isinstance(read, Failure):
            self.send(Loaded(without or read))
            return
        case, record, data, rest = read
        self.send(Loaded(notes=case.notes))
        for index in job.judges:
            if not isinstance(self.setup.judges[index], LLMJudge | DecisionJudge):
                self.runner(
                    index, self.setup.judges[index]
                )  # all before the first, so that keys do not depend on order
        digest, of_rest = hashlib.sha256(data).digest(), hashlib.sha256(rest).digest()
        reader = DocumentReader(record["case_dir"] or os.getcwd())  # noqa: PTH109
        for index in job.judges:
            judge = self.setup.judges[index]
            seen = (rest, of_rest) if index in self.light else (data, digest)
            if without is not None and index not in self.light:
                self.send(Item(index, outcome=Outcome(failure=without)))
                continue
            if judge.step:
                try:
                    own = msgspec.msgpack.encode(case_record(case, judge.step))
                except LookupError as error:
                    self.send(Item(index, outcome=Outcome(failure=Failure(ErrorKind.INPUT, str(error.args[0])))))
                    continue
                seen = (own, hashlib.sha256(own).digest())
            item = self.item(index, *seen, job, reader)
            if os.getpid() != self.pid:
                os._exit(0)  # a judge forked and let its child return
            self.send(item)

    def read(self, job: Job, *, trajectory: bool) -> tuple[Case, dict[str, Any], bytes, bytes] | Failure:
        """The case and its record; encoded as a whole, and as judges see it that do not look at a trajectory."""
        try:
            case = job.case.load(trajectory=trajectory)
            record = case_record(case)
            rest = _encoded(record, without=OF_TRAJECTORY) if not self.light.isdisjoint(job.judges) else b""
            return case, record, _encoded(record) if trajectory else rest, rest
        except Exception as error:
            return Failure(ErrorKind.INPUT, cap(f"{type(error).__name__}: {error}", 2000))

    def item(self, index: int, data: bytes, digest: bytes, job: Job, reader: DocumentReader) -> Item:
        judge = self.setup.judges[index]
        if judge.condition is not None:
            holds = _condition(judge.condition, msgspec.msgpack.decode(data))
            if isinstance(holds, Failure):
                return Item(index, outcome=Outcome(failure=holds))
            if not holds:
                return Item(index, skipped=True)
        if isinstance(judge, LLMJudge | DecisionJudge):
            try:
                return Item(index, asking=self.asking(judge, msgspec.msgpack.decode(data), job, reader))
            except (PromptError, MissingExtraError) as error:
                return Item(index, outcome=Outcome(failure=Failure(ErrorKind.CONFIG, str(error))))
            except (NothingToJudgeError, TrajectoryError, OSError) as error:
                return Item(index, outcome=Outcome(failure=Failure(ErrorKind.INPUT, str(error))))
        return self.local(index, judge, data, digest, job.known.get(index))

    def asking(
        self, judge: LLMJudge | DecisionJudge, record: dict[str, Any], job: Job, reader: DocumentReader
    ) -> Asking:
        """What the judge's model is asked; a pairwise judge's also of what the baseline made."""
        if not isinstance(judge, PairwiseJudge):
            return asking(judge, record, reader)
        from adjudge.judges.pairwise import pairwise_asking

        try:
            other = case_record(job.baseline.load()) if job.baseline is not None else None
        except ValueError as error:
            raise NothingToJudgeError(str(error)) from None
        return pairwise_asking(judge, record, other, reader)

    def local(self, index: int, judge: Judge, data: bytes, digest: bytes, known: str | None) -> Item:
        runner = self.runner(index, judge)
        if isinstance(runner, Outcome):
            return Item(index, outcome=runner)
        if isinstance(judge, CriterionJudge):  # it reads the workspace itself, which is in no key
            return Item(index, outcome=_captured(lambda: runner.run(msgspec.msgpack.decode(data))))
        spec = msgspec.structs.replace(judge, location="", description="", timeout_s=0.0)
        stable = digest + msgspec.msgpack.encode(spec) + _READER
        if known == hashlib.sha256(stable + runner.fingerprint()).hexdigest():
            return Item(index, known, reused=True)
        outcome = _captured(lambda: runner.run(msgspec.msgpack.decode(data)))
        key = hashlib.sha256(stable + runner.fingerprint()).hexdigest()  # with what it imported on the way
        return Item(index, key, outcome=outcome)

    def runner(self, index: int, judge: Judge) -> LocalRunner | Outcome:
        """The judge, imported once; or the outcome that every case gets because it cannot be."""
        if index not in self.runners:
            assert not isinstance(judge, LLMJudge | DecisionJudge | ScriptJudge)
            try:
                self.runners[index] = LocalRunner(judge, self.setup.code_paths)
            except MissingExtraError as error:
                self.runners[index] = Outcome(failure=Failure(ErrorKind.CONFIG, str(error)))
            except (Exception, SystemExit) as error:
                what = "builtin" if isinstance(judge, BuiltinJudge) else "judge"
                message = f"the {what} cannot be loaded: {describe(error)}"
                self.runners[index] = Outcome(failure=Failure(ErrorKind.CONFIG, message))
        return self.runners[index]


def _encoded(record: dict[str, Any], *, without: Collection[str] = ()) -> bytes:
    return msgspec.msgpack.encode({key: value for key, value in record.items() if key not in without})


def _is_light(judge: Judge) -> bool:
    """Whether a judge, and what it is asked under, does without what comes from the agent's trajectory."""
    if not isinstance(judge, CheckJudge) or judge.step:
        return False
    used = keys_used(judge.code)
    asked = keys_used(judge.condition, expression=True) if judge.condition is not None else frozenset()
    return used is not None and asked is not None and not (used | asked) & OF_TRAJECTORY


def _condition(expression: str, record: dict[str, Any]) -> bool | Failure:
    names = {"annotations": record["annotations"], "outputs": record, "__builtins__": __builtins__}
    try:
        return bool(eval(compile(expression, "<if>", "eval"), names))  # noqa: S307 - the suite's author wrote it
    except (Exception, SystemExit) as error:
        return Failure(ErrorKind.RAISED, cap(f"if: {type(error).__name__}: {error}", 4000))


def _captured(call: Any) -> Outcome:
    """Run a judge with its printing captured, and what would end the process turned into a failure."""
    capture = _Capture()
    home, environ = os.getcwd(), dict(os.environb)  # noqa: PTH109
    try:
        with contextlib.redirect_stdout(capture), contextlib.redirect_stderr(capture):
            outcome: Outcome = call()
    except _TooMuchOutput:
        outcome = Outcome(
            failure=Failure(ErrorKind.OUTPUT_LIMIT, f"it printed more than {MAX_PRINTED_BYTES} characters")
        )
    except SystemExit as error:
        outcome = Outcome(failure=Failure(ErrorKind.CRASHED, f"it called sys.exit({error.code!r})"))
    except BaseException as error:
        outcome = Outcome(failure=Failure(ErrorKind.RAISED, cap(f"{type(error).__name__}: {error}", 4000)))
    finally:
        os.chdir(home)  # what one judge changes here is not for the next to see
        if dict(os.environb) != environ:
            os.environb.clear()
            os.environb.update(environ)
    return msgspec.structs.replace(outcome, printed=capture.text()) if capture.size else outcome


def _write(out: int, message: Loaded | Item | Discovered) -> None:
    data = memoryview(frame(message))
    while data:
        data = data[os.write(out, data) :]


def _discovered(roots: tuple[str, ...]) -> Discovered:
    """What criteria files register; what they print while they are imported is nobody's business."""
    from adjudge.judges.criteria import discover

    with contextlib.redirect_stdout(_Capture()), contextlib.redirect_stderr(_Capture()):
        try:
            return discover(roots)
        except Exception as error:
            return Discovered(problems=(Problem(message=f"the tests cannot be read: {describe(error)}"),))


def _read_frames(source: int, frames: queue.SimpleQueue[bytes], folder: str) -> None:
    """Feed frames to the main thread; when the engine is gone, end this process and all that it started and left."""
    reader = FrameReader()
    with contextlib.suppress(Exception):
        while data := os.read(source, 1 << 20):
            for body in reader.feed(data):
                frames.put(body)
    remove_folder(folder)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    source, out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for the life of the process
    sys.dont_write_bytecode = True  # compiled files know the second, and a judge may be edited twice in one
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    folder = os.environ.pop(WORKER_FOLDER, "")
    threading.Thread(target=_read_frames, args=(source, frames, folder), daemon=True).start()
    _limit_memory()
    while not isinstance(setup := setup_decoder.decode(frames.get()), Setup):
        _write(out, _discovered(setup.roots))
    worker = _Worker(setup, out)
    while True:
        worker.job(job_decoder.decode(frames.get()))


if __name__ == "__main__":
    main()
