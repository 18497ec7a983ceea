"""Vocabulary of briefs: the tag of a word, one letter, and the size of a unit.

A word in no list has the tag "x", or "C" if it is a capital one.
"""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """Returns the words of a list."""
    return frozenset(text.split())


_POINT = "(?:north|south|east|west)"
_COMPASS = rf"{_POINT}(?:[-\s]?{_POINT}){{0,2}}(?:ern(?:most)?|erly|wards?|bound)?"
COMPASS = re.compile(_COMPASS)
JOINED = (  # one item each
    rf"{_COMPASS}|"
    r"(?:take|takes|took|taken|taking|lift|lifts|lifting)[\s-]?off|T/O|w/out|w/|n/k|wind[\s-](?:turbines?|farm|pump)|o/s|(?:nautical|sea)\smiles?|"
    r"o'clock|au\spair|(?:air|aerial)\s(?:unit|team|crew)s?|as\sfar\sas|rel(?:ative|\.)?\sto|out\sto|half[\s-]?way|"
    r"mid-?way|no[\s-]one|per\s(?:hour|minute|second)|in\svain|close\sto|next\sto|at\s(?:most|least)|let\sdown|"
    r"(?:short|shy|this\sside)\sof|last\s(?:seen|known|heard|sighted|contact)|the\ssame(?:\sdistance)?|back\sto|on\sfoot"
)
UNITS: dict[str, tuple[str, float]] = {}  # word: how it is measured, and metres or minutes
for _words, _how, _size in (
    ("m metre metres meter meters mtr mtrs", "stated", 1.0),
    ("km kms k kilometre kilometres kilometer kilometers klick klicks click clicks", "stated", 1000.0),
    ("yard yards yd yds pace paces step steps", "paced", 0.9144),
    ("foot feet ft", "paced", 0.3048),
    ("mile miles mi mile's", "paced", 1609.0),
    ("cable cables", "paced", 185.2),
    ("nautical-mile nautical-miles sea-mile sea-miles nm nmi", "paced", 1852.0),
    ("furlong furlongs", "paced", 201.2),
    ("verst versts", "paced", 1067.0),
    ("minute minutes min mins minute's", "walked", 1.0),
    ("hour hours hr hrs h hour's", "walked", 60.0),
):
    UNITS |= {_word: (_how, _size) for _word in _words.split()}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: number for number, word in enumerate(_SMALL.split())} | {"oh": 0, "niner": 9}
TENS = {word: 20 + 10 * n for n, word in enumerate(_TENS.split())}
VAGUE = {"few": 3, "several": 4, "couple": 2, "dozen": 12}

# Tags that rules are written in, beside those told by their words here: N number, L distance, D and E direction, T way,
# X other measure (measures.py); O where something counts from, R where something is (places.py); # digits; x and C any
# other word in lower case and with a capital. d e h q v: number words; u z: units; o b: degrees, bearing; a A Z:
# articles, "your";
# Y V H F: the vehicle, its start, flying; s: spot; P Q G B: people, sightings, going, being; f g l W: prepositions and
# "where"; i t: it, there; k j: going on, more or less; n: negation; w: wind; & c m p: and, conjunctions, minus, point.
_TAGS = {
    "d": " ".join(word for word, number in SMALL.items() if number < 10),  # digits in words
    "e": " ".join([*(word for word, number in SMALL.items() if number >= 10), *TENS]),
    "h": "hundred hundreds thousand",
    "q": "half quarter quarters third thirds eighth eighths",
    "v": " ".join(VAGUE),
    "u": " ".join(UNITS),
    "z": "mph kph knots knot kn kts kmh per-hour per-minute per-second",
    "D": "nne ene ese sse ssw wsw wnw nnw ne se sw nw",  # in capitals
    "E": "n e s w de dn",  # directions beside a number, in capitals
    "o": "degree degrees deg degs °",
    "b": "bearing heading hdg azimuth azi az course compass brg bears",
    "a": "a an",
    "A": "the this these those his her their its our my each whole",
    "Z": "your yours",
    "Y": "you you're you'll you've you'd",
    "U": "us here me",
    "V": "drone drones drone's uav uavs uav's uas rpas aircraft quadcopter copter multicopter apparatus "
    "air-unit air-team air-crew aerial-team aerial-unit",
    "H": "take-off takeoff t/o launch launches launched launching liftoff home start starts started starting "
    "deployment deployed deploys staging staged helipad strobe takes-off took-off taken-off taking-off "
    "lift-off lifts-off lifting-off launchpad pad",
    "s": "point pt site position place spot area location base line",
    "F": "fly flies flying flown operate operates operating operated",
    "W": "where which whence",
    "f": "of from fm fr beyond past short-of shy-of this-side-of rel.-to rel-to relative-to",
    "g": "to toward towards into until till as-far-as back-to",
    "l": "at in on by near beside inside under along over across around round with close-to next-to outside within "
    "above below behind between among",
    "i": "it it's",
    "t": "there that that's the-same same",
    "k": "then further farther another again onward onwards thence continued turn turned turns turning continuing "
    "more next additional on",
    "j": "about roughly some perhaps maybe only just due straight back almost nearly approximately approx exactly "
    "dead directly good bare full odd estimated est ca circa probably true magnetic up down out away at-most "
    "at-least most right over so or say something total short long for still",
    "n": "not no never cannot can't couldn't didn't hasn't don't isn't won't nor neither without",
    "w": "wind winds wind's gust gusts gusting breeze gale gales swell storm blowing blows",
    "&": "and plus",
    "c": "when while because but if as than who whom whose since before after until though although unless during",
    "m": "minus",
    "p": "decimal",
    "Q": "seen saw sighted spotted noticed observed heard last-seen last-known last-heard last-sighted last-contact "
    "lkp pls ipp photographed sighting found met disappeared vanished missing",
    "G": "on-foot "
    "walk walks walked walking go goes went gone going heads headed hike hikes hiked hiking follow follows "
    "followed following descend descended descending climb climbs climbed climbing ran running ride rode drive "
    "drove wander wandered wandering strayed crossed crossing ski skied paddled march marched patrolled "
    "trekked moved moving came come comes coming travel travelled travelling crawl crawled drifted swept fell "
    "fall fallen slid making rolled swam rowed stormed trudged jogged fled escaped slipped stumbled limped "
    "ascended ascending drifting parted ran entered roped put sent lead led leads point points pointing "
    "leaving left leave leaves set made makes make took takes take done",
    "P": "he she they him them he's she's they're he'd she'd they'd i i'd i'm i've i'll man men woman women boy "
    "boys girl girls child children hiker hikers walker walkers climber climbers person persons people "
    "casualty casualties victim victims subject subjects lad lads lady gent",
    "B": "is are was were lies lie lying lay stands stood stand be being been sits sat waits wait waiting parked",
}
TAG_OF = {word: tag for tag, words in reversed(list(_TAGS.items())) for word in words.split()}
TERRAIN = word_set(  # "the south beach": the direction is part of a name
    "beach track trail path road ridge camp glacier valley col peak summit summits wall route peninsula shore "
    "coast bay cove cape pier fork wood woods forest lake sea spur gate hut tip bowl couloir gully moor wing "
    "tower entrance pole branch street station farm arete buttress arm channel pond garden coastline quay dock "
    "dunes island pass sector sectors wind breeze gale tracks"
)
SIDED = TERRAIN | word_set(  # and these, of which some are surnames
    "dam weir bridge ford mill church chapel barn park field meadow hill quarter village lock harbour platform exit "
    "fence hedge point"
)

KIN = word_set(  # who is somebody to others, told apart from them in a list: "man, wife, baby"
    "brother sister sibling cousin uncle aunt nephew niece father mother dad mum mom grandfather grandmother grandad "
    "granddad grandma granny nan gran grandchild grandchildren grandson granddaughter grandkid son daughter husband "
    "wife fiance fiancee boyfriend girlfriend partner friend mate flatmate colleague companion relative spouse "
    "grandpa stepson stepdaughter stepfather stepmother godson goddaughter widow widower auntie nana pappa papa mama "
    "baby babies toddler infant child children kid newborn bairn tot"
)
PEOPLE = KIN | word_set(  # singular, plurals where they are irregular
    "people person pax soul individual man men woman women lady gent gentleman gentlemen male female boy girl lad "
    "lass schoolchildren schoolchild schoolboy schoolgirl fella fellow guy bloke chap motorcyclist teen teenager "
    "youth youngster adult pensioner senior hiker walker rambler trekker climber mountaineer alpinist skier "
    "snowboarder boarder tourer runner jogger orienteer racer cyclist biker rider driver motorist passenger pilot "
    "paraglider parachutist jumper sailor kayaker canoeist paddler rower rafter surfer swimmer angler fisherman "
    "fishermen fisher hunter forager picker gatherer birdwatcher birder photographer painter artist geologist "
    "botanist biologist scientist researcher surveyor archaeologist astronomer inspector engineer technician "
    "electrician worker labourer miner farmer shepherd herder ranger guide porter cook teacher instructor student "
    "pupil cadet scout apprentice soldier nurse doctor monk nun pilgrim priest bishop tourist visitor camper "
    "traveller traveler backpacker explorer villager patient resident member crew casualty casualties victim "
    "survivor subject ringer beekeeper postman watchman groom bride musician dancer au-pair warden herr frau mr mrs "
    "ms leader client guest customer owner pers bather retiree skipper deckhand captain mechanic paramedic chef "
    "waiter courier vicar lawyer landlord novice beginner veteran caretaker gamekeeper forester lumberjack "
    "woodcutter trapper prospector collector enthusiast holidaymaker trainee recruit lieutenant sergeant private "
    "navigator co-pilot inmate speleologist glaciologist meteorologist assistant escort caver diver boatman crewman "
    "rancher logger cleric professor observer scrambler boulderer abseiler potholer windsurfer kitesurfer "
    "kiteboarder snorkeller freediver skydiver stroller gardener plumber carpenter builder baker butcher cleaner "
    "clerk accountant manager director mayor judge rabbi imam chaplain missionary writer author poet singer actor "
    "actress comedian sculptor composer drummer piper blogger correspondent nanny babysitter prisoner escapee "
    "runaway refugee migrant hostage tenant lodger hermit nomad octogenarian laddie lassie drover cowboy goatherd "
    "mariner seaman sherpa musher canyoner aviator marshal steward competitor participant athlete foreigner stranger "
    "triathlete footballer employee ad ch"
)
BANDS = {
    "couple": 2, "pair": 2, "twins": 2, "duo": 2, "newlyweds": 2, "honeymooners": 2, "parents": 2, "grandparents": 2,
    "trio": 3, "threesome": 3, "foursome": 4, "quartet": 4,
}  # fmt: skip
HELPERS = word_set(
    "volunteer volunteers witness witnesses rescuer rescuers searcher searchers officer officers policemen "
    "police neighbour neighbours reporter reporters firefighters medics spokesman helpers team teams dog dogs "
    "seats metres km"
)

CATEGORIES = word_set(  # of lost persons whose ways differ from a walker's
    "child children boy girl toddler infant baby schoolchild kid teen teenager youth dementia alzheimer alzheimer's "
    "confused disoriented despondent suicidal depressed autism autistic psychotic schizophrenic schizophrenia drunk "
    "intoxicated skier snowboarder hunter picker forager gatherer angler fisherman cyclist biker rider runner jogger "
    "caver swimmer kayaker canoeist paddler rower surfer sailor diver pilot paraglider parachutist blind deaf diabetic "
    "horse wheelchair"
)
SLOPES = word_set(  # directions that no compass tells
    "uphill downhill upslope downslope upstream downstream upriver downriver inland seaward seawards landward windward "
    "leeward upwind downwind clockwise anticlockwise counterclockwise upvalley downvalley"
)

KIND_WORDS: dict[str, str] = {  # clue kinds in a brief
    "tent": r"tents?|bivouac",
    "backpack": r"back-?packs?|ruck-?sacks?|day-?packs?|packs?",
    "clothing": r"jackets?|clothe[sd]?|clothing|shirts?|trousers|coats?|parkas?|scarf|hats?|gloves?",
    "campfire": r"camp-?fires?|fire-?places?|fires?|ashes|glow|embers|pyre",
    "signal_flare": r"flares?|smoke",
    "light": r"lamps?|head-?lamps?|lanterns?|torch(?:es)?|flash-?lights?|lights",
    "sleeping_bag": r"sleeping[\s-]bags?|quilts?",
    "trekking_pole": r"(?:walking|trekking|hiking)?[\s-]?(?:poles?|sticks?)",
    "water_bottle": r"bottles?|flasks?|canteens?",
    "food_wrapper": r"wrappers?|food|packets?",
    "rope": r"ropes?|cords?",
    "footprints": r"(?:foot|boot)?[\s-]?prints?|foot-?steps|tracks? of|trail of",
}
