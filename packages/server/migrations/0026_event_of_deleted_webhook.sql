-- A webhook that is deleted at the same time takes no delivery: its row is taken first, where the foreign key would have failed
-- the write that the event is about.
create or replace function emit_event(event_type text, organization text, account text, connection text, event_data json)
  returns text language plpgsql as $$
declare
  event text;
begin
  if not exists (
    select from webhooks where organization_id = organization and enabled
      and coalesce(account_id, '') in ('', account) and (event_types is null or event_type = any (event_types))
  ) then
    return null;
  end if;
  event := new_identifier();
  insert into events (id, organization_id, type, payload)
  values (event, organization, event_type, json_build_object(
    'type', event_type, 'timestamp', floor(extract(epoch from clock_timestamp()))::bigint,
    'organizationId', organization, 'accountId', account, 'connectionId', connection, 'data', event_data)::text);
  insert into webhook_deliveries (id, webhook_id, event_id, ordering_key)
  select new_identifier(), id, event, coalesce(connection, account, '') from webhooks
  where organization_id = organization and enabled
    and coalesce(account_id, '') in ('', account) and (event_types is null or event_type = any (event_types))
  for key share;
  return event;
end $$;
