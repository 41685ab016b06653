-- The messages that are due are found rule by rule, so that those of one organization, however many, hide no others.
create index alert_deliveries_unsent on alert_deliveries (channel, rule_id, next_time) where outcome is null;
drop index alert_deliveries_due;
