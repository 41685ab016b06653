-- Single sign-on of organizations: their identity providers, and what these call people. The client secret is in oauth_apps.
create table single_sign_on (
  organization_id text not null,
  issuer text not null,
  client_id text not null,
  authorization_endpoint text not null,
  email_domains text[],
  new_user_role text,
  new_user_account_ids text[],
  required boolean not null,
  saved_time timestamptz default now() not null,
  constraint single_sign_on_pkey primary key (organization_id),
  constraint single_sign_on_role check (new_user_role in ('admin', 'editor', 'viewer')),
  constraint single_sign_on_organization foreign key (organization_id) references organizations(id)
);

create table user_identities (
  organization_id text not null,
  issuer text not null,
  subject text not null,
  user_id text not null,
  created_time timestamptz default now() not null,
  constraint user_identities_pkey primary key (organization_id, issuer, subject),
  constraint user_identities_user unique (user_id, issuer),
  constraint user_identities_person foreign key (user_id) references users(id) on delete cascade
);
