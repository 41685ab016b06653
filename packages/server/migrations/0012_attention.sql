-- What the list of connections that need attention finds them by: the added connectors that are not configured, and the
-- latest transfers that failed, rejected records or are retrying.
create index added_connectors_not_configured on added_connectors (account_id, connector_id) where not configured;
create index transfers_need_attention on transfers (organization_id, account_id)
  where latest and status in ('failed', 'partial', 'queued', 'running')
    and (status in ('failed', 'partial') or error_code is not null);
