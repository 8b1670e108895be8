"""``python -m structlearn`` is the command line."""

from .cli import main

main()
