-- A connection is looked up by its account and its identifier at once: one of another account is not found in the index, as if
-- it did not exist. By the identifier alone its row was read first, and an answer took measurably longer.
create index connections_of_account_by_id on connections (account_id, id) where not account_deleted;
