"""Facts measured on PX4 1.17 in SITL, which the fake autopilot keeps to: its modes' numbers, times and distances."""

from __future__ import annotations

import math

MANUAL, HOLD, RTL, DESCEND, TERMINATION, OFFBOARD, TAKE_OFF, LAND = 0, 4, 5, 12, 13, 14, 17, 18
TICK = 0.01  # s
VELOCITY_TAU = 1.1  # s, with which it follows a velocity
REVERSING = 0.3  # m/s: against a faster motion it brakes first, so that 63 % of a reversal take up to 2.8 s
FOLLOWED = 0.88  # share of a velocity that it has come to in some seconds; the rest takes longer
CREEP, CREEP_FOR = 0.1, 2.0  # m/s and s, that a stop goes on for
STANDS = 0.3  # m/s, from where hold keeps a place: it brakes first, and does not fly back
ESTIMATE, ESTIMATE_TIME = 0.1, 10.0  # m, standard deviation an axis, and s, of the estimated position's error
VELOCITY, VELOCITY_TIME = 0.2, 2.5  # m/s and s, likewise of the estimated velocity; it states no more than EVH and EVV
EVH, EVV = 0.13, 0.07  # m/s
HOME_WANDERS, HOME_TIME = 3.0, 60.0  # m, to either side, and s of the altitude that it reports of home
SIGNAL_LOST = 1.0  # s without a heartbeat
SIGNAL_GAP = 0.5  # s, 2 Hz
SIGNAL_PROOF = 1.0  # s of heartbeats before offboard is granted
REENTRY = 0.08  # s from the first heartbeat after a loss to offboard
ACK_DELAY = 0.015  # s
AGENT_RESTART = 9.4  # s
OLD_STAMP = 2.0  # s
OVERRIDE = 0.2  # s, how long a set-point counts in modes that are not offboard
AUTO_DISARM = 2.0  # s on the ground after a flight
AUTO_DISARM_UNFLOWN = 10.0  # s
ALIGN_HEIGHT = 1.5  # m above the ground, where the heading is aligned anew, after every take-off
GROUND_YAW_ERROR = 0.03  # rad, of the estimate until then
HEADING_VARIANCE = 0.018  # rad^2
HOLD_FIRST = 5.0  # s, COM_FAIL_ACT_T: it stands before most failsafes act
# What may be lost in flight: s until it is noticed, until it stands in hold, and until the mode is taken.
LOSSES = {
    "remote control": (0.72, 0.72, 0.72 + HOLD_FIRST, RTL),  # NAV_RCL_ACT 2
    "charge": (0.0, 0.0, HOLD_FIRST, RTL),  # critical, COM_LOW_BAT_ACT 3
    "satellites": (4.0, math.inf, 9.0, DESCEND),
    "fence": (0.0, 0.0, math.inf, HOLD),  # PX4's own, GF_ACTION 2; where it flew offboard it returns a second later
    # NAV_DLL_ACT 2 and COM_DL_LOSS_T 10, not measured: by its documentation
    "ground station": (10.0, 10.0, 10.0 + HOLD_FIRST, RTL),
}
PERIODS = {
    "VehicleOdometry": 0.01,
    "VehicleLocalPosition": 0.02,
    "VehicleStatus": 0.5,
    "FailsafeFlags": 0.5,
    "VehicleLandDetected": 1.0,
    "BatteryStatus": 1.0,
    "TimesyncStatus": 1.0,
    "HomePosition": 0.5,  # from arming on
}
MAIN_AUTO, MAIN_OFFBOARD = 4, 6
SUB_MODES = {2: TAKE_OFF, 3: HOLD, 5: RTL, 6: LAND}
OK, REJECTED, DENIED, UNSUPPORTED = 0, 1, 2, 3
# Of external modes; the names of 1.17's first slot.
EXTERNAL, CHECK_ID = 23, 0
CHECK_PERIOD = 0.3  # s
CHECK_LOST = 1.5  # s without an answer: 1.2 to 1.5 after its node has died
