"""Languages that other packages have registered with textX, each loaded on its own.

textX loads all registered languages at once, so that one broken package takes all others with it.
Here each entry point is loaded alone, and what is wrong with it names its package.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from textx.exceptions import TextXError
from textx.metamodel import TextXMetaModel

from language_server.languages.error import LanguageError

_GROUP = "textx_languages"


@dataclass(frozen=True)
class Installed:
    """A language registered with textX.

    Attributes:
        name: as registered, in lower case as textX looks it up.
        package: the distribution that registers it.
        patterns: globs of its model files; empty where it is registered without any.
        failure: why it cannot be used, None if its registration loads.
    """

    name: str
    package: str
    patterns: tuple[str, ...] = ()
    description: str = ""
    failure: LanguageError | None = None
    registration: Any = None

    def claims(self, file_name: str) -> bool:
        """Whether a file belongs to the language as far as its package says."""
        return any(fnmatch.fnmatch(file_name, pattern) for pattern in self.patterns)

    def metamodel(self) -> TextXMetaModel:
        """Textx's metamodel of the language.

        Raises:
            LanguageError: the package's own code fails, or a file of it is missing.
        """
        if self.failure is not None:
            raise self.failure
        factory = self.registration.metamodel
        try:
            found = factory if isinstance(factory, TextXMetaModel) else factory()
        except FileNotFoundError as error:
            raise LanguageError(
                f"package {self.package} lacks the file {error.filename}",
                cure=f"install {self.package} again, or report it to its authors",
            ) from None
        except TextXError as error:
            raise LanguageError(
                f"the grammar of package {self.package} does not load: {error}"
            ) from None
        except Exception as error:
            raise _plugin_fault(self.name, self.package, error) from None
        if not isinstance(found, TextXMetaModel):
            raise LanguageError(
                f"language '{self.name}' of package {self.package} is no textX metamodel"
            )
        return found


def installed_languages() -> tuple[Installed, ...]:
    """The registered languages by name, those that do not load included."""
    return tuple(sorted(_load_all(), key=lambda language: language.name))


def _load_all() -> Iterator[Installed]:
    for entry in entry_points(group=_GROUP):
        package = entry.dist.name if entry.dist is not None else "(unknown)"
        if package.lower() != "textx":  # textX registers its own grammar language
            yield _load(entry, package)


def _load(entry: EntryPoint, package: str) -> Installed:
    try:
        registration = entry.load()
        name = str(registration.name).lower()
        pattern = registration.pattern
        description = str(registration.description or "")
    except Exception as error:  # the package's own code runs here
        failure = _plugin_fault(entry.name, package, error)
        return Installed(entry.name.lower(), package, failure=failure)
    patterns = tuple(part for part in str(pattern or "").split() if part)
    return Installed(name, package, patterns, description, None, registration)


def _plugin_fault(name: str, package: str, error: Exception) -> LanguageError:
    return LanguageError(
        f"language '{name}' cannot be loaded because package {package} fails: "
        f"{type(error).__name__}: {error}",
        cure=f"update {package}; it may be made for another version of textX",
    )
