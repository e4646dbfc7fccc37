"""Words of questions kept under a name, and of starting over."""

from __future__ import annotations

from roofline.language import later

RESET = later("Start over")
RESET_HELP = later(
    "Sets every control back to how the page first opens. Back in the browser undoes it, as it undoes every change."
)
SAVED = later("Saved")
SAVED_WORDS = {
    "label": later("Keep this question as"),
    "save": later("Keep"),
    "open": later("Open {name}"),
    "remove": later("Remove {name}"),
    "removed": later("{name} is removed."),
    "kept": later("{name} is kept in this browser."),
    "export": later("Save as file"),
    "import": later("Read a file"),
    "loaded": later("{n} questions read."),
    "full": later("There is room for {most} names: remove one first."),
    "name_wrong": later("Give a name of 1 to {most} characters."),
    "too_long": later("This question is too long to keep."),
    "no_store": later("This browser keeps nothing for this page: save the link instead."),
    "bad_file": later("This is no file of saved questions: it must hold names with their links, in under 200 kB."),
}
