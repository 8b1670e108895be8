"""A file for readers that want a path, without a disk."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def _folder(pid: int) -> Path:
    """Return a folder of this process alone, in memory where there is such a place."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="fuzz", dir=memory))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def memory_folder() -> Path:
    """Return the folder of this process."""
    return _folder(os.getpid())


def memory_file(data: bytes, suffix: str = "") -> str:
    """Return the name of a file with this content; the next call writes another content."""
    path = memory_folder() / f"input{suffix}"
    path.write_bytes(data)
    return str(path)
