"""The folder of compiled programs that persist between runs."""
