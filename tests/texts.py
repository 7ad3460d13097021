"""Texts that tests of several rooms begin with."""

DOOR = """\
statechart Door

event open
event close

initial state Closed {
    on open -> Open
}
state Open {
    on close -> Closed
}
"""
