"""Requests that are not answered, and why."""

from __future__ import annotations

from collections.abc import Mapping


class Refused(Exception):
    """An answer that is an error.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        What was wrong, and what to do.
    headers : dict, optional
        Further headers of the answer.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
