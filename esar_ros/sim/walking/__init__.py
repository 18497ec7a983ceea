"""A person on foot in a World: body, eye, ways, and the stage of a rescue.

`walker` moves by `WalkAction`s; `first_person` draws what it sees; `walkable` finds where one can walk and the shortest
way; `stage` puts victim, stretcher, ambulance and doors there. Places for it: `sim/terrain/rescue_places`.
"""
