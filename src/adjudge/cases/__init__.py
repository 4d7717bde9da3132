"""Where a case comes from, and the record that judges see of it."""

from adjudge.cases.dataset import CaseFolder, DatasetFolder, read_dataset
from adjudge.cases.events import conversation, reasoning, tool_trace
from adjudge.cases.evidence import evidence
from adjudge.cases.record import case_record, inputs_text
from adjudge.cases.reviews import Harvest, harvest

__all__ = [
    "CaseFolder",
    "DatasetFolder",
    "Harvest",
    "case_record",
    "conversation",
    "evidence",
    "harvest",
    "inputs_text",
    "read_dataset",
    "reasoning",
    "tool_trace",
]
