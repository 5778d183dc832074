"""Where trackers keep their runs: the databases of Trackio, MLflow, Aim and SwanLab, and MLflow's folders."""
