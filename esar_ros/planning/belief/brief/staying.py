"""Words by which the missing stay where they are: told to wait, or unable to move on."""

from __future__ import annotations

import re

_ARTICLE = r"(?:an? |his |her |their |the )?"
_LEG = r"(?:leg|ankle|knee|hip|foot|femur|pelvis|back)"
_UNABLE = (
    r"(?:cannot|can't|can not|could not|couldn't|unable to|(?:not|no longer|neither) able to)(?: \w+)? "
    r"(?:be moved|walk|move|shift|budge|go|get|leave|put|climb|come|continue|stand|descend|carry on)"
)
_KEEPS = (
    r"(?:(?:sit|stay|remain|shelter|wait)(?:s|ing)?|(?:he|she|they) (?:stay|remain)ed) "
    r"(?:put|tight|where|still|in|under|behind|with|beside|there|at|on it|by|aboard)"
)
_HURT = (
    rf"(?:broken|broke|fractured|dislocated|twisted|sprained|crushed|shattered) {_ARTICLE}{_LEG}|"
    rf"{_LEG}(?:'s|s)? (?:is |are |was |were )?(?:broken|fractured|fracture|gone|crushed|trapped)"
)
_HELD = (
    r"immobil\w*|unconscious|trapped|stuck|pinned|wedged|entangled|marooned|stranded|crag-?fast|snowed in|cut "
    r"off|buried|stationary|static|(?:non-|not )ambula\w+|not mobile|mobility:? (?:none|nil)|hanging "
    r"(?:in|from|by)|suspended|holed up|dug in|dropped anchor|made camp"
)
_LIES = (
    r"(?:man|woman|boy|girl|child|person|climber|hiker|walker|casualty|victim|technician|he|she) (?:now )?"
    r"(?:lies|is lying|has been lying|(?:is|are) stuck)|fell [^.;]{0,30}\b(?:lies|lying)"
)
_LODGING = r"(?:hotel|inn|house|hostel|lodge|camp\w*|resort|cabin|chalet)"
_STAYS = (  # not "stay off that line", "staying at the hotel", "staying fine"
    rf"(?:stays?\b(?! (?:off|away|clear|out|over)\b)|staying (?:with|w/|on|in|at|where|there|put|by|aboard)(?!\w))"
    rf"(?! (?:\w+ ){{0,3}}{_LODGING}\b)"
)
_STATIONARY = re.compile(
    rf"\b(?:{_STAYS}|wait(?:s|ing)?|left (?:him|her|them)|no movement|motionless|"
    rf"can (?:he|she|they) (?:walk|move)\? (?:a: )?no\b|{_UNABLE}|{_HELD}|{_KEEPS}|{_HURT}|{_LIES}|"
    r"can go no (?:further|farther)|(?:sit|ride)(?:s|ting|ing)? (?:it |(?:the|this) \w+ )?out|"
    r"(?:is|are|isn't|aren't) not (?:moving|going anywhere)|not (?:moving|going anywhere|to move)|"
    r"(?:does|do|will|did) not move|won't move|lie still|don't (?:you )?move|told to (?:stay|wait|sit|lie)|laid|"
    r"(?:told|asked|ordered|instructed|orders|instructions) not to (?:leave|move)|"
    r"covered (?:him|her|them)|(?:sat|sits|sitting) (?:(?:him|her)self |themselves )?(?:down|tight|on|with))\b",
    re.IGNORECASE,
)
_NOT_STATIONARY = re.compile(
    r"\b(?:drone|uav|aircraft|vehicle|teams?|you|ambulance)\b[^.;]{0,20} ?(?:wait|stay)(?:s|ing)?|\bget stuck|"
    r", wait\b(?= ?,)|\bwe(?:'re| are) (?:all |both )?waiting[^.;]{0,40}\b(?:drone|you|news|here)\b|"
    r"\b(?:until|when|since|after|before) \w+ (?:has )?left (?:him|her|them)|"
    r"\b(?:(?:did|does|do|will|would|could|can) not (?:stay|wait)|"
    r"(?:never|don't|didn't|won't|couldn't|wanted to|meant to|supposed to|refused to|without) (?:stay|wait)(?:s|ing)?|"
    r"(?:told|asked) to (?:stay|wait)[^.;]{0,30}? (?:but|and) (?:he|she|they) (?:did|have|has)(?: not|n't))\b",
    re.IGNORECASE,
)


_OF_OTHERS = re.compile(  # lines of a form
    r"^[^\S\n]*(?:not missing|safe|returned|informant|report(?:ed)? by|source|witness\w*)\b[^:\n]{0,20}:.*$",
    re.I | re.M,
)
_MOVING = re.compile(r"(?<!not )(?<!n't )\b(?:moving|walking|walks on|can walk|mobile|on the move)\b", re.IGNORECASE)


def is_stationary(prompt: str, corrected: int | None = None) -> bool:
    """Returns whether a brief says that they wait, or cannot move; corrected: character where its correction begins."""
    if corrected is not None and _MOVING.search(prompt, corrected):
        return False
    return bool(_STATIONARY.search(_NOT_STATIONARY.sub(" ", " ".join(_OF_OTHERS.sub(" ", prompt).split()))))
