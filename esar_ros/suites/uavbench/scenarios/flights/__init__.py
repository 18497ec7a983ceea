"""Flights of scenarios: pilot and governor over level ground (`flight`), judged by truth (`outcome`) and compared with
the risk that rules predict (`agreement`)."""
