"""Where agents work: staged copies, views that cannot be changed, no network but the way to the model."""

from adjudge.sandbox.confinement import Kind, View, confined, probe, strongest, why_none
from adjudge.sandbox.copies import copy_folder
from adjudge.sandbox.relay import Relay
from adjudge.sandbox.staging import CONTEXT, OUTPUT, Staged, StagingError, stage

__all__ = [
    "CONTEXT",
    "OUTPUT",
    "Kind",
    "Relay",
    "Staged",
    "StagingError",
    "View",
    "confined",
    "copy_folder",
    "probe",
    "stage",
    "strongest",
    "why_none",
]
