"""Run a command and measure its time and memory: ``python measure.py COMMAND...`` prints JSON.

This needs a separate, small process: the kernel counts the memory of the parent as the program's
own until the program has more.
"""

import json
import os
import sys
import time


def main() -> int:
    begin = time.perf_counter()
    process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
    _, status, usage = os.wait4(process, 0)
    print(
        json.dumps(
            {
                "wall": time.perf_counter() - begin,
                "cpu": usage.ru_utime + usage.ru_stime,
                "memory": usage.ru_maxrss / 1024,
            }
        ),
        file=sys.stderr,
    )
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
