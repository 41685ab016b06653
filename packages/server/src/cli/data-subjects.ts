import { text } from 'node:stream/consumers'
import type { BodyOf } from '@penstock/wire'
import { ConfigError } from '../config.ts'
import { print } from './print.ts'
import { connect, type RemoteService } from './remote.ts'

/** `penstock person`: one person in the records that a service keeps. */

type PersonOptions = RemoteService & { account?: string }

/** Prints where records of the person are kept. The person is named on standard input: arguments are seen by other processes. */
export async function findPersonCommand(options: PersonOptions): Promise<void> {
  const { client } = connect(options)
  const values = await readValues()
  const records = []
  const events = []
  for await (const { reply } of parts((body) => client.findDataSubject({ ...ofAccount(options), body }), values)) {
    records.push(...reply.records)
    events.push(...reply.events)
  }
  const lines = records.map(
    ({ connectionName, accountId, connectionId, transferId, row, reason }) =>
      `${connectionName} (${accountId}/${connectionId}), transfer ${transferId}, row ${row ?? 'unknown'}: ${reason}`,
  )
  for (const { streamName, accountId, streamId, number } of events) {
    lines.push(`${streamName} (${accountId}/${streamId}), event ${number}`)
  }
  print([...records, ...events], options.json, lines.join('\n') || 'Nothing is kept about this person.')
}

/** Erases the person, and prints how many records that were. */
export async function erasePersonCommand(options: PersonOptions): Promise<void> {
  const { client } = connect(options)
  const values = await readValues()
  const done = { erased: 0, searched: 0, notKept: 0, activeTransfers: 0 }
  for await (const { reply } of parts((body) => client.eraseDataSubject({ ...ofAccount(options), body }), values)) {
    done.erased += reply.erased
    done.searched += reply.searched
    done.notKept += reply.notKept
    done.activeTransfers = reply.activeTransfers
  }
  const again =
    done.activeTransfers > 0 ? ` ${done.activeTransfers} transfers are active: erase again once they have ended.` : ''
  print(done, options.json, `Erased ${done.erased} of ${done.searched} kept records and events.${again}`)
}

const ofAccount = ({ account }: PersonOptions) => (account === undefined ? {} : { accountId: account })

/** @throws ConfigError if nothing was given */
async function readValues(): Promise<string[]> {
  const lines = process.stdin.isTTY ? [] : (await text(process.stdin)).split('\n')
  const values = lines.map((line) => line.trim()).filter(Boolean)
  if (values.length > 0) return values
  throw new ConfigError([
    'Name the person on standard input, one value a line: echo jane@example.com | penstock person find',
  ])
}

/** Calls until all was searched. */
async function* parts<R extends { reply: { next: string | null } }>(
  call: (body: BodyOf<'findDataSubject'>) => Promise<R>,
  values: string[],
): AsyncGenerator<R> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const part = await call({ values, ...(cursor !== undefined && { cursor }) })
    yield part
    cursor = part.reply.next
  }
}
