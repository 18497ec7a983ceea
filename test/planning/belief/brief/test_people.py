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
    (4, "A family of four, two adults and two children, has failed to return from a hike."),
    (1, "Missing person is a 56-year-old hunter. His two companions are safe in camp."),
    (2, "Of the four kayakers, two made it to shore. The others have not been seen."),
    (1, "Four climbers were on the wall; three have been winched off, one is still up there."),
    (2, "Tom Baker, 41, and his son Jack, 12, didn't come down last night."),
    (1, "Mr Hale, a retired teacher, went for a walk with his dog and hasn't come home."),
    (6, "Six pax, all adults, overdue."),
    (1, "One casualty, conscious and breathing, leg injury."),
    (2, "2 x casualties, one walking, one not."),
    (3, "POB 3. Small aircraft down, wreck found empty."),
    (1, "Solo hiker, female, 29, red tent."),
    (3, "My sister, her husband and their baby are out there somewhere."),
    (2, "My wife and I got separated from our friends Paul and Rita. Please find them, they have no phone."),
    (7, "A school class is out: six pupils and one teacher have not reached the hostel."),
    (1, "Subject is Peter, 8 years old, wearing a yellow raincoat. His parents last saw him at 3 pm."),
    (2, "The twins are eleven. They ran off after a quarrel."),
    (1, "A paraglider went down behind the ridge. Two witnesses saw his canopy collapse."),
    (4, "Two couples on snowshoes never reached the hut."),
    (3, "Looking for 3: father 45, daughter 15, son 13."),
    (2, "Victims: 2. Injuries: unknown."),
    (1, "Number of missing: one. Age 70."),
    (12, "A dozen scouts have lost their way in the fog."),
    (2, "Anna rang at six: she and Karl had lost the path."),
    (1, "The pilot ejected; his chute was seen to open."),
    (3, "A man and two women were swept off the causeway."),
    (2, "A honeymoon pair from Spain is overdue."),
    (4, "Ruth, Sam, Ida and old Ned went up for the sheep and are not back."),
    (1, "The dog came home alone. Its owner, a man of 60, did not."),
    (3, "Crew of three abandoned their boat and swam for the island."),
    (5, "There were seven in the group. Two are in hospital. The other five have not been found."),
    (1, "Casualty x1. Ankle. Cannot walk."),
    (2, "I left my friends Sue and Beth by the waterfall, Sue can't walk any more."),
    (1, "My boy is lost. He is nine, his name is Ole, and his sister is here with me."),
    (2, "It's my mum and dad. They're both seventy."),
    (8, "8 missing after a bus left the road."),
    (1, "M/72, hypertension, mushroom picker."),
    (3, "Alert: 3 pers., 1 injured."),
    (2, "Kim and her boyfriend wanted to see the sunrise from the top."),
    (1, "A climber fell. His partner, who is with us, held the rope and climbed down."),
    (3, "The shepherd, his wife and their herd boy did not come down with the flock."),
    (2, "Search for a 38-year-old man and his 10-year-old son continued on Sunday."),
    (1, "The 19-year-old student was reported missing by her flatmates on Friday."),
    (4, "Four hikers, among them a girl of 12, were surprised by snow."),
    (2, "Last contact with the two-man survey team was at 0900."),
    (1, "Police look for Marta K., 33, who left a clinic."),
    (2, "Rescuers were called out on Friday evening for two ice climbers stuck on a ledge."),
    (1, "We are looking for Harald Lien, 63, who did not return from a fishing trip."),
    (1, "Mountain rescue, we've a single male, late thirties, slipped on wet rock."),
    (2, "Uncle Joe and cousin Mick went hunting."),
    (5, "group of five teenagers, no adults"),
    (1, "child 4yo, last seen by mother"),
    (1, "A ranger's truck was found, doors open, the ranger gone."),
    (1, "Eight freeriders triggered a slab. Seven are accounted for."),
    (2, "A lorry driver and his mate left the cab in the storm."),
    (3, "The trio had planned to bivouac."),
    (1, "Person is a female hiker."),
    (1, "Rider thrown; the horse returned to the stable without him."),
    (4, "He, his wife and two friends hired a boat."),
    (1, "The diver surfaced far from the boat. Her buddy was picked up."),
    (1, "The body of one climber was recovered; his companion remains missing."),
    (1, "It's our neighbour, Mrs Olsen. She's ninety and she wanders."),
    (2, "Male and female, mid 20s, no rope."),
    (5, "Two families, five people altogether, failed to meet the bus."),
    (2, "Two of my three sons are still on the mountain; the eldest is here."),
    (2, "Missing are a shepherd (50) and his nephew (17)."),
    (6, "A minibus carrying six tourists has slid off the road."),
    (1, "My best mate Gary has had a fall."),
    (2, "casualties - two - both adult male"),
    (4, "There are four of us up here and we can't see a thing."),
    (1, "The surveyor's colleague reported at noon that he had not come to the meeting point."),
    (2, "Two persons in the water, one raft."),
    (8, "Party of 8 (1 guide + 7 clients)"),
    (1, "Lost: boy, 6, blue cap."),
    (2, "Bride and groom went for photographs on the cliff."),
    (2, "Skier and snowboarder, separate reports, same gully."),
    (2, "A nurse and the patient she was escorting haven't arrived."),
    (4, "It was supposed to be three couples but one couple cancelled, so four people went up."),
    (3, "There's Dad, there's me big brother and there's the dog walker, three of them."),
    (5, "3 adults and 2 kids in a white camper van"),
    (2, "Both parents of the girl who called are missing."),
    (8, "Eight souls on board, none seen since."),
    (1, "I've got two dogs and one husband, and the husband is missing."),
    (3, "An uncle and his two nephews went for wood."),
    (2, "Ranger: 'I had them at the stream, two of them, arguing about the map.'"),
    (2, "The postman and the boy who helps him."),
)  # fmt: skip
COMPANIONS = (
    (2, "Priya and her cousin are overdue."),
    (3, "Xiulan, 61, her husband and their grandson went to gather herbs."),
    (3, "Missing since dawn: Ravi, his father and an uncle."),
    (2, "Ann, a nurse, and her son are missing."),
)
WENT_WITH = (
    (3, "Ann went up with two colleagues."),
    (2, "Mwangi climbed the north ridge with a friend."),
    (2, "Leila is missing with her little son."),
    (4, "A teacher went into the cave with three pupils."),
)
LIKEWISE = ()
SPELLED_OUT = (
    (2, "Two hikers, Ann and her brother, left the hut at noon."),
    (3, "Three climbers, Jin and his two sons, are overdue."),
    (2, "Two students, a boy and a girl, are missing."),
    (4, "A family of four, Raj, his wife and two daughters, is lost."),
    (3, "Three anglers, a man and his two sons, did not come home."),
    (2, "A couple, Elif and her husband, were surprised by the storm."),
    (4, "Four botanists, Ana, Luis and two students, left the station."),
    (2, "The pair, Nadia and her boyfriend, went for a walk."),
    (5, "Two women, two men and a child are missing."),
    (3, "Three tourists, Mr Sato, his wife and a guide, hired a canoe."),
)
CAME_BACK = (
    (1, "Sven set out with his brother. His brother came back at noon."),
    (1, "Ann and Bob set out. Bob has returned."),
    (3, "Five walkers left the car park. Two of them came down at noon."),
    (4, "Seven skiers went up; three of them are back."),
    (1, "Two climbers set off. One of them got down at dusk."),
)
BESIDE_OTHERS = (  # those who are missing beside somebody spoken of before
    (1, "Dad's been gone since noon. Mum went after him and came back at four."),
    (1, "Missing person: Wu, a man, 34."),
    (2, "Missing: Wu, a cook, and Li, a waiter."),
    (2, "Me and Dave came down, but Steve and Rashid didn't want to."),
    (5, "PERSONS MISSING: 5\nPERSONS RECOVERED: 3\nTOTAL IN PARTY: 8"),
    (2, "VESSEL: rubber dinghy\nPOB: 2"),
    (2, "I count six in the book and four at the table. So two."),
)
AGES = (
    (2, "Two boys aged ten and twelve are missing."),
    (2, "A man of 60 and a woman of 58 are overdue."),
    (13, "A dozen scouts and their leader."),
    (13, "A dozen pupils and a teacher are missing."),
    (14, "A dozen cadets and their two instructors have not come back."),
    (3, "Two women and a man, all in their thirties, are missing."),
)
NOT_SOUGHT = (
    (1, "My nephew followed him a bit and then he turned round."),
    (1, "Ann is missing. Her husband is at the hut with two friends."),
    (1, "Ravi is missing. His wife spoke with two rescuers."),
    (1, "Sven is lost. He has been in contact with his wife."),
    (1, "She left a note with the warden."),
    (1, "Kofi went up with two colleagues, who are safe."),
    (2, "Two hikers left the hut. The warden came back at noon without having seen them."),
    (1, "A climber is missing. The leader went up with two rescuers at noon."),
    (2, "Two skiers are missing; Maria Lund and her brother saw them at the lift."),
    (1, "Mei is missing, and her brother called the police."),
    (1, "Lena is missing. Tom and two others searched the wood in vain."),
    (1, "Omar, 12, is missing; his teacher returned with the class."),
    (3, "Three hikers are missing. Mrs Falk is with us and well."),
    (1, "Nadia is missing. Contact with her brother was lost at noon."),
    (1, "A pilot is missing. Two helicopters and four rescuers with two dogs are on the way."),
    (1, "Ito was last heard at 14:00. Twelve volunteers and their leader looked for him."),
    (1, "Jorge is missing, so his wife called us."),
    (1, "Elif is missing, as was feared. Her brother is here with me."),
    (2, "Two climbers are overdue. Apparently, their friends are at the hut."),
    (1, "A woman is missing. Her two sons were found at the ford and are well."),
    (2, "The missing are two brothers, ten and twelve."),
    (1, "Aisha has a broken leg and is with a rescuer."),
    (1, "Rain and two hours of fog. One skier is overdue."),
    (1, "The missing hiker is Wu, a man who went up with two friends."),
    (1, "A man of forty is missing with a broken leg."),
    (1, "Sven was travelling with a dog and a red rucksack."),
    (1, "Police and two volunteers search for a hiker."),
    (1, "Ewa is missing. She rowed to the island with her brother, who came back."),
    (1, "Lost: boy, 6.\nInformant: Rosa, his daughter."),
    (1, "A hiker is overdue. Rosa and two other witnesses saw him."),
    (1, "We were four; my sister is lost."),
    (2, "A helicopter with two rescuers looks for Ana and Ben."),
)
FORMS = (
    (1, "Name: Berg, Nils\nAge: 40"),
    (1, "Subject: boy, 8\nReported by: mother, her sister, and a friend"),
    (3, "Raft, 3 POB, no paddle."),
)
REMAINDERS = (
    (2, "We had three. Grandmother is safe. So it's the two kids now, boy and girl."),
    (2, "A party of eight. The last two were seen at the lake."),
    (4, "Neither the pilot nor his three passengers have been heard of."),
    (3, "Search for up to three persons."),
)
LISTED = (
    (2, "The search is for a kayaker and his guest, a girl of five."),
    (2, "A man and a woman are reported missing."),
    (3, "They are held by the storm: Marek in a green suit, Ivy in a purple one, Hannes in an orange one."),
    (2, "Missing again: Hannes. Missing still: Marek."),
    (1, "Out of petrol. A man and his car are in the dunes, and the man is missing."),
    (2, "Two paddleboarders, female, are drifting."),
    (1, "A father did not come home. He has a stick and a bag with him."),
    (2, "Two climbers, one with a head injury, the other is sitting with him."),
    (1, "Mei and Jun were taken off by boat. Pan is missing."),
    (2, "A Danish climber and his guide, Jon Berg, 26, have been untraceable since Monday."),
    (4, "We were six, so that leaves Jan, his sister, and the two girls."),
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
        ("Kwame went up with his wife.", ("Kwame",)),
        ("Camping there with two friends, he was lost. Contact with his wife ceased.", ()),
        ("", ()),
    ],
)
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert names_in(sentences(text)) == names
