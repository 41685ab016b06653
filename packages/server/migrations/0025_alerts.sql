-- Alerts: rules, what they found, and the messages about it. Triggers say which connections are to be looked at, in the
-- transaction of the change, so that no writer can forget to: a transfer ends in several places.
create table alert_rules (
  id text not null,
  organization_id text not null,
  account_id text,
  name text not null,
  connection_ids text[],
  enabled boolean,
  transfer_failed boolean not null,
  connection_broken boolean not null,
  rejected_percent double precision,
  no_success_hours integer,
  volume_percent integer,
  emails text[] not null,
  email_roles text[] not null,
  data_key_id text,
  slack_sealed bytea,
  teams_sealed bytea,
  muted_until timestamptz,
  message_budget double precision default 6 not null,
  message_time timestamptz default now() not null,
  delivery_error jsonb,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint alert_rules_pkey primary key (id),
  constraint alert_rules_organization foreign key (organization_id) references organizations(id),
  constraint alert_rules_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint alert_rules_data_key foreign key (data_key_id) references data_keys(id)
);
create index alert_rules_of_organization on alert_rules (organization_id, created_time desc, id desc);
create index alert_rules_covering on alert_rules (organization_id, coalesce(account_id, ''));
create index alert_rules_of_account on alert_rules (account_id, created_time desc, id desc);
create index alert_rules_by_data_key on alert_rules (data_key_id) where data_key_id is not null;
create index alert_rules_no_success on alert_rules (organization_id) where no_success_hours is not null;
create index alert_rules_volume on alert_rules (organization_id) where volume_percent is not null;

create table alert_incidents (
  id text not null,
  rule_id text not null,
  rule_account_id text,
  organization_id text not null,
  account_id text not null,
  connection_id text not null,
  reasons text[] not null,
  transfer_id text,
  error_code text,
  error_side text,
  opened_time timestamptz not null,
  resolved_time timestamptz,
  resolution text,
  acknowledged_time timestamptz,
  acknowledged_by jsonb,
  pending text,
  constraint alert_incidents_pkey primary key (id),
  constraint alert_incidents_resolution check (resolution in ('recovered', 'stopped', 'rule_changed')),
  constraint alert_incidents_resolved check ((resolved_time is null) = (resolution is null)),
  constraint alert_incidents_pending check (pending in ('opened', 'resolved')),
  constraint alert_incidents_rule foreign key (rule_id) references alert_rules(id) on delete cascade,
  constraint alert_incidents_connection foreign key (connection_id) references connections(id) on delete cascade
);
create unique index alert_incidents_open on alert_incidents (rule_id, connection_id) where resolved_time is null;
create index alert_incidents_open_of_connection on alert_incidents (connection_id) where resolved_time is null;
create index alert_incidents_of_connection on alert_incidents (connection_id);
create index alert_incidents_of_rule
  on alert_incidents (rule_id, (resolved_time is not null), opened_time desc, id desc);
create index alert_incidents_of_organization
  on alert_incidents (organization_id, (resolved_time is not null), opened_time desc, id desc);
create index alert_incidents_of_account
  on alert_incidents (account_id, (resolved_time is not null), opened_time desc, id desc);
create index alert_incidents_pending on alert_incidents (rule_id, pending) where pending is not null;
create index alert_incidents_resolved on alert_incidents (resolved_time) where resolved_time is not null;

create table alert_checks (
  number bigint generated always as identity not null,
  connection_id text not null,
  constraint alert_checks_pkey primary key (number)
);

create table alert_sweeps (
  name text not null,
  next_time timestamptz not null,
  constraint alert_sweeps_pkey primary key (name)
);
insert into alert_sweeps (name, next_time) values ('open and idle', '2026-01-01'), ('volume', '2026-01-01');

create table alert_deliveries (
  id text not null,
  rule_id text not null,
  kind text not null,
  channel text not null,
  recipient text,
  content jsonb not null,
  attempts integer default 0 not null,
  next_time timestamptz default now() not null,
  outcome text,
  created_time timestamptz default now() not null,
  finished_time timestamptz,
  constraint alert_deliveries_pkey primary key (id),
  constraint alert_deliveries_kind check (kind in ('opened', 'resolved', 'test')),
  constraint alert_deliveries_channel check (channel in ('email', 'slack', 'teams')),
  constraint alert_deliveries_outcome check (outcome in ('delivered', 'failed')),
  constraint alert_deliveries_rule foreign key (rule_id) references alert_rules(id) on delete cascade
);
create index alert_deliveries_due on alert_deliveries (next_time) where outcome is null;
create index alert_deliveries_of_rule on alert_deliveries (rule_id, kind, created_time);
create index alert_deliveries_created on alert_deliveries (created_time);

create table alert_delivery_totals (
  channel text not null,
  outcome text not null,
  deliveries bigint not null,
  constraint alert_delivery_totals_pkey primary key (channel, outcome)
);

create function check_alerts_of(connection text, organization text) returns void language sql as $$
  insert into alert_checks (connection_id)
  select connection where exists (select from alert_rules where organization_id = organization);
$$;

create function check_alerts_of_transfer() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(new.connection_id, new.organization_id);
  return null;
end $$;
create trigger transfers_check_alerts after update of status on transfers
  for each row when (old.status in ('queued', 'running') and new.status in ('succeeded', 'partial', 'failed'))
  execute function check_alerts_of_transfer();

create function check_alerts_of_connection() returns trigger language plpgsql as $$
begin
  perform check_alerts_of(new.id, new.organization_id);
  return null;
end $$;
create trigger connections_check_alerts after update of status on connections
  for each row when (old.status <> new.status) execute function check_alerts_of_connection();

-- Each organization begins with a rule for its owners. Without a word on whether it is on, it is where mail is set up.
create function make_default_alert_rule() returns trigger language plpgsql as $$
begin
  insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, emails, email_roles)
  values (substr(md5('default alert rule ' || new.id), 1, 16), new.id, 'Failures', true, true, '{}', '{owner}');
  return null;
end $$;
create trigger organizations_make_default_alert_rule after insert on organizations
  for each row execute function make_default_alert_rule();
insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, emails, email_roles, message_time,
  created_time, updated_time)
select substr(md5('default alert rule ' || id), 1, 16), id, 'Failures', true, true, '{}', '{owner}', created_time, created_time,
  created_time
from organizations;
