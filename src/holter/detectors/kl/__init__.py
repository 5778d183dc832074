"""Vital sign: distance from the reference policy. Codes HLT200-299."""
