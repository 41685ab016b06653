-- Whether people of an organization sign in with a passkey or single sign-on, and not with a password alone.
alter table organizations add column second_factor_required boolean default false not null;
