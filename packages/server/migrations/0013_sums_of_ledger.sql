-- Old entries of the ledger become sums of a connection and a day (docs/decisions/0064): the last day that this was done for, on all
-- accounts.
alter table purges add column ledger_summed_until date;
