"""Parameters, declared once: default, check and one line of help, and an ``__init__`` made of them.

Imports nothing: the command line makes its options from declarations.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..checks import check_number, check_whole

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Tell type checkers that annotated attributes are parameters of ``__init__``."""
        return lambda kind: kind

# -- checks ---------------------------------------------------------------------------------------


class Whole:
    """Whole numbers from ``least`` to ``most``; ``switch``: True and False too."""

    def __init__(self, least: int, most: int | None = None, *, switch: bool = False) -> None:
        self.least, self.most, self.switch = least, most, switch

    def __call__(self, name: str, value: Any) -> None:
        """Refuse other values."""
        if not (self.switch and isinstance(value, bool)):
            check_whole(name, value, self.least, self.most)


class Number:
    """Numbers of at least 0, or ``above`` it; ``infinite``: infinity too."""

    def __init__(self, *, above: bool = False, infinite: bool = False) -> None:
        self.above, self.infinite = above, infinite

    def __call__(self, name: str, value: Any) -> None:
        """Refuse other values."""
        if not (self.infinite and isinstance(value, float) and value == float("inf")):
            check_number(name, value, above=self.above)


class Choice:
    """One of some strings."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, name: str, value: Any) -> None:
        """Refuse other values."""
        if not isinstance(value, str) or value not in self.choices:
            *most, last = map(repr, self.choices)
            raise ValueError(f"{name} must be {', '.join(most)} or {last}, got {value!r}")


class Switch:
    """True or False; 1 and 0 are the same."""

    def __call__(self, name: str, value: Any) -> None:
        """Refuse other values."""
        if isinstance(value, (str, bytes, float)) or value not in (True, False):
            raise ValueError(f"{name} must be True or False, got {value!r}")


# -- declarations ---------------------------------------------------------------------------------


class Parameter:
    """What is known of a parameter: see :func:`parameter`."""

    def __init__(self, default: Any, **known: Any) -> None:
        self.default = default
        self.kw_only: bool = known.get("kw_only", True)
        self.check: Callable[[str, Any], None] | None = known.get("check")
        self.help: str = known.get("help", "")
        self.metavar: str = known.get("metavar", "")
        self.learners: tuple[str, ...] | None = known.get("learners")
        self.stored: bool = known.get("stored", True)

    def but(self, **changed: Any) -> Parameter:
        """Return the same with another default, or other words about it."""
        return Parameter(**{**vars(self), **changed})


def parameter(
    *,
    default: Any,
    kw_only: bool = True,
    check: Callable[[str, Any], None] | None = None,
    help: str = "",
    metavar: str = "",
    learners: tuple[str, ...] | None = None,
    stored: bool = True,
) -> Any:
    """Declare a parameter of a class that is :class:`Declared`.

    Parameters
    ----------
    default : object
        A parameter whose default is None may be None whatever its check.
    kw_only : bool
        False: it may be given without its name.
    check : callable, optional
        Takes name and value, and raises ValueError.
    help : str
        One line, from which the command line makes an option; without it there is none.
    metavar : str
        What the option calls its value.
    learners : tuple of str, optional
        The learners that have it; None: all.
    stored : bool
        Model files hold it. False for what says how a model is made or used, not what it becomes.
    """
    return Parameter(
        default,
        kw_only=kw_only,
        check=check,
        help=help,
        metavar=metavar,
        learners=learners,
        stored=stored,
    )


def same_as(kind: type[Declared], name: str, *, default: Any) -> Any:
    """Declare a parameter that another class has: the same, but for its default."""
    return kind._declared[name].but(default=default)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter, same_as))
class Declared:
    """Annotated attributes with a default are the parameters of a class and its ``__init__``.

    In a subclass, an assignment changes the default of a parameter and nothing else of it. In the
    docstring of a subclass ``{learning}`` stands for the text of those that it inherits.
    """

    #: Whose parameters these are, where not all learners have the same; None: all.
    _learner: str | None = None
    #: Names that parameters have in other libraries, and what to say of them.
    _elsewhere: Mapping[str, str] = {}
    #: The text of the parameters, as in a docstring.
    _text = ""
    #: The parameters by name, those of the class itself first.
    _declared: Mapping[str, Parameter] = {}
    #: Those that the class was the first to declare.
    _own: Mapping[str, Parameter] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("    {learning}\n", cls._text)
        own: dict[str, Parameter] = {}
        for name in getattr(cls, "__annotations__", {}):
            value = vars(cls).get(name, cls)  # no default is the class itself
            if isinstance(value, Parameter):
                own[name] = value
                setattr(cls, name, value.default)
            elif (
                value is not cls and not name.startswith("_") and not hasattr(super(cls, cls), name)
            ):
                own[name] = Parameter(value)
        cls._own = own
        found: dict[str, Parameter] = {}
        for base in cls.__mro__:
            for name, known in vars(base).get("_own", {}).items():
                found.setdefault(name, known)
        cls._declared = {
            name: known
            for name, known in found.items()
            if None in (cls._learner, known.learners) or cls._learner in (known.learners or ())
        }
        if "__init__" not in vars(cls):
            cls.__init__ = _make_init(cls)  # type: ignore[method-assign]

    def _check_declared(self) -> None:
        """Refuse values that make no sense."""
        for name, known in self._declared.items():
            value = getattr(self, name)
            if known.check is not None and not (
                value is None and getattr(type(self), name) is None
            ):
                known.check(name, value)


def _make_init(cls: type[Declared]) -> Any:
    """Return an ``__init__`` with the parameters of a class, which it stores."""
    first = [name for name, known in cls._declared.items() if not known.kw_only]
    names = [*first, *(name for name in cls._declared if name not in first)]
    given = [f"{name}=defaults[{name!r}]" for name in names]
    given.insert(len(first), "*")
    body = [f"    self.{name} = {name}" for name in names] or ["    pass"]
    space: dict[str, Any] = {"defaults": {name: getattr(cls, name) for name in names}}
    source = f"def __init__(self, {', '.join(given)}):" if names else "def __init__(self):"
    exec("\n".join([source, *body]), space)
    made = space["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return _refusing(made, cls) if cls._elsewhere else made


def _refusing(init: Any, cls: type[Declared]) -> Any:
    """Return an ``__init__`` that says what another library's parameters are called here."""
    from functools import wraps

    @wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name in cls._elsewhere and name not in cls._declared:
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}: {cls._elsewhere[name]}"
                )
        init(self, *args, **given)

    return checked


# -- tasks ----------------------------------------------------------------------------------------


class Parameters:
    """``get_params`` and ``set_params`` without scikit-learn; what a model file keeps of them."""

    _declared: Mapping[str, Parameter]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn asks."""
        return {name: getattr(self, name) for name in self._declared}

    def set_params(self, **params: Any) -> Any:
        """Change parameters."""
        kind = type(self).__name__
        for name, value in params.items():
            if name not in self._declared:
                known = sorted(self._declared)
                raise ValueError(f"{kind} has no parameter {name!r}; it has {known}")
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
        stored = {}
        for name, value in self._plain().get_params().items():
            if hasattr(value, "__fspath__"):
                value = value.__fspath__()
            if self._declared[name].stored and _is_plain(value):
                stored[name] = value
        return stored

    def _restore(self, training: Mapping[str, Any]) -> None:
        """Set the parameters that a model file has kept."""
        for name, value in training["parameters"].items():
            if name in self._declared and self._declared[name].stored and _is_plain(value):
                setattr(self, name, value)


class DeclaredParameters(Declared, Parameters):
    """Declared parameters with scikit-learn's conventions, for what does without scikit-learn."""


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
