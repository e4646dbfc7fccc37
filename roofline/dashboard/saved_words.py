"""Words of questions kept under a name, and of starting over."""

from __future__ import annotations

RESET = "Start over"
RESET_HELP = "Sets every control back to how the page first opens. Back in the browser undoes it, as it undoes every change."
SAVED = "Saved"
SAVED_WORDS = {
    "label": "Keep this question as",
    "save": "Keep",
    "open": "Open {name}",
    "remove": "Remove {name}",
    "removed": "{name} is removed.",
    "kept": "{name} is kept in this browser.",
    "export": "Save as file",
    "import": "Read a file",
    "loaded": "{n} questions read.",
    "full": "There is room for {most} names: remove one first.",
    "name_wrong": "Give a name of 1 to {most} characters.",
    "too_long": "This question is too long to keep.",
    "no_store": "This browser keeps nothing for this page: save the link instead.",
    "bad_file": "This is no file of saved questions: it must hold names with their links, in under 200 kB.",
}
