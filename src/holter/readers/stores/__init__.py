"""Where trackers keep their runs: the databases of Trackio and MLflow, and MLflow's folders."""
