-- Records that were read and not sent, though nothing is wrong with them, by reason. Processes of earlier versions leave them at 0.

alter table transfers add column filtered bigint default 0 not null;
alter table transfers add column unchanged bigint default 0 not null;
alter table transfers add column duplicates bigint default 0 not null;
