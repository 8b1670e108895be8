"""What holds for all tests."""

import contextlib
import signal

# A shell that starts a job in the background has it ignore Ctrl-C, and so would every process that
# tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)
