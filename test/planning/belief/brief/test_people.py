"""The missing are counted and named, in words of many kinds."""

from __future__ import annotations

import pytest

from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.people import names_in
from esar_ros.planning.belief.brief.tokens import sentences

COUNTED = (
    (3, "Three men in a van have not been seen since Tuesday. The van was found at the pass."),
    (1, "An elderly woman with dementia has wandered off from a care home."),
    (2, "A mother and her six-year-old daughter got lost while picking berries."),
    (4, "Parents and two kids missing. Left the car at 10."),
    (1, "Missing person is a 56-year-old hunter. His two companions are safe in camp."),
    (2, "Of the four kayakers, two made it to shore. The others have not been seen."),
    (1, "Four climbers were on the wall; three have been winched off, one is still up there."),
    (2, "Tom Baker, 41, and his son Jack, 12, didn't come down last night."),
    (1, "Mr Hale, a retired teacher, went for a walk with his dog and hasn't come home."),
    (2, "He went out with his brother to check the nets. Neither has come back."),
    (2, "2 x casualties, one walking, one not."),
    (3, "POB 3. Small aircraft down, wreck found empty."),
    (1, "Solo hiker, female, 29, red tent."),
    (5, "A guide with four clients is overdue from the glacier."),
    (2, "My wife and I got separated from our friends Paul and Rita. Please find them, they have no phone."),
    (2, "Persons missing: Anders Holm (54), Birgit Holm (51)"),
    (2, "The twins are eleven. They ran off after a quarrel."),
    (3, "Looking for 3: father 45, daughter 15, son 13."),
    (1, "Number of missing: one. Age 70."),
    (12, "A dozen scouts have lost their way in the fog."),
    (2, "Anna rang at six: she and Karl had lost the path."),
    (4, "Ruth, Sam, Ida and old Ned went up for the sheep and are not back."),
    (1, "The dog came home alone. Its owner, a man of 60, did not."),
    (5, "There were seven in the group. Two are in hospital. The other five have not been found."),
    (8, "8 missing after a bus left the road."),
    (1, "M/72, hypertension, mushroom picker."),
    (2, "1 adult + 1 child, overdue since 18:00"),
    (1, "Eight freeriders triggered a slab. Seven are accounted for."),
    (3, "The trio had planned to bivouac."),
    (2, "Neither Lena nor Olga has answered her phone."),
    (3, "SUBJECT COUNT 3"),
    (2, "Two of my three sons are still on the mountain; the eldest is here."),
    (8, "Party of 8 (1 guide + 7 clients)"),
    (1, "Nine of the ten runners have finished."),
    (2, "PERSONS: 4. RECOVERED: 2. OUTSTANDING: 2"),
    (4, "Mother, father, son (8), baby."),
)  # fmt: skip
COMPANIONS = (
    (2, "Priya and her cousin are overdue."),
    (3, "Tom and two others are missing."),
    (4, "Ingrid, her two sons and a neighbour's boy are lost in the forest."),
    (3, "Missing since dawn: Ravi, his father and an uncle."),
    (2, "Ann, a nurse, and her son are missing."),
)
WENT_WITH = (
    (3, "He is with his wife and daughter."),
    (2, "Sven set out with his brother on Monday."),
)
LIKEWISE = (
    (2, "Wu is missing, and so is Chen."),
    (2, "Amara has not returned, nor has Kofi."),
    (3, "Hassan is overdue, as are his two sons."),
)
SPELLED_OUT = (
    (2, "Two hikers, Ann and her brother, left the hut at noon."),
    (3, "Three climbers, Jin and his two sons, are overdue."),
    (4, "A family of four, Raj, his wife and two daughters, is lost."),
    (3, "Two brothers, Omar and Said, and their cousin are missing."),
    (3, "Three tourists, Mr Sato, his wife and a guide, hired a canoe."),
)
CAME_BACK = (
    (2, "Four went up: Kim, Lee, Han and Park. Kim and Han got back at dusk."),
    (1, "Ann and Bob set out. Bob has returned."),
)
BESIDE_OTHERS = (  # those who are missing beside somebody spoken of before
    (1, "Dad's been gone since noon. Mum went after him and came back at four."),
    (2, "Me and Dave came down, but Steve and Rashid didn't want to."),
    (5, "PERSONS MISSING: 5\nPERSONS RECOVERED: 3\nTOTAL IN PARTY: 8"),
    (4, "Twenty of the 24 pupils found their way to the road; four, all girls of 13, were still out at nightfall."),
    (2, "I count six in the book and four at the table. So two."),
)
AGES = (
    (3, "Missing: man 44, wife 40, son 8"),
    (1, "Anna 41 is missing. Anna went north."),
    (2, "Twins of eleven are missing from the camp."),
    (1, "A boy of nine is lost."),
    (13, "A dozen pupils and a teacher are missing."),
    (2, "A mother of three and her sister are missing."),
)
NOT_SOUGHT = (
    (1, "I've told this to four people already. My son is nineteen."),
    (1, "Ann is missing. Her husband is at the hut with two friends."),
    (1, "Ravi is missing. His wife spoke with two rescuers."),
    (1, "Kofi went up with two colleagues, who are safe."),
    (1, "Kofi went up with two colleagues until noon, when they turned back."),
    (2, "Two hikers left the hut. The warden came back at noon without having seen them."),
    (2, "Two skiers are missing; Maria Lund and her brother saw them at the lift."),
    (3, "Three hikers are missing. Mrs Falk is with us and well."),
    (1, "A pilot is missing. Two helicopters and four rescuers with two dogs are on the way."),
    (1, "A woman is missing. Her two sons were found at the ford and are well."),
    (1, "A man of 71, missing since six. A party of eight is looking for him."),
    (1, "The missing hiker is Wu, a man who went up with two friends."),
    (1, "Police and two volunteers search for a hiker."),
    (1, "A father of two is missing."),
    (1, "Lost: boy, 6.\nInformant: Rosa, his daughter."),
    (1, "He went with two friends; they turned back."),
    (2, "A helicopter with two rescuers looks for Ana and Ben."),
)
FORMS = (
    (1, "Name: Berg, Nils\nAge: 40"),
    (2, "SUBJECTS: BERG Nils (50), BERG Mia (48)"),
    (2, "Names: Berg, Nils; Berg, Ole"),
    (2, "SUBJECTS: Nils Berg (50), Mia Berg (48)\nNOT MISSING: Ole Berg (20)"),
    (3, "2 ad, 1 ch, 1 dog. Beach."),
    (3, "Raft, 3 POB, no paddle."),
)
REMAINDERS = (
    (2, "We had three. Grandmother is safe. So it's the two kids now, boy and girl."),
    (5, "Two of the seven scouts who had lost their way were picked up by a bus."),
    (1, "Pan, the last of the three students, is still missing."),
    (4, "Neither the pilot nor his three passengers have been heard of."),
    (3, "Search for up to three persons."),
)
LISTED = (
    (2, "A man and a woman are reported missing."),
    (3, "I look for my employees, Mr. Sato, Mr. Lim and Ms. Novak."),
    (2, "Han, in a yellow suit, and Erik, in an orange one, are missing."),
    (3, "They are held by the storm: Marek in a green suit, Ivy in a purple one, Hannes in an orange one."),
    (
        2,
        "Peng (white jacket) has been missing for days; Xiao (black jacket), who looks for him, has not reported back.",
    ),
    (2, "Missing: He Bin (orange) and Ou (navy)."),
    (3, "My flatmate Mei, pink jacket, is out there with Jun (white) and Pan (teal)."),
    (2, "Missing again: Hannes. Missing still: Marek."),
    (1, "Out of petrol. A man and his car are in the dunes, and the man is missing."),
    (2, "Two paddleboarders, female, are drifting."),
    (1, "A father did not come home. He has a stick and a bag with him."),
    (2, "Two climbers, one with a head injury, the other is sitting with him."),
    (1, "Mei and Jun were taken off by boat. Pan is missing."),
    (4, "We were six, so that leaves Jan, his sister, and the two girls."),
    (2, "Group total: 5\nOf these returned: 2 (hut)\nOf these found: 1\nOutstanding: rest"),
    (1, "Rider: Aslak, 28    Passenger: none\nReg: LN 44    Colour: black"),
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        *COUNTED, *COMPANIONS, *WENT_WITH, *LIKEWISE, *SPELLED_OUT, *CAME_BACK, *BESIDE_OTHERS, *AGES, *NOT_SOUGHT,
        *FORMS, *REMAINDERS, *LISTED,
    ],
)  # fmt: skip
def test_the_missing_are_counted(count: int, text: str) -> None:
    assert parse_brief(text).victims == count


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tom Baker, 41, and his son Jack, 12, are overdue.", ("Jack",)),
        ("Ruth, Sam, Ida and old Ned went up for the sheep.", ("Ruth", "Sam", "Ida", "Ned")),
        ("Kowalski (71), Nowak (68) and Novotna (70) are overdue.", ("Kowalski", "Nowak", "Novotna")),
        ("On Monday the party left Hotel Post for the North Ridge.", ()),
        ("Tom and two others are missing.", ("Tom",)),
        ("Kwame went up with his wife.", ("Kwame",)),
        ("Sector 3 was done by Bergwacht. Bergwacht returned, and went again.", ()),
        ("Camping there with two friends, he was lost. Contact with his wife ceased.", ()),
        ("", ()),
    ],
)
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert names_in(sentences(text)) == names
