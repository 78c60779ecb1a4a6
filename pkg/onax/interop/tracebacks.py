"""Which files are left out of tracebacks, under the names of jax._src.traceback_util."""

from onax._ground import source


class ExcludedPaths:
    """The files that libraries registered, with the methods of a list."""

    def __contains__(self, path):
        return source.is_registered(path)

    def append(self, path):
        """Leaves a file out."""
        source.register_exclusion(path)

    def remove(self, path):
        """Shows a file again; ValueError if it was not left out."""
        if path not in self:
            raise ValueError(f"{path!r} is not excluded")
        source.unregister_exclusion(path)


excluded_paths = ExcludedPaths()


def include_frame(frame):
    """Whether tracebacks show a frame."""
    return not source.is_internal(frame.f_code.co_filename)
