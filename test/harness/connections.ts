import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDataKey } from '../../packages/server/src/secrets/data-keys.ts'
import { seal } from '../../packages/server/src/secrets/seal.ts'
import { places } from '../../packages/server/src/transfers/sealed.ts'
import { type Caller, connectorBySlug } from './fixtures.ts'
import type { TestService } from './service.ts'

/** Connections that data could move through, for tests of what the interface says of them: no worker runs here. */

export const localFolder = connectorBySlug('local-folder')
export const inboxFile = 'people.csv'

/** A folder with a file in it, and the settings of a service that can read it. */
export type Inbox = {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

export async function makeInbox(): Promise<Inbox> {
  const folder = await mkdtemp(join(tmpdir(), 'penstock-inbox-'))
  await writeFile(join(folder, inboxFile), 'email,city\nada@example.com,London\ngrace@example.com,New York\n')
  return {
    folder,
    env: { PENSTOCK_LOCAL_FOLDERS: folder },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A connection, and the account that it is in. */
export type Connection = { readonly accountId: string; readonly id: string }

/** Adds a configured local folder to an account. */
export async function addFolder(caller: Caller, accountId: string, folder: string): Promise<void> {
  await caller.addConnectors(accountId, localFolder)
  await caller.expect(
    caller.call('configureConnector', { accountId, id: localFolder.id, body: { secretConfig: { folder } } }),
  )
}

/** An active connection from the folder of an account into a folder inside it. */
export async function addConnection(caller: Caller, accountId: string, name = 'Orders'): Promise<Connection> {
  const body = {
    name,
    srcConnectorId: localFolder.id,
    destConnectorId: localFolder.id,
    srcConnectionConfig: { files: inboxFile },
    destConnectionConfig: { subfolder: 'out' },
  }
  const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
  return { accountId, id }
}

/** A separate account with such a connection. */
export async function addAccountWithConnection(caller: Caller, folder: string): Promise<Connection> {
  const { id: accountId } = await caller.addAccount()
  await addFolder(caller, accountId, folder)
  return addConnection(caller, accountId)
}

/**
 * A transfer in the state in which a worker leaves it, with one accepted record and further rejected records. Returns its
 * identifier.
 * @param emails of the rejected records, which begin with the second record
 * @param more names of further columns, which are empty in the rejected records
 */
export async function addEndedTransfer(
  { database, service }: Pick<TestService, 'database' | 'service'>,
  caller: Caller,
  { accountId, id }: Connection,
  emails: readonly string[] = ['grace@example.com'],
  more: readonly string[] = [],
): Promise<string> {
  const columns = ['email', 'city', ...more]
  const started = await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  const { id: keyId, key } = await database.transaction((tx) => makeDataKey(tx, service.deps.keyring))
  const sealed = emails.map((email, i) =>
    seal(key, places.reject(started.id, i + 1), JSON.stringify([email, 'New York', ...more.map(() => null)])),
  )
  const reasons = emails.map((_, i) => seal(key, places.reason(started.id, i + 1), 'email is taken'))
  await database.pool.query(
    `with ended as (
      update transfers set
        status = 'partial', read = 1 + $5, sent = 1 + $5, accepted = 1, rejected = $5, bytes = 20, progress = 1, attempt = 1,
        started_time = now(), finished_time = now(), source_columns = $6,
        columns = $6, data_key_id = $2
      where id = $1 returning *
    ), book as (
      insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
      select id, 1, organization_id, account_id, connection_id, (now() at time zone 'UTC')::date, 1 + $5, 1, $5, 0, 20 from ended
    ), part as (
      update transfer_parts p set status = 'succeeded', attempt = 1, read = e.read, accepted = e.accepted, rejected = e.rejected,
        started_time = e.started_time, finished_time = e.finished_time
      from ended e where p.transfer_id = e.id
    ), of_account as (
      update accounts set volume = volume + 1, monthly_volume = monthly_volume + 1,
        volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM')
      where id = (select account_id from ended)
    ), of_connection as (
      update connections set
        total_volume = total_volume + 1 + $5, used_volume = used_volume + 1, monthly_volume = monthly_volume + 1,
        volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM')
      where id = (select connection_id from ended)
    ), of_month as (
      insert into organization_rows as o (organization_id, month, stripe, rows)
      select organization_id, to_char(now() at time zone 'UTC', 'YYYY-MM'), hashtext(account_id) & 15, 1 from ended
      on conflict (organization_id, month, stripe) do update set rows = o.rows + 1
    ), of_log as (
      insert into transfer_logs (transfer_id, attempt, lines)
      select id, 1, '[{"ms": 1700000000000, "kind": "began", "text": "A worker took the transfer."}]' from ended
    )
    insert into rejects (transfer_id, number, row, field, reason_sealed, record, sealed)
    select id, number, number + 1, 'email', reason, '{"email": "g… (17)", "city": "N… (8)"}', sealed
    from ended, unnest($3::bytea[], $4::bytea[]) with ordinality as kept (sealed, reason, number)`,
    [started.id, keyId, sealed, reasons, emails.length, JSON.stringify(columns)],
  )
  return started.id
}

/** Adds parts to an ended transfer. The first part has all its records. */
export async function addParts({ database }: TestService, transferId: string, parts: number): Promise<void> {
  await database.pool.query('delete from transfer_parts where transfer_id = $1', [transferId])
  await database.pool.query(
    `insert into transfer_parts
       (transfer_id, number, share, status, attempt, read, accepted, rejected, progress, started_time, finished_time)
     select id, n, 1.0 / $2, 'succeeded', 1, case when n = 1 then read else 0 end,
       case when n = 1 then accepted else 0 end, case when n = 1 then rejected else 0 end, 1, started_time, finished_time
     from transfers cross join generate_series(1, $2::int) as n where id = $1`,
    [transferId, parts],
  )
  await database.pool.query('update transfers set parts = $2 where id = $1', [transferId, parts])
}

/** Has a connection know tables, as a transfer of many tables does. */
export async function addTables({ database }: TestService, connectionId: string, tables: number): Promise<void> {
  await database.pool.query(
    `insert into connection_tables (connection_id, name, destination)
     select $1, 'shop.t' || lpad(n::text, 3, '0'), 'copied.t' from generate_series(1, $2::int) n`,
    [connectionId, tables],
  )
}

/** Adds a second part to an ended transfer. It failed before it read anything, so it can be retried. */
export async function failPart(service: TestService, transferId: string): Promise<void> {
  await addParts(service, transferId, 2)
  const { pool } = service.database
  await pool.query(
    `update transfer_parts set status = 'failed', key_sealed = '' where transfer_id = $1 and number = 2`,
    [transferId],
  )
  await pool.query(`update transfers set status = 'failed' where id = $1`, [transferId])
}
