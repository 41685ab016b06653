-- Transfers that read a range of their source, beside the cursor of the connection.

alter table transfers add column backfill jsonb;
