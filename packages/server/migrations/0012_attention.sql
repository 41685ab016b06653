-- The connectors that are added and not configured, which "needs attention" lists.
create index added_connectors_not_configured on added_connectors (account_id, connector_id) where not configured;
