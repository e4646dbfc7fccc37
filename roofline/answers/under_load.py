"""The same plan under load: what waiting prompts do to the users already served."""

from __future__ import annotations

from roofline.answers.curves import shard_of
from roofline.answers.report import Report
from roofline.answers.resolve import resolve
from roofline.performance.interference import Interference, interference
from roofline.performance.offload import WHOLE
from roofline.performance.steps import Setting


def under_load(report: Report) -> Interference | None:
    """Steps of a loaded server whose prompts ride along, at the batch or request rate of a report.

    None where it does not fit, or where prompts have devices of their own.
    """
    if not report.memory.fits or report.prefill_plan is not None:
        return None
    found, asked = resolve(report.scenario.model_copy(update={"offload": report.offload})), report.scenario
    setting = Setting(found.structure, shard_of(report.plan, asked) if found.box is None else WHOLE, found.formats, found.machine)
    return interference(setting, float(report.batch), float(asked.input_tokens), float(asked.output_tokens), asked.request_rate)
