"""Where a case comes from, and the record that judges see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.cases.dataset import CaseFolder, DatasetFolder, read_dataset
from adjudge.cases.events import Trajectory, conversation, read_case_events, reasoning, tool_calls, tool_trace
from adjudge.cases.evidence import evidence
from adjudge.cases.record import OF_TRAJECTORY, case_record, inputs_text
from adjudge.cases.reviews import Harvest, harvest
from adjudge.cases.runs import RunRecord, read_run
from adjudge.cases.traces import PATCH, TRACE, TraceLimits, last_words, read_trace, shown_trace, tools_of

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.cases.sessions import Session
    from adjudge.cases.streams import Stream


def events_of(text: str) -> Stream:
    """What an agent's output says, when it is a stream of events; see `cases.streams`, which knows of all agents and is
    imported when it is wanted."""
    from adjudge.cases import streams

    return streams.events_of(text)


def read_session(path: Path) -> Session:
    """What the log of an agent's session says; see `cases.sessions`.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger than may be read, or nothing in it is an event.
    """
    from adjudge.cases import sessions

    return sessions.read_session(path)


__all__ = [
    "OF_TRAJECTORY",
    "PATCH",
    "TRACE",
    "CaseFolder",
    "DatasetFolder",
    "Harvest",
    "RunRecord",
    "TraceLimits",
    "Trajectory",
    "case_record",
    "conversation",
    "events_of",
    "evidence",
    "harvest",
    "inputs_text",
    "last_words",
    "read_case_events",
    "read_dataset",
    "read_run",
    "read_session",
    "read_trace",
    "reasoning",
    "shown_trace",
    "tool_calls",
    "tool_trace",
    "tools_of",
]
