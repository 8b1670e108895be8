"""In-memory files for readers that need a path."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def _folder(pid: int) -> Path:
    """Return a private folder of this process, in memory if possible."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="fuzz", dir=memory))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def memory_folder() -> Path:
    """Return the folder of this process."""
    return _folder(os.getpid())


def memory_file(data: bytes, suffix: str = "") -> str:
    """Return the name of a file with this content; the next call overwrites it."""
    path = memory_folder() / f"input{suffix}"
    path.write_bytes(data)
    return str(path)
