"""Parameters with scikit-learn's conventions, for estimators that do without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Tell type checkers that annotated attributes are parameters of ``__init__``."""
        return lambda kind: kind


__all__ = ["DeclaredParameters", "Parameters", "parameter"]

#: Parameters that say how a model is made or used, not what it becomes; files do not hold them.
_PASSING = ("n_jobs", "verbose", "checkpoint", "callbacks", "functions")


class Parameters:
    """``get_params`` and ``set_params``; what a model file keeps of them."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        code = cls.__init__.__code__  # importing inspect takes longer than labelling a sentence
        return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn asks."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Any:
        """Change parameters."""
        known = self.get_params()
        kind = type(self).__name__
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{kind} has no parameter {name!r}; it has {sorted(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn asks: sentences of any length, labels beside them or within."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _plain(self) -> Any:
        """Return the same estimator with NumPy's numbers as Python's, which files can hold."""
        import copy

        plain = copy.copy(self)
        for name, value in self.get_params().items():
            if isinstance(value, dict):
                setattr(plain, name, {key: _item(one) for key, one in value.items()})
            else:
                setattr(plain, name, _item(value))
        return plain

    def _stored(self) -> dict[str, Any]:
        """Return the parameters that a model file keeps: plain values."""
        found = {}
        for name, value in self._plain().get_params().items():
            if name in _PASSING:
                continue
            if hasattr(value, "__fspath__"):
                value = value.__fspath__()
            if _is_plain(value):
                found[name] = value
        return found

    def _restore(self, training: Mapping[str, Any]) -> None:
        """Set the parameters that a model file has kept."""
        for name, value in training["parameters"].items():
            if name in self._parameter_names() and name not in _PASSING and _is_plain(value):
                setattr(self, name, value)


def _item(value: Any) -> Any:
    """Return a number of NumPy's as Python's."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _is_plain(value: Any) -> bool:
    """Whether a file can hold a value: one that JSON has, or a table of such by name."""
    if isinstance(value, dict):
        return all(
            isinstance(k, str) and isinstance(v, (int, float, str)) for k, v in value.items()
        )
    return value is None or isinstance(value, (bool, int, float, str))


class _Default:
    def __init__(self, value: Any) -> None:
        self.value = value


def parameter(*, default: Any, kw_only: bool) -> Any:
    """Return the default of a parameter, for one that may be given without its name."""
    return default if kw_only else _Default(default)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class DeclaredParameters(Parameters):
    """Parameters written once: attributes with a type and a default make ``__init__``.

    In the docstring of a subclass ``{learning}`` stands for the text of those that it inherits.
    """

    #: The text of the parameters, as in a docstring.
    _text = ""
    #: Parameters that may be given without their names.
    _first: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("    {learning}\n", cls._text)
        if "__init__" in vars(cls):
            return
        found: dict[str, Any] = {}
        for base in cls.__mro__:  # those of the class itself come before the learner's
            own = getattr(base, "__annotations__", {})
            found |= {
                name: vars(base)[name] for name in own if name in vars(base) and name not in found
            }
        found = {name: default for name, default in found.items() if not name.startswith("_")}
        first = [*cls._first, *(n for n, x in found.items() if isinstance(x, _Default))]
        for name in first[len(cls._first) :]:
            found[name] = found[name].value
            setattr(cls, name, found[name])
        cls._first = tuple(first)
        rest = {name: default for name, default in found.items() if name not in first}
        cls.__init__ = _make_init({n: found[n] for n in first}, rest)  # type: ignore[method-assign]


def _make_init(first: Mapping[str, Any], rest: Mapping[str, Any]) -> Any:
    """Return an ``__init__`` with these parameters, which it stores, and their defaults."""
    given = [f"{name}=defaults[{name!r}]" for name in (*first, *rest)]
    given.insert(len(first), "*")
    body = [f"    self.{name} = {name}" for name in (*first, *rest)]
    space: dict[str, Any] = {"defaults": {**first, **rest}}
    exec("\n".join([f"def __init__(self, {', '.join(given)}):", *body]), space)
    return space["__init__"]
