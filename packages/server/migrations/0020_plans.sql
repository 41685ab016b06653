-- The plan of a source for all readers of a transfer, sealed: which files there were.

alter table transfers add column plan_sealed bytea;
