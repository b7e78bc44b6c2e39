"""From a request to an answer: the plan, the run with its budget and folder, the selection. For `fewer.select`."""
