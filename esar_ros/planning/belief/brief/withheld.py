"""Clauses of a brief that are not read for ways: orders, what is denied or taken back, questions, shares, others' ways.

They are found by single words, and nothing of them is read: a way that a sentence denies must draw no search. What
they would tell is left over, which shows it to the person and widens the prior. Who is missing is counted in them, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from esar_ros.planning.belief.brief.amending import CORRECTS
from esar_ros.planning.belief.brief.facts import Content, Passage
from esar_ros.planning.belief.brief.tokens import Item, Sentence

_SHARES = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3})?(?:\s?/\s?\d{1,3}(?:\.\d{1,3})?){2,8}(?![\w/])(?:\s?%)?|"
    r"(?<![\w.])\d{1,4}(?:\.\d{1,3})?\s?(?:%|per ?cent\b|pct\b)",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|1[0-2])/\d\d|(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/\d\d")
_CHARGE = re.compile(r"\b(?:batter\w+|charged?)\b", re.IGNORECASE)
_NOT = r"(?:do not|don['’]t|dont)(?! (?:know|think|believe|remember|have|see|recall|want|expect|hear|mind)\b)"
_ADDRESSED = r"you|drones?|uavs?|uas|pilots?|aircraft|operators?|crews?|teams?"
_VERBS = r"fly|go|enter|land|cross|approach|descend|hover|climb|leave|pass|overfly|come"
_FORBIDS = re.compile(
    rf"(?:^|[.;:!?,(–—-]\s{{0,2}}|\b(?:and|but|please|so|also|then|{_ADDRESSED})\s)"
    rf"(?P<order>{_NOT}|never (?:{_VERBS})|avoid|beware|"
    r"(?:stay|keep|remain|steer)(?: [^\s.;!?]{1,20}){0,3}? (?:clear|away|out|off)|"
    r"(?:stay|keep|remain|steer) (?:well )?(?:back|below|above|under)|"
    r"fly (?:no|not) (?:lower|higher|nearer|closer|below|above|over)|"
    r"no (?:drones?|flying|flights?|overflights?|overflying|landing|entry))\b|"
    rf"\b(?:{_ADDRESSED}|nobody|no[- ]one|we)\s(?:must|shall|should|may)(?: ?not|n['’]t)\b|"
    r"\b(?:must|shall|should|may) not be (?:flown|overflown|entered|crossed|approached|disturbed)\b|"
    r"\b(?:no[- ](?:fly|flight|go|entry)|keep[- ]out|off[- ]limits|prohibited|forbidden|not (?:allowed|permitted|"
    r"authori[sz]ed)|closures?|exclusion zone|restricted (?:area|airspace|zone)|danger (?:area|zone)|notam|tfr)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.;!?\n]")
_NEGATORS = re.compile(  # deny what follows them in their clause
    r"(?<=\()(?:was|old|earlier)\b|\b(?:not|no(?! ?[,.;:!?]| wait)|never|nobody|no-one|none|nowhere|neither|nor|cannot|"
    r"hardly|instead of|rather than|formerly|previously|except|\w{2,6}n['’]t|"
    r"(?:ca|do|did|wo|is|has|does|could|would)nt)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(  # whatever else their sentence says
    r"\b(?:unlikely|impossible|den(?:y|ies|ied)|rul(?:e|es|ed|ing) out|exclud\w+|"
    r"(?<!at )(?:twelve|12) o'clock|another (?:man|woman|person|boy|girl))\b|\?[\"”')]?$",
    re.IGNORECASE,
)
_RETRACTS = re.compile(  # what stands before it
    r"(?:^|[,:;] ?|please )(?:ignore|forget|disregard)\b|"
    r"(?:\b(?:is|are|was|were)|['’]s)(?: the)? (?:false|untrue|wrong)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:safe|safely|unhurt|rescued|evacuated|accounted|(?:is|are|came) back(?! (?:to|at|in))|"
    r"\w+['’]s back(?= (?:home|now|already|safe|with)\b| ?(?:[.,;:!]|$)))\b",  # no "man's back is broken"
    re.IGNORECASE,
)
_MISSING = re.compile(r"\b(?:missing|overdue|unaccounted|lost|sought)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:!?()\n]|\b(?:and|but|so)\b", re.IGNORECASE)
_DENIED_TO = re.compile(r"[.;!?\n]|\bbut\b", re.IGNORECASE)
_GAP = re.compile(r"[,:]|\band\b", re.IGNORECASE)
_MEASURES = frozenset("D#deh")  # tags of words of a distance or a direction
_DENIED, _OF_OTHERS = "it is denied, doubted or asked", "it is told of somebody who is safe"


def shares_in(text: str) -> list[Passage]:
    """Returns the percentages of a text, and numbers of three and more parts, "50/30/20"; none is a way."""
    found = []
    for match in _SHARES.finditer(text):
        is_charge = bool(_CHARGE.search(text[max(match.start() - 20, 0) : match.end() + 10]))
        if not _DATE.fullmatch(match[0]):
            found.append(Passage(*match.span(), None, Content.SHARES, "a charge" if is_charge else "", is_charge))
    return found


def prohibitions_in(told: Sequence[Sentence]) -> list[Passage]:
    """Returns the orders not to do something, which no reading obeys; told: the sentences of a text."""
    found: list[Passage] = []
    for sentence in told:
        end = 0
        for match in _FORBIDS.finditer(sentence.text):
            if match.start() < end:
                continue
            first = match.start("order") if match["order"] else _clause_start(sentence.text, match.start(), end)
            if match[0].startswith(":"):
                first = _heading_start(sentence, match.start(), first, end)
            end = _order_end(sentence, match.end())
            found.append(Passage(sentence.start + first, sentence.start + end, None, Content.PROHIBITION))
    return found


def without_missing(told: Sequence[Sentence], forbidden: Sequence[Passage]) -> list[Passage]:
    """Returns the orders of sentences that tell of nobody missing; told: the sentences, forbidden: their orders."""
    spans = [(one.start, one.start + len(one.text)) for one in told if _MISSING.search(one.text)]
    starts = [start for start, _ in spans]
    at = [bisect_right(starts, one.start) - 1 for one in forbidden]
    return [one for one, n in zip(forbidden, at, strict=True) if n < 0 or one.start >= spans[n][1]]


def to_nobody(told: Sequence[Sentence], forbidden: Sequence[Passage]) -> list[Passage]:
    """Returns the orders of sentences that speak of nobody sought: not "we told her: do not move"."""
    spans = [
        (one.start, one.start + len(one.text))
        for one in told
        if any(item.tag in "PQ" or item.low == "her" for item in one.items)
    ]
    return [one for one in forbidden if not any(start <= one.start < end for start, end in spans)]


def denials_in(told: Sequence[Sentence], shares: Sequence[Passage]) -> list[Passage]:
    """Returns the clauses of which no way is read; told: the sentences of a text; shares: its percentages."""
    found: list[Passage] = []
    at = 0
    for number, sentence in enumerate(told):
        last = sentence.start + len(sentence.text)
        while at < len(shares) and shares[at].end <= sentence.start:
            at += 1
        whole = ""
        if at < len(shares) and shares[at].start < last and not shares[at].is_aside:
            whole = "it tells shares"
        elif _DENIES.search(sentence.text) or _RETRACTS.search(sentence.text):
            whole = _DENIED
        elif _OTHERS.search(sentence.text) and not _NEGATORS.search(sentence.text):
            whole = _OF_OTHERS
        if whole:
            is_of_last = bool(number and _RETRACTS.search(sentence.text))
            is_of_last &= not any(item.tag in _MEASURES for item in sentence.items)
            first = told[number - 1].start if is_of_last else sentence.start  # "That report is false."
            found = [one for one in found if one.start < first]
            found.append(Passage(first, last, None, Content.DENIAL, whole))
            continue
        end = 0
        for match in _NEGATORS.finditer(sentence.text):
            if match.start() >= end:
                first, end = _clause_start(sentence.text, match.start(), end), _denied_end(sentence, match.end())
                span = sentence.start + first, sentence.start + end
                found.append(Passage(*span, None, Content.DENIAL, _DENIED))
    return found


def without(sentence: Sentence, row: Sequence[Item], spans: Sequence[tuple[int, int]]) -> tuple[Sentence, list[Item]]:
    """Returns a sentence and its items without what stands in spans, with a stop in the place of each."""
    kept: list[Item] = []
    text = sentence.text
    for start, end in spans:
        first, last = max(start - sentence.start, 0), min(max(end - sentence.start, 0), len(text))
        text = text[:first] + " " * (last - first) + text[last:]
    for item in row:
        span = next((span for span in spans if item.start < span[1] and span[0] < item.end), None)
        if span is None:
            kept.append(item)
        elif not kept or kept[-1].end != span[1]:
            kept.append(Item(".", ".", span[0], span[1]))
    return replace(sentence, text=text), kept


def _clause_start(text: str, at: int, least: int) -> int:
    """Returns where a clause begins, characters of a sentence."""
    stops = [match.end() for match in _CLAUSE.finditer(text, least, at)]
    return stops[-1] if stops else least


def _heading_start(sentence: Sentence, at: int, first: int, least: int) -> int:
    """Returns where an order after a colon begins: before its heading, unless that speaks of somebody or corrects."""
    start = _clause_start(sentence.text, at, least)
    before = [item for item in sentence.items if start <= item.start - sentence.start < at]
    is_kept = any(item.tag in "PQG" or item.low in CORRECTS for item in before)
    return first if is_kept else start


def _order_end(sentence: Sentence, at: int) -> int:
    """Returns where an order ends: with its sentence, or before somebody is spoken of after a comma."""
    stop = _END.search(sentence.text, at)
    end = stop.start() if stop is not None else len(sentence.text)
    inside = [item for item in sentence.items if at <= item.start - sentence.start < end]
    people = next((item.start - sentence.start for item in inside if item.tag in "PQ"), end)
    comma = sentence.text.rfind(",", at, people) if people < end else -1
    return comma if comma >= 0 else end


def _denied_end(sentence: Sentence, at: int) -> int:
    """Returns where a denial ends: with its clause, or, where a comma goes on with it, before somebody is spoken of."""
    stop = _DENIED_TO.search(sentence.text, at)
    end = stop.start() if stop is not None else len(sentence.text)
    for gap in _GAP.finditer(sentence.text, at, end):
        after = [item.tag for item in sentence.items if item.start - sentence.start >= gap.end()][:2]
        if "P" in after[:1] or "Q" in after:
            return gap.start()
    return end
