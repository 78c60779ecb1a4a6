"""The versions of JAX whose public interface onax follows."""

JAX = "0.10.2"
JAX_INFO = tuple(int(part) for part in JAX.split("."))
