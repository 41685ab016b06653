-- The trace that a transfer belongs to, as W3C traceparent, so that the worker that claims it continues the trace of the request
-- that started it. Null where tracing was off, and for what a schedule started.
alter table transfers add column traceparent text;
