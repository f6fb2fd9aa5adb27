"""A calculator with exact numbers and units: `parse.work_out` reads an expression, and
`answer.write_answer` writes its result."""
