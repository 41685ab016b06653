-- Mappings that are kept to be used again, in one sub-account or in the whole organization.

create table mapping_templates (
  id text not null,
  organization_id text not null,
  account_id text,
  name text not null,
  dest_connector_id text not null,
  src_connector_id text,
  mapping text not null,
  fields integer not null,
  created_by jsonb not null,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  updated_time timestamptz default now() not null,
  constraint mapping_templates_pkey primary key (id),
  constraint mapping_templates_account foreign key (account_id) references accounts(id) on delete cascade,
  constraint mapping_templates_organization foreign key (organization_id) references organizations(id)
);
create index mapping_templates_of_account on mapping_templates (account_id, lower(name), id) where account_id is not null;
create index mapping_templates_of_organization on mapping_templates (organization_id, lower(name), id);
