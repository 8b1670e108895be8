"""All relations: importing this module registers those of every module of this folder."""

from __future__ import annotations

import importlib
import pkgutil

import fuzz.metamorphic

#: Module -> the optional package it needs that is not installed.
MISSING: dict[str, str] = {}

for _module in pkgutil.iter_modules(fuzz.metamorphic.__path__):
    if _module.name not in ("__main__", "catalogue"):
        try:
            importlib.import_module(f"fuzz.metamorphic.{_module.name}")
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "seqeval", "starlette"):
                raise
            MISSING[_module.name] = error.name
