"""From tensors to rows: folded over micro-batches and processes, with one look at the device a logged step."""
