"""Build for another processor or system, and run the tests here: ``make test-aarch64`` and its kin.

``python tools/elsewhere.py aarch64`` compiles the core for 64-bit ARM and runs its own tests under
qemu; then it builds the wheel of structlearn-core for Debian's ARM Python, installs it there beside
NumPy, SciPy and scikit-learn for ARM, and runs ``tests/elsewhere`` and the tests of models without
NumPy with it: models that are made here label there, and the same training has the same bits.

``windows`` compiles with MinGW and runs under Wine; ``musl`` compiles with Zig for Alpine's C
library. Both run the core's own tests, those of threads included. What is missing is installed by
apt-get and pip where that can be done, and named where not.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "elsewhere"
#: Programs that each target needs, and Debian's packages that have them.
PROGRAMS = {
    "aarch64": {"qemu-aarch64": "qemu-user", "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu"},
    "windows": {"wine": "wine64", "x86_64-w64-mingw32-g++-posix": "g++-mingw-w64-x86-64-posix"},
    "musl": {},
}
#: An ARM Python, its headers, and the libraries that it and our module load.
ARM_PACKAGES = (
    *("python3.11", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    *("libpython3.11-dev", "libc6", "libgcc-s1", "libstdc++6", "libssl3", "libexpat1", "zlib1g"),
    *("libffi8", "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1", "libcrypt1"),
)
ARM_WHEELS = (
    *("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "cloudpickle", "narwhals"),
    *("highspy", "rich", "scikit-image", "pillow", "imageio", "networkx", "tifffile"),
    *("lazy-loader", "packaging", "pytest", "iniconfig", "pluggy", "pygments", "hypothesis"),
    *("sortedcontainers", "safetensors"),
)


def main() -> int:
    """Return 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=list(PROGRAMS))
    target = parser.parse_args().target
    tools = str(Path(sys.executable).parent)  # CMake and Ninja
    os.environ["PATH"] = os.pathsep.join((tools, os.environ["PATH"]))
    install_programs(target)
    return {"aarch64": aarch64, "windows": windows, "musl": musl}[target]()


def aarch64() -> int:
    """The core's tests under qemu, then models in an ARM Python."""
    system = FOLDER / "aarch64-system"
    emulator = ["qemu-aarch64", "-L", str(system)]
    fetch_arm_system(system)
    options = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    options += ["-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++"]
    tests = build_tests("aarch64", options)
    code = run_tests([[*emulator, str(test)] for test in tests])
    if code:
        return code
    python = arm_python(system, emulator, options)
    say("models made here and there")
    environment = {**os.environ, "STRUCTLEARN_CORE_PYTHON": str(python)}
    environment["STRUCTLEARN_ELSEWHERE_PYTHON"] = str(python)
    tests = ["tests/elsewhere", "tests/test_without_numpy.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *map(str, tests)]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def windows() -> int:
    """The core's tests under Wine."""
    options = ["-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_SYSTEM_PROCESSOR=AMD64"]
    options += ["-DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++-posix"]
    options += ["-DCMAKE_EXE_LINKER_FLAGS=-static"]
    prefix = {"WINEPREFIX": str(FOLDER / "wine"), "WINEDEBUG": "-all"}
    return run_tests([["wine", f"{test}.exe"] for test in build_tests("windows", options)], prefix)


def musl() -> int:
    """The core's tests with Zig's compiler and musl, in one static program each."""
    try:
        import ziglang
    except ModuleNotFoundError:
        say("installing ziglang")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "ziglang"]
        subprocess.run(pip, check=True)
        return subprocess.run([sys.executable, *sys.argv], check=False).returncode
    FOLDER.mkdir(parents=True, exist_ok=True)
    zig = Path(ziglang.__file__).parent / "zig"
    compiler = FOLDER / "musl-c++"
    compiler.write_text(f'#!/bin/sh\nexec {zig} c++ -target x86_64-linux-musl "$@"\n')
    compiler.chmod(0o755)
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_EXE_LINKER_FLAGS=-static"]
    return run_tests([[str(test)] for test in build_tests("musl", options)])


def install_programs(target: str) -> None:
    """Install Debian's packages for a target, or say which are missing."""
    missing = [p for program, p in PROGRAMS[target].items() if shutil.which(program) is None]
    if not missing:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit(f"install these first (Debian's names): {' '.join(missing)}")
    say(f"installing {' '.join(missing)}")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
        logged(["apt-get", *command], f"{target}-packages")


def build_tests(target: str, options: list[str]) -> list[Path]:
    """Compile the core and its two test programs and return their paths."""
    folder = FOLDER / target
    say(f"building the native tests for {target} (some minutes the first time)")
    options = [*options, "-DSTRUCTLEARN_PYTHON=OFF", "-DSTRUCTLEARN_TESTS=ON"]
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *options]
    logged(configure, target)
    programs = ["core_test", "threads_test"]
    logged(["cmake", "--build", str(folder), "--parallel", "2", "--target", *programs], target)
    return [folder / program for program in programs]


def run_tests(commands: list[list[str]], variables: dict[str, str] | None = None) -> int:
    """Run test programs one after another; return the first exit code that is not 0."""
    for command in commands:
        say(f"running {Path(command[-1]).name}")
        code = subprocess.run(command, env={**os.environ, **(variables or {})}).returncode
        if code:
            return code
    return 0


def fetch_arm_system(system: Path) -> None:
    """Unpack Debian's ARM packages into a folder; nothing of this system is changed."""
    if (system / "usr/bin/python3.11").exists():
        return
    say("fetching Debian's Python for ARM")
    lists, packages = FOLDER / "apt-lists", FOLDER / "packages"
    for folder in (lists / "partial", packages):
        folder.mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-o", f"Dir::State::lists={lists}", "-o", "APT::Architectures::=arm64"]
    apt += ["-o", "APT::Sandbox::User=root"]
    logged([*apt, "update"], "arm-packages")
    logged([*apt, "download", *(f"{p}:arm64" for p in ARM_PACKAGES)], "arm-packages", packages)
    for package in sorted(packages.glob("*.deb")):
        logged(["dpkg", "-x", str(package), str(system)], "arm-packages")


def arm_python(system: Path, emulator: list[str], options: list[str]) -> Path:
    """Build the wheel of structlearn-core for ARM; return a Python that has it and NumPy."""
    site, include = FOLDER / "aarch64-site", system / "usr/include"
    suffix = ".cpython-311-aarch64-linux-gnu.so"
    arguments = [*options, f"-DPython_INCLUDE_DIR={include}/python3.11", f"-DNB_SUFFIX={suffix}"]
    arguments += [f"-DCMAKE_CXX_FLAGS=-isystem {include}"]
    environment = {
        **os.environ,
        "CMAKE_ARGS": shlex.join(arguments),
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "SETUPTOOLS_EXT_SUFFIX": suffix,
    }
    say("building the wheel of structlearn-core for ARM")
    wheels = FOLDER / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    command = [*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", str(wheels)]
    logged([*command, str(ROOT)], "arm-wheel", environment=environment)
    logged([*command, str(ROOT / "packaging/structlearn")], "arm-wheel")
    platforms = ("linux_aarch64", "manylinux_2_28_aarch64", "manylinux2014_aarch64")
    chosen = [f"--platform={p}" for p in platforms]
    chosen += ["--python-version=3.11", "--only-binary=:all:", f"--target={site}", "--upgrade"]
    ours = map(str, wheels.glob("*.whl"))
    logged([*pip, "install", "--no-deps", *chosen, *ours, *ARM_WHEELS], "arm-wheel")
    python = FOLDER / "arm-python"
    program = [*emulator, str(system / "usr/bin/python3.11")]
    python.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{site}" exec {" ".join(program)} "$@"\n')
    python.chmod(0o755)
    return python


def say(text: str) -> None:
    """Print a step."""
    print(f"==> {text}", flush=True)


def logged(
    command: list[str],
    log: str,
    cwd: Path = ROOT,
    environment: dict[str, str] | None = None,
) -> None:
    """Run a command with its output in a log, which is printed if it fails."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{log}.log"
    with path.open("a") as file:
        done = subprocess.run(command, cwd=cwd, stdout=file, stderr=file, env=environment)
    if done.returncode:
        print(path.read_text()[-8000:], file=sys.stderr)
        sys.exit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
