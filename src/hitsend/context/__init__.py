"""What a model is shown besides the question, and what of it when there is little room.

`history` is what was said, `stretches` which summaries stand for the older part, `notes` what is
put in front of a question, and `window` what gives way. Step 2 puts them together.
"""
