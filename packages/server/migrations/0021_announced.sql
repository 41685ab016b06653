-- The batch that may be delivered before it is confirmed: its key and the place behind it, sealed, so that it comes again as the same one though
-- rows of the source are gone or new.

alter table transfers add column announced_sealed bytea;
alter table transfer_parts add column announced_sealed bytea;

create or replace function drop_left_parts() returns trigger language plpgsql as $$
begin
  update transfer_parts set key_sealed = null, checkpoint_sealed = null, pending = null, announced_sealed = null
  where transfer_id = new.id and coalesce(key_sealed, checkpoint_sealed) is not null;
  if new.rejected = 0 then new.data_key_id := null; end if;
  return new;
end $$;
