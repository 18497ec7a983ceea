"""Narrators of an incident: how each of them opens, names the last sighting and asks for help."""

from __future__ import annotations

from typing import NamedTuple

from esar_ros.suites.esarbench.incidents.course import Country


class Voice(NamedTuple):
    """Sentences to choose from. Fields: names, count, kin, post, host, now, since, spot, when, and the pronouns."""

    opening: tuple[str, ...]
    seen: tuple[str, ...]
    asking: tuple[str, ...]


RANGER = Voice(
    (
        "Duty log, {post}. Overdue: {count}, {names}.",
        "This is {post}. We are missing {count}: {names}.",
        "Notes of the ranger on duty at {post}, {now}. Not back: {count}, {names}.",
    ),
    (
        "Last certain sighting: {spot}, {when}; nothing seemed wrong.",
        "A patrol met {them} {when}, {spot}.",
        "Seen {spot}, {when}. Not after that.",
    ),
    (
        "Report where {they} {are}, and every trace that you see.",
        "Task for the drone: find {them} and note what lies about. Other people's rubbish is among it.",
    ),
)
RELATIVE = Voice(
    (
        "{kin} {have} not come back, and it is not like {them}.",
        "Please help. {kin} should have been home long ago. I have heard nothing since {since}.",
        "{kin} left at {since}. I waited, I called, and now I am calling you.",
    ),
    (
        "Strangers met {them} {when}, {spot}, and talked a little.",
        "Somebody who knows {them} well says {they} {were} {spot}, {when}. I trust that.",
        "The last that anybody saw of {them} was {when}, {spot}.",
    ),
    (
        "Please find {them}. If you only find something of {theirs}, tell us that too.",
        "Please look everywhere, also for the things {they} took along.",
    ),
)
COMPANION = Voice(
    (
        "I was out with {names} and came back without {them}. I should never have gone ahead.",
        "We started together, {names} and I. I turned back early, and {they} went on.",
        "{names} went on while I waited, and then I could not find {them} any more.",
    ),
    (
        "I last saw {them} {when}, {spot}.",
        "We parted {spot}, {when}, give or take; I looked round once and {they} {were} gone.",
        "It was {when} when I lost sight of {them}, {spot}, if I have the place right.",
    ),
    (
        "Find {them}, please, and tell me what of {their} things you come across.",
        "I can tell you whose things are whose if you report what you see on the ground.",
    ),
)
POLICE = Voice(
    (
        "Missing persons report, taken at {now}. Missing: {names} ({count}).",
        "Police dispatch to air search. Missing: {count}, {names}. The caller is not on the spot.",
        "Case opened {now} after a call from abroad. Concerns {names}, {count}.",
    ),
    (
        "Last confirmed by witnesses {when}, {spot}.",
        "Two statements agree on a meeting {spot}, {when}.",
        "Last seen {when}: {spot}. The witness counts as reliable.",
    ),
    (
        "Give the position of every person and object found.",
        "Locate {them} and any item that {they} may have left; not all that lies there need be {theirs}.",
    ),
)
HOST = Voice(
    (
        "I am {host}. {names} {have} a bed here and did not use it.",
        "This is {host} speaking; my English is not good. Who did not come for dinner: {names}.",
        "{host_capital} here. We counted at supper and were short by {count}: {names}.",
    ),
    (
        "One who came the other way passed {them} {when}, {spot}.",
        "My cousin greeted {them} {when}, {spot}; all was well then.",
        "{When} {they} {were} still {spot}, that is sure.",
    ),
    (
        "We only ask that you find {them}, and say what of {their} things you come across.",
        "Look for {them} and for whatever {they} may have dropped; others leave rubbish there too.",
    ),
)
VOICES = (RANGER, RELATIVE, COMPANION, POLICE, HOST)
POSTS = {Country.SUMMIT: "base camp", Country.DESERT: "the reserve's post"}
ANY_POST = "the ranger post"
HOSTS = {Country.SUMMIT: "the expedition's cook", Country.DESERT: "the driver who brought the fuel"}
ANY_HOST = "the keeper of the guest house"
CONDITIONS = {  # what people say of somebody of a kind
    "hiker": (
        "{They} {know} the area from the map only.",
        "{They} {have} walked here before, in better weather.",
        "{They} {are} not in training.",
    ),
    "runner": ("{They} {run} here most weeks and {carry} little.", "{They} {were} after a time, not the view."),
    "forager": (
        "{They} {leave} the path wherever something grows.",
        "{They} {go} for herbs with eyes on the ground and {forget} the hour.",
    ),
    "elder": (
        "{They} sometimes {forget} where {they} {are}, but {walk} well.",
        "{They} {have} walked off twice this year; once {they} went straight on until a fence.",
    ),
    "driver": (
        "{They} {are} no walker and had town shoes on.",
        "There was water in the car; we do not know how much {they} took.",
    ),
    "climber": (
        "{They} {are} strong and {have} been high before.",
        "{They} had slept badly and {were} coughing.",
        "There was no radio in the tent, so {they} may have it with {them}.",
    ),
}
