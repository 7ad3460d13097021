"""What is to be written in the benchmarks of the strategies: descriptions as users write them."""

from __future__ import annotations

TASKS: dict[str, tuple[str, ...]] = {
    "clevr": (
        "How many red cubes are there?",
        "Is there a small metal thing behind the blue sphere?",
        "What colour is the big rubber cylinder?",
        "Are there more green things than yellow balls?",
        "What is the material of the object left of the purple cube?",
        "Do the cyan sphere and the brown block have the same size?",
        "How many things are either tiny or gray?",
        "What shape is the shiny thing in front of the red cylinder?",
    ),
    "statechart": (
        "A turnstile that opens with a coin and closes after a push",
        "A traffic light that goes from red to green to yellow",
        "A lamp that is switched on and off with one button",
        "A media player that plays, pauses and stops",
        "An order that is placed, paid, shipped and delivered",
        "A washing machine that locks its door, washes, rinses and spins",
        "A login that is locked after too many failed tries",
        "A printer that can run out of paper",
    ),
    "flowchart": (
        "Check whether a number is even or odd and print the result",
        "Make tea: boil water, pour it over the leaves, wait, serve",
        "Sign in: ask for the password, try again if it is wrong",
        "Buy a ticket: choose a seat, pay, print; without money go home",
        "Repair a lamp: is it plugged in, is the bulb burnt out",
        "Review a document until it is approved, then publish it",
    ),
    "taxonomy": (
        "Apples and pears are fruit, carrots are vegetables; both are food.",
        "Put car, bicycle, truck and vehicle in order.",
        "Oaks and pines are trees, roses are flowers, all of them are plants.",
        "A violin and a cello are string instruments, a trumpet is a wind instrument.",
        "Put salmon, trout, fish, animal and shark in order.",
        "A square is a rectangle, a rectangle and a triangle are polygons.",
    ),
    "blocks": (
        "Which blocks are red?",
        "How many blocks are taller than block 1?",
        "What is to the left of a cube?",
        "Which block is the longest?",
        "Find the blocks above block 2.",
        "How wide are the green blocks?",
    ),
}
