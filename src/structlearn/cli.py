"""The command line: ``structlearn COMMAND``."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app", "main"]

app = typer.Typer(
    name="structlearn",
    help="Structured prediction: learn and predict tags, chunks, trees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Structured prediction: learn and predict tags, chunks, trees."""


@app.command()
def demo(
    sentences: Annotated[
        int, typer.Option(min=50, help="Size of the made treebank; a fifth of it is for testing.")
    ] = 1500,
    random_state: Annotated[
        int, typer.Option(min=0, help="Seed of the data and the learners.")
    ] = 0,
) -> None:
    """The tour on built-in data: four learners side by side, a trellis, loss augmentation."""
    from .demo import run

    run(sentences=sentences, random_state=random_state)


def main() -> None:
    """Run the command line."""
    app()
