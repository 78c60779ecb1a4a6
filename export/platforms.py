"""What an export says of platforms and of checks: entries of the artefact's metadata, and the checks themselves.

A model runs wherever ONNX Runtime does; platforms are those on which `Exported.call` may be used.

    onax.platforms         the platforms, separated by commas, where some were given
    onax.disabled_checks   the checks that are turned off, one on each line
"""

from dataclasses import dataclass

from onax._ground import source
from onax._ground.config import config
from onax._ground.devices import default_backend

PLATFORMS, CHECKS = ENTRIES = "onax.platforms", "onax.disabled_checks"

# The versions of JAX's calling convention for StableHLO modules.  A model has none: onax.format is its version.
minimum_supported_calling_convention_version, maximum_supported_calling_convention_version = 9, 10

_WITH_DONATION = ("cpu", "cuda", "rocm", "tpu", "neuron")


@source.api_class
@dataclass(frozen=True, repr=False)
class DisabledSafetyCheck:
    """A check of exports that the caller turns off.

    Made by `platform()`, of the platform on which an export is called, and by `custom_call(target_name)`, of a call to
    a target that is not known to be stable; a model has no such calls, so that this one changes nothing.

    Examples:
      >>> onax.export.DisabledSafetyCheck.custom_call("target").is_custom_call()
      'target'
    """

    _impl: str

    @classmethod
    def platform(cls):
        """The check that an export is called on a platform for which it was exported."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name):
        """The check of calls to the target `target_name`."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self):
        """The target whose check this turns off; None for the check of the platform."""
        kind, _, target = self._impl.partition(":")
        return target or None if kind == "custom_call" else None

    def __str__(self):
        return self._impl

    __repr__ = __str__


def entries_of(platforms, checks):
    """The metadata of given platforms and disabled checks.  Raises TypeError for anything else than such checks."""
    for check in checks:
        if not isinstance(check, DisabledSafetyCheck):
            raise TypeError(f"disabled_checks holds objects of DisabledSafetyCheck; got {check!r}")
    given = (",".join(platforms), "\n".join(map(str, checks)))
    return {name: text for name, text in zip(ENTRIES, given) if text}


def disabled_checks(entries):
    """The checks that an artefact's metadata turns off."""
    return tuple(map(DisabledSafetyCheck, entries[CHECKS].split("\n"))) if CHECKS in entries else ()


def check_platform(entries, name):
    """Raises ValueError unless the exported function `name` may be called here."""
    if PLATFORMS not in entries or DisabledSafetyCheck.platform() in disabled_checks(entries):
        return
    platforms, here = tuple(entries[PLATFORMS].split(",")), default_backend()
    if here not in platforms:
        raise ValueError(f"Function '{name}' was exported for platforms '{platforms}' but it is used on '{(here,)}'.")


def check_version():
    """Raises ValueError if the option asks for a calling convention that JAX 0.10.2 does not have."""
    version = config.jax_export_calling_convention_version
    first, last = minimum_supported_calling_convention_version, maximum_supported_calling_convention_version
    if not first <= version <= last:
        raise ValueError(
            f"The requested export calling convention version {version} is outside the range of supported versions "
            f"[{first}..{last}]"
        )


def check_donation(options, entries):
    """Raises NotImplementedError if a jitted function donates arguments on some platforms and not on others."""
    platforms = entries.get(PLATFORMS, "cpu").split(",")
    able = [p for p in platforms if p in _WITH_DONATION]
    donates = options is not None and (options.donate_argnums or options.donate_argnames)
    if donates and 0 < len(able) < len(platforms):
        raise NotImplementedError(
            "In multi-platform lowering either all or no lowering platforms should support donation. Lowering for "
            f"{platforms} of which only {able} support donation"
        )
