-- A connection can have the columns added that its source gained.

alter table connection_states
  drop constraint connection_states_drift,
  add constraint connection_states_drift check (drift in ('ignore', 'stop', 'add'));
