"""Words around quick moves and the preview of a speed."""

from __future__ import annotations

NAME = "Single changes and their effects"
MORE = "{n} more changes"
HELPS_MOST = "helps most"
HELPS_ONE = "helps one user most"
ASK = "Which single change would help?"
ASK_HELP = "Takes a second or two for a system as large as this."

FEEL = "Feel this speed"
FEEL_STOP = "Stop"
FEEL_WAIT = "Waiting for the first token: {first}."
FEEL_RUN = "{rate} tokens/s after a first token at {first}."
FEEL_DONE = "Done: {tokens} tokens in {whole}, the first after {first}, then {rate} tokens/s."
FEEL_STOPPED = "Stopped."
FEEL_STILL = "Without motion: the first token comes after {first}, all {tokens} tokens of this text are there after {whole}."
FEEL_NAME = "Text at the expected speed for one user"
FEEL_TEXT = (
    "A language model writes one small piece of text at a time. For each piece it has to read all the weights it uses, and "
    "whatever it remembers of the conversation so far. When only one person is served, almost all of the time goes into that "
    "reading, and the arithmetic units wait. When many people are served at once, the same weights are read once for all, "
    "and every piece costs less. That is why a busy machine is cheap and an idle one is dear. The pause before the first word is "
    "another matter: there the whole question is read at once, the arithmetic units are full, and a longer question means a "
    "longer pause. What you see here is not a model at work. It is this text, shown piece by piece at the pace that is expected "
    "for one user of the machine you chose, after the pause that is expected before its first word. If it feels too slow to read "
    "along, try a smaller model, fewer bits, or a device that reads its memory faster."
)
