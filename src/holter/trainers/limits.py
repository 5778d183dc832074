"""What a setting must be, and what else is wrong with a configuration; the first that is, is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.errors import SettingsError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holter.language import Said


@dataclass(frozen=True)
class Limit:
    """What a number must be.

    Attributes:
        holds: Whether it is; False for NaN.
        says: What is said of a setting and its value where it is not.
    """

    holds: Callable[[float], bool]
    says: Callable[[str, float], Said]


POSITIVE = Limit(lambda x: x > 0, lambda s, x: said("{setting} must be positive, not {value}", setting=s, value=x))
NOT_NEGATIVE = Limit(
    lambda x: x >= 0, lambda s, x: said("{setting} must not be negative, not {value}", setting=s, value=x)
)
ONE_OR_MORE = Limit(
    lambda x: x >= 1, lambda s, x: said("{setting} must be at least 1, not {value}", setting=s, value=x)
)
FRACTION = Limit(
    lambda x: 0 <= x <= 1, lambda s, x: said("{setting} must lie in [0, 1], not {value}", setting=s, value=x)
)
POSITIVE_FRACTION = Limit(
    lambda x: 0 < x <= 1, lambda s, x: said("{setting} must lie in (0, 1], not {value}", setting=s, value=x)
)


def check(config: object, limits: Mapping[Limit, Iterable[str]], wrong: Iterable[tuple[bool, str]] = ()) -> None:
    """Refuse a configuration of which something is wrong.

    Args:
        config: The configuration.
        limits: Settings by what they must be; None is always right.
        wrong: What else may be wrong: whether it is, and what to say then.

    Raises:
        SettingsError: For the first that is wrong.
    """
    for limit, settings in limits.items():
        for setting in settings:
            value = getattr(config, setting)
            if value is not None and not limit.holds(value):
                raise SettingsError(f"{type(config).__name__}:", limit.says(setting, value))
    for is_wrong, why in wrong:
        if is_wrong:
            raise SettingsError(f"{type(config).__name__}:", why)
