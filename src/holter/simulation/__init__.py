"""Made runs with known faults: logs as TRL's trainers would write them, healthy or sick, with the truth beside them.

They measure detectors (how often is a healthy run accused, how late is a fault named) and let people try the tools without a
GPU. Nothing that reads real logs imports this package.
"""
