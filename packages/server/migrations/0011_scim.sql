-- People and groups that an identity provider manages by SCIM (docs/decisions/0061).

alter table users
  add column external_id text,
  add column given_name text,
  add column family_name text,
  add column deactivated_time timestamptz;
create index users_external_id on users (organization_id, external_id) where external_id is not null;

create table user_groups (
  id text not null,
  organization_id text not null,
  display_name text not null,
  external_id text,
  role text,
  version integer default 1 not null,
  created_time timestamptz default now() not null,
  constraint user_groups_pkey primary key (id),
  constraint user_groups_role check (role in ('admin', 'editor', 'viewer')),
  constraint user_groups_organization foreign key (organization_id) references organizations(id)
);
create unique index user_groups_name on user_groups (organization_id, lower(display_name));

create table user_group_members (
  group_id text not null,
  user_id text not null,
  constraint user_group_members_pkey primary key (group_id, user_id),
  constraint user_group_members_group foreign key (group_id) references user_groups(id) on delete cascade,
  constraint user_group_members_user foreign key (user_id) references users(id) on delete cascade
);
create index user_group_members_of_user on user_group_members (user_id);
