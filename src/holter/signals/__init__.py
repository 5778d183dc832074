"""What is measured: one declaration a metric."""
