-- How an authorization ended that granted nothing, so that the page that waits for it can say so. Null: it has not ended. One
-- that granted access is deleted.
alter table authorizations add column outcome text constraint authorizations_outcome check (outcome in ('declined', 'failed'));
