"""Words around quick moves and the preview of a speed."""

from __future__ import annotations

from roofline.language import later

NAME = later("Single changes and their effects")
MORE = later("{n} more changes")
NONE_FITS = later("{n} changes that do not make it fit")
ANEW = later("The plan is chosen anew for each change.")
HELPS_MOST = later("helps most")
HELPS_ONE = later("helps one user most")
ASK = later("Which single change would help?")
ASK_HELP = later("Takes a second or two for a system as large as this.")

FEEL = later("Feel this speed")
FEEL_STOP = later("Stop")
FEEL_WAIT = later("Waiting for the first token: {first}.")
FEEL_RUN = later("{rate} tokens/s after a first token at {first}.")
FEEL_DONE = later("Done: {tokens} tokens in {whole}, the first after {first}, then {rate} tokens/s.")
FEEL_STOPPED = later("Stopped.")
FEEL_STILL = later(
    "Without motion: the first token comes after {first}, all {tokens} tokens of this text are there after {whole}."
)
FEEL_NAME = later("Text at the expected speed for one user")
FEEL_TEXT = later(
    "A language model writes one small piece of text at a time. For each piece it has to read all the weights it uses, and "
    "whatever it remembers of the conversation so far. When only one person is served, almost all of the time goes into that "
    "reading, and the arithmetic units wait. When many people are served at once, the same weights are read once for all, "
    "and every piece costs less. That is why a busy machine is cheap and an idle one is dear. The pause before the first word is "
    "another matter: there the whole question is read at once, the arithmetic units are full, and a longer question means a "
    "longer pause. What you see here is not a model at work. It is this text, shown piece by piece at the pace that is expected "
    "for one user of the machine you chose, after the pause that is expected before its first word. If it feels too slow to read "
    "along, try a smaller model, fewer bits, or a device that reads its memory faster."
)
