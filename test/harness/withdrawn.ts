import type { Connector } from '@penstock/connector'

/**
 * Connectors through which no data moves are withdrawn ones: accounts that added them when the catalogue still listed them keep them.
 * This is the SQL that adds one to an account, as 0.1.0 did, with its first configuration. Both identifiers are hexadecimal.
 */
export const addsWithdrawn = (accountId: string, { id, slug }: Connector): string => `
  insert into added_connectors (account_id, connector_id, env) select '${accountId}', '${id}', name from environments;
  insert into configurations (account_id, connector_id, id, name, secret_name, configured, first)
    values ('${accountId}', '${id}', substr(md5('${accountId}/${slug}'), 1, 16), 'Default', '${slug}/${accountId}', false, true)`
