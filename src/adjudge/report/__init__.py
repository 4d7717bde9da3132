"""What people and other tools read of a result."""

from adjudge.report.annotations import Annotation, gate_annotations, problem_annotations
from adjudge.report.files import append_step_summary, result_json, write_files
from adjudge.report.github import workflow_commands
from adjudge.report.gitlab import code_quality
from adjudge.report.html import html_report
from adjudge.report.markdown import summary_markdown
from adjudge.report.terminal import print_result

__all__ = [
    "Annotation",
    "append_step_summary",
    "code_quality",
    "gate_annotations",
    "html_report",
    "print_result",
    "problem_annotations",
    "result_json",
    "summary_markdown",
    "workflow_commands",
    "write_files",
]
