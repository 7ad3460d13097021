"""Benchmarks: one module a question, each with ``run() -> Iterator[Table]``.

`make bench` runs them all.
Names given on the command line choose among them: ``python -m benchmarks parsing``.
"""
