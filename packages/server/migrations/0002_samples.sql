create table samples (
  account_id text not null,
  organization_id text not null,
  database text not null,
  connection_id text not null,
  configuration_id text not null,
  transfer_id text not null,
  upload_id text not null,
  added_connector_ids text[] not null,
  created_time timestamptz default now() not null,
  constraint samples_pkey primary key (account_id),
  constraint samples_account foreign key (account_id) references accounts(id) on delete cascade
);
create index samples_of_organization on samples (organization_id);
