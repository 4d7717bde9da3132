"""Where a case comes from, and the record that judges see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.cases.dataset import CaseFolder, DatasetFolder, read_dataset
from adjudge.cases.events import Trajectory, conversation, read_case_events, reasoning, tool_calls, tool_trace
from adjudge.cases.evidence import evidence
from adjudge.cases.record import case_record, inputs_text
from adjudge.cases.reviews import Harvest, harvest
from adjudge.cases.runs import RunRecord, read_run

if TYPE_CHECKING:
    from adjudge.cases.streams import Stream


def events_of(text: str) -> Stream:
    """What an agent's output says, when it is a stream of events; see `cases.streams`, which knows of all agents and is
    imported when it is wanted."""
    from adjudge.cases import streams

    return streams.events_of(text)


__all__ = [
    "CaseFolder",
    "DatasetFolder",
    "Harvest",
    "RunRecord",
    "Trajectory",
    "case_record",
    "conversation",
    "events_of",
    "evidence",
    "harvest",
    "inputs_text",
    "read_case_events",
    "read_dataset",
    "read_run",
    "reasoning",
    "tool_calls",
    "tool_trace",
]
