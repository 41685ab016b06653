import { sayRefusal } from '@penstock/configuration'
import { print } from './print.ts'
import { connect, type RemoteService } from './remote.ts'

/** Commands for the transfers of a connection: they call the API of a service, and use no database. */

type OfConnection = RemoteService & { account: string }

/** Says in an error what the service says of each field. */
const sayingDetails = (error: unknown): never => {
  throw new Error(sayRefusal(error))
}

type BackfillOptions = OfConnection & { from: string; to: string; table?: string[] }

/** `penstock connection backfill`: starts a transfer that reads a range of the source. */
export async function backfillCommand(
  id: string,
  { account: accountId, from, to, table: tables, json = false, ...service }: BackfillOptions,
): Promise<void> {
  const { client } = connect(service)
  const body = { backfill: { from, to }, ...(tables && { tables }) }
  const { reply, already } = await client.startTransfer({ accountId, id, body }).catch(sayingDetails)
  const what = already ? 'is active already' : `is ${reply.status}`
  print(reply, json, `Backfill of ${from} to ${to} ${what}: transfer ${reply.id}`)
}

type ResetOptions = OfConnection & { cursor?: boolean; rows?: boolean; table?: string[] }

/** `penstock connection reset`: has the next transfer read and send everything, unless an option names a part of the state. */
export async function resetCommand(
  id: string,
  { account: accountId, cursor, rows, table: tables, json = false, ...service }: ResetOptions,
): Promise<void> {
  const { client } = connect(service)
  const isAll = !cursor && !rows && !tables
  const body = {
    ...((isAll || cursor || tables) && { cursor: true }),
    ...((isAll || rows) && { rows: true }),
    ...(tables && { tables }),
  }
  const { reply } = await client.resetConnectionState({ accountId, id, body }).catch(sayingDetails)
  const forgotten = [
    body.cursor && (tables ? `the cursor of ${tables.join(', ')}` : 'the cursor'),
    body.rows && 'the sent rows',
  ]
    .filter(Boolean)
    .join(' and ')
  print(reply, json, `Forgot ${forgotten}. The next transfer reads from the beginning, or sends all rows.`)
}
