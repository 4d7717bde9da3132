"""Where agents work: staged copies, views that cannot be changed, no network but the way to the model."""

from adjudge.sandbox.checkout import STORE, Checkout, commit_of, export_tree, make_checkout, mirror_of
from adjudge.sandbox.confinement import Kind, View, confined, probe, strongest, why_none
from adjudge.sandbox.copies import copy_folder
from adjudge.sandbox.git import CACHES, GitError, Shadow, elsewhere, git
from adjudge.sandbox.relay import Relay
from adjudge.sandbox.staging import CONTEXT, OUTPUT, Staged, StagingError, stage

__all__ = [
    "CACHES",
    "CONTEXT",
    "OUTPUT",
    "STORE",
    "Checkout",
    "GitError",
    "Kind",
    "Relay",
    "Shadow",
    "Staged",
    "StagingError",
    "View",
    "commit_of",
    "confined",
    "copy_folder",
    "elsewhere",
    "export_tree",
    "git",
    "make_checkout",
    "mirror_of",
    "probe",
    "stage",
    "strongest",
    "why_none",
]
