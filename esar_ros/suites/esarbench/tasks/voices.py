"""Authors of briefs: eight people with habits of their own. Parts come in each one's own order:

C conditions, W who is missing, T what happened, K what they carry, B where the drone takes off, E an ending.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """One writer. In conditions: {clock}, {weather}, {wind}, {light}; in base: {where}."""

    name: str
    order: tuple[str, ...]
    clock: str  # style of wording.clock
    conditions: tuple[str, ...]
    base: tuple[str, ...]
    endings: tuple[str, ...]


VOICES: tuple[Voice, ...] = (
    Voice(
        "duty officer",
        ("CWTKBE", "CBWTKE"),
        "digits",
        (
            "Tasking at {clock} local. Weather on site: {weather}, {wind}. {light}",
            "{clock} local time. {weather}, {wind}. {light}",
            "Mission opened {clock}. Conditions reported: {weather}; {wind}. {light}",
        ),
        ("Launch point: {where}.", "Aircraft is staged {where}.", "You start {where}."),
        (
            "Report every find with its position as soon as you are sure of it.",
            "Persons first, objects second; report both.",
            "Send positions of anything that may belong to the party.",
        ),
    ),
    Voice(
        "team leader",
        ("WTCKBE", "WTKCB", "TWCKB"),
        "words",
        (
            "It is {clock} now, {weather} up here, and we have {wind}. {light}",
            "Right now, {clock}, we have {weather} and {wind}. {light}",
            "As for the conditions: {weather}, {wind}, and my watch says {clock}. {light}",
        ),
        (
            "We have set the drone down {where}.",
            "Your take-off spot is {where}.",
            "We will start you {where}, that was the best flat ground we could find.",
        ),
        (
            "My people are tired, so please have a good look before they have to walk it.",
            "If you see anything that does not belong there, tell us.",
            "Take your time over the ground that nobody has walked yet.",
        ),
    ),
    Voice(
        "police dispatcher",
        ("CWKTB", "CWTKBE"),
        "half",
        (
            "Assistance request received, current time {clock}. Local weather {weather} with {wind}. {light}",
            "This is the county dispatch. Time now {clock}. The station on site gives {weather} and {wind}. {light}",
            "Time of this message {clock}. {weather}, {wind}. {light}",
        ),
        (
            "The unit with the aircraft has parked {where}.",
            "The aircraft goes up {where}.",
            "Deployment point is {where}.",
        ),
        (
            "Please confirm the condition of any person found.",
            "Descriptions are as given by the caller.",
            "Relatives have been informed that a search is under way.",
        ),
    ),
    Voice(
        "handover between shifts",
        ("TCWKB", "CTWKBE", "TWKCB"),
        "words",
        (
            "You take over at {clock}. {weather}, {wind}. {light}",
            "Handing over to you at {clock}, {weather} and {wind}. {light}",
            "State of things at {clock}: {weather}, {wind}. {light}",
        ),
        (
            "We left the aircraft {where}.",
            "The drone stands ready {where}.",
            "Battery is fresh, the drone sits {where}.",
        ),
        (
            "Nothing of this has been checked from the air so far.",
            "Mark everything you find, we compare notes afterwards.",
            "Good luck, we go and sleep.",
        ),
    ),
    Voice(
        "local guide",
        ("TWKCBE", "WTKBC", "WBTKC"),
        "words",
        (
            "Up here it is {clock}, with {weather} and {wind}. {light}",
            "{weather}, {wind}, as one gets it here. It is {clock}. {light}",
            "You ask about the weather: {weather}, {wind}, at {clock}. {light}",
        ),
        (
            "I have shown your people a level place {where}; start there.",
            "You will fly from a place {where}.",
            "The drone waits {where}.",
        ),
        (
            "People who lose their way here do not go far; look twice near the line I gave you.",
            "I know this ground, and I would look where it gets hard to walk.",
            "One sees little from below, so it has to be you.",
        ),
    ),
    Voice(
        "radio log",
        ("CWTKB", "WKTCB", "CTWKB"),
        "digits",
        (
            "{clock}. {weather}. {wind}. {light}",
            "Log entry {clock}: {weather}, {wind}. {light}",
            "{clock}, base to air: {weather}, {wind}. {light}",
        ),
        ("Start: {where}.", "Air unit goes up {where}.", "Air unit positioned {where}."),
        ("Over.", "Acknowledge and go.", "Next call when you have something."),
    ),
    Voice(
        "relative",
        ("WKTCBE", "WTKBCE", "KWTCB"),
        "half",
        (
            "They tell me you have {weather} where you are, with {wind}. I write this at {clock}. {light}",
            "It is {clock} and I cannot sit still. They say {weather} out there, and {wind}. {light}",
            "The man from the rescue says {weather}, {wind}, and that you can still fly. It is {clock}. {light}",
        ),
        (
            "They say you will start {where}.",
            "I was told that your drone is {where}.",
            "You begin {where}, if I understood it right.",
        ),
        (
            "Please hurry.",
            "I have told you all I know.",
            "Whatever you find, tell us.",
        ),
    ),
    Voice(
        "rescue coordinator",
        ("WCTBKE", "CWBTKE", "WTCBK"),
        "digits",
        (
            "Conditions at {clock}: {weather}, {wind}. {light}",
            "At {clock} the forecast office gives {weather} and {wind} for the sector. {light}",
            "Weather window: {weather}, {wind}, as of {clock}. {light}",
        ),
        (
            "The aerial team deploys {where}.",
            "Drone operations are based {where}.",
            "Take-off is {where}.",
        ),
        (
            "Ground teams stand by for your positions.",
            "Priority is the missing; clues narrow the sector and are to be reported as well.",
            "Use what they left behind to narrow the search.",
        ),
    ),
)
