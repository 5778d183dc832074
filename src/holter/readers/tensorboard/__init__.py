"""TensorBoard event files, read with numpy alone: no TensorBoard, no TensorFlow, no protocol-buffer library.

`framing` finds the records, `wire`, `tensor` and `event` say what one means, `template` reads whole steps at once, `stream`
parses bytes as they arrive, `rows` makes a table of what came out, and `reader` is the way in.
"""
