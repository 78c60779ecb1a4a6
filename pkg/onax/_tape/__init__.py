"""The tape machine: programs as instructions over planned memory, run by compiled code (`_native/tape`).

rules.py      the slot `tape`: which instructions a primitive becomes
builder.py    from equations to instructions over buffers
layout.py     from buffers to offsets in one arena, and to the words of a tape
control.py    branches and loops; the other files hold the rules of the family of that name in `_prims`
build.py      the tape of a program, kept with it
"""
