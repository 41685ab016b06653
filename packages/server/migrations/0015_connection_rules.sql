-- Rules of connections that judge their transfers. A transfer takes a copy of them when it is requested, in whichever process.

create table connection_rules (
  connection_id text not null,
  rules jsonb not null,
  blackout jsonb,
  constraint connection_rules_pkey primary key (connection_id),
  constraint connection_rules_connection foreign key (connection_id) references connections(id) on delete cascade
);

alter table transfers add column rules jsonb, add column rule_results jsonb;

create function take_rules() returns trigger language plpgsql as $$
begin
  new.rules := (select nullif(rules, '[]') from connection_rules where connection_id = new.connection_id);
  return new;
end $$;
-- The records of a replay were judged with the transfer that rejected them.
create trigger transfers_take_rules before insert on transfers
  for each row when (new.trigger <> 'replay') execute function take_rules();

create function rules_in_words(held connection_rules) returns text language sql immutable as $$
  select nullif(concat_ws(', ', string_agg(concat_ws(' ', rule ->> 'action', rule ->> 'check', rule ->> 'column'), ', ' order by place),
    case when held.blackout is not null then 'blackout' end), '')
  from jsonb_array_elements(held.rules) with ordinality as listed (rule, place);
$$;

create function record_changed_rules() returns trigger language plpgsql as $$
declare
  connection text := coalesce(new.connection_id, old.connection_id);
begin
  perform from connections where id = connection for no key update;
  -- Rules also go with their connection, which has no history any more.
  if not found then return null; end if;
  perform add_connection_event(
    connection,
    'rules',
    case when tg_op <> 'INSERT' then rules_in_words(old) end,
    case when tg_op <> 'DELETE' then rules_in_words(new) end,
    null
  );
  return null;
end $$;
create trigger connection_rules_record_changed after update of rules, blackout on connection_rules
  for each row when (old.rules is distinct from new.rules or old.blackout is distinct from new.blackout) execute function record_changed_rules();
create trigger connection_rules_record_set after insert or delete on connection_rules
  for each row execute function record_changed_rules();

create function emit_rules_broken() returns trigger language plpgsql as $$
declare
  broken jsonb := (
    select jsonb_agg(result - 'outcome' order by place)
    from jsonb_array_elements(new.rule_results) with ordinality as listed (result, place)
    where result ->> 'outcome' = 'broken' and result ->> 'action' <> 'record'
  );
begin
  if broken is not null then
    perform emit_event('transfer.rules_broken', new.organization_id, new.account_id, new.connection_id,
      json_build_object('transferId', new.id, 'status', new.status, 'rules', broken));
  end if;
  return null;
end $$;
create trigger transfers_emit_rules_broken after update of status on transfers
  for each row
  when (new.rule_results is not null and new.test_rows is null
  and old.status in ('queued', 'running') and new.status not in ('queued', 'running'))
  execute function emit_rules_broken();
