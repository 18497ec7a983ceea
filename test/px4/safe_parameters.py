"""Parameters of a vehicle that is set up as it should be."""

from __future__ import annotations

SAFE: dict[str, float] = {
    "COM_OBL_RC_ACT": 5, "COM_OF_LOSS_T": 1.0, "COM_FAIL_ACT_T": 5.0, "NAV_RCL_ACT": 2, "COM_RCL_EXCEPT": 0,
    "COM_RC_OVERRIDE": 1, "NAV_DLL_ACT": 0, "COM_LOW_BAT_ACT": 3, "GF_ACTION": 3, "GF_MAX_HOR_DIST": 300.0,
    "GF_MAX_VER_DIST": 120.0, "RTL_RETURN_ALT": 60.0, "COM_DISARM_LAND": 2.0, "COM_DISARM_PRFLT": 10.0,
    "COM_MODE_ARM_CHK": 1, "UXRCE_DDS_SYNCT": 1,
}  # fmt: skip
