"""Parameters of an ArduCopter that is set up to be flown by this graph."""

from __future__ import annotations

SAFE = {
    "GUID_TIMEOUT": 1.0, "FS_GCS_ENABLE": 1.0, "FS_THR_ENABLE": 1.0, "FS_OPTIONS": 16.0, "FS_EKF_ACTION": 1.0,
    "FS_EKF_THRESH": 0.8, "BATT_FS_LOW_ACT": 2.0, "BATT_FS_CRT_ACT": 1.0, "BATT_LOW_VOLT": 14.0, "BATT_CRT_VOLT": 13.2,
    "BATT_MONITOR": 4.0, "FENCE_ENABLE": 1.0, "FENCE_ACTION": 1.0, "RTL_ALT": 4000.0, "DISARM_DELAY": 10.0,
    "GUID_OPTIONS": 0.0, "ARMING_CHECK": 1.0,
}  # fmt: skip
