"""Tables: views of an experiment's metrics, with the published numbers beside ours."""
