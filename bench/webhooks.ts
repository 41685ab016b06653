/**
 * `npm run bench:webhooks [-- --events 20000]`: events a second that are written, and sent to one webhook, compared with the
 * maximum: a bare loop of the same HTTP client with the same receiver, which stores nothing. The sender runs in this process, as
 * in a worker. The receiver runs in a separate process. Also measures the cost of the end of a transfer without a matching
 * webhook.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { basePath } from '@penstock/wire'
import { readConfig } from '../packages/server/src/config.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { emit } from '../packages/server/src/events/events.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { createOutgoing } from '../packages/server/src/outgoing/outgoing.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { Sender } from '../packages/server/src/webhooks/sending/sender.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { median } from './measure.ts'
import { startService } from './service.ts'

const { values: options } = parseArgs({
  options: { events: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '3' } },
})
const events = Number(options.events)
const rounds = Number(options.rounds)
const writers = 8
const requestsAtOnce = 20
const connections = 500
const endedTransfers = 2_000

await using cleanup = cleanupOfRun()
const receiver = fork(new URL('./webhooks/receiver.ts', import.meta.url))
cleanup.defer(() => void receiver.kill())
const [receiverUrl] = (await once(receiver, 'message')) as [string]
const environment = await startPostgres(cleanup)
const masterKey = generateMasterKey()
const service = await startService(
  environment,
  'webhooks',
  { accounts: 1, connectionsPerAccount: connections },
  { PENSTOCK_MASTER_KEY: masterKey, PENSTOCK_WORKER: '0' },
)
cleanup.defer(() => service.stop())
const database = openDatabase({ url: service.databaseUrl, poolSize: writers + 4 })
cleanup.defer(() => database.close())
const key = parseMasterKey(masterKey)
if (!key) throw new Error('This is no master key')
const keyring = await openKeyring(database, key)
const outgoing = createOutgoing(readConfig({}))
cleanup.defer(() => outgoing.close())
const sender = new Sender(
  { database, keyring, outgoing, mailer: { send: () => {} }, bounds: { requests: requestsAtOnce, pollMs: 50 } },
  createLogger('warn', process.stderr),
)
const { rows } = await database.pool.query<{ id: string; account_id: string }>('select id, account_id from connections')
const { organizationId } = service

/** Runs work a number of times, several runs concurrently; returns the runs a second. */
async function perSecond(times: number, atOnce: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const fromMs = performance.now()
  let next = 0
  const each = async () => {
    while (next < times) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, each))
  return (times / (performance.now() - fromMs)) * 1000
}

const eventOf = (n: number) => {
  const connection = rows[n % rows.length]
  return {
    type: 'transfer.succeeded',
    organizationId,
    accountId: connection?.account_id ?? null,
    connectionId: connection?.id ?? null,
    data: {
      transferId: '7d1b05c9e2f4a863',
      status: 'succeeded',
      trigger: 'schedule',
      replayOf: null,
      read: 1_000,
      sent: 1_000,
      accepted: 1_000,
      rejected: 0,
    },
  }
}
const write = (times: number) => perSecond(times, writers, (n) => emit(database, eventOf(n)))

/** Milliseconds that the end of a transfer takes, each in a separate transaction, with and without the trigger. */
async function endTransfers(): Promise<Record<'with' | 'without', number>> {
  const client = await database.pool.connect()
  const took = { with: [] as number[], without: [] as number[] }
  try {
    for (let n = 0; n < endedTransfers; n++) {
      const way = n % 2 === 0 ? 'with' : 'without'
      const connection = rows[n % rows.length]
      await client.query(`alter table transfers ${way === 'with' ? 'enable' : 'disable'} trigger transfers_emit_ended`)
      const id = n.toString(16).padStart(16, '0')
      await client.query(
        `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger)
         values ($1, $2, $3, $4, 'a', 'b', 'running', 'manual')`,
        [id, organizationId, connection?.account_id, connection?.id],
      )
      await client.query('begin')
      const fromMs = performance.now()
      await client.query({
        name: 'end',
        text: `update transfers set status = 'succeeded', finished_time = now() where id = $1`,
        values: [id],
      })
      took[way].push(performance.now() - fromMs)
      await client.query('commit')
    }
    await client.query('alter table transfers enable trigger transfers_emit_ended')
  } finally {
    client.release()
  }
  return { with: median(took.with), without: median(took.without) }
}

const ended = await endTransfers()
const unheard = await write(events)
const made = await fetch(`${service.url}${basePath}/webhooks`, {
  method: 'POST',
  headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ url: receiverUrl }),
})
if (made.status !== 201) throw new Error(await made.text())

const body = JSON.stringify(eventOf(0))
const figures = { ceiling: [] as number[], written: [] as number[], sent: [] as number[], both: [] as number[] }
const delivered = async () =>
  Number(
    (await database.pool.query(`select deliveries from webhook_totals where outcome = 'delivered'`)).rows[0]
      ?.deliveries ?? 0,
  )
for (let round = 0; round <= rounds; round++) {
  const ceiling = await perSecond(events, requestsAtOnce, () =>
    outgoing.post(receiverUrl, { body, contentType: 'application/json' }),
  )
  const written = await write(events)
  const fromMs = performance.now()
  const before = await delivered()
  await sender.sendDue()
  const sent = ((await delivered()) - before) / ((performance.now() - fromMs) / 1000)
  // Written and sent at the same time.
  const stop = new AbortController()
  const bothFromMs = performance.now()
  const target = (await delivered()) + events
  const running = sender.run(stop.signal)
  await write(events)
  while ((await delivered()) < target) await new Promise((resolve) => setTimeout(resolve, 20))
  const both = (events / (performance.now() - bothFromMs)) * 1000
  stop.abort()
  await running
  // The first round warms up.
  if (round === 0) continue
  figures.ceiling.push(ceiling)
  figures.written.push(written)
  figures.sent.push(sent)
  figures.both.push(both)
}
const whole = (value: number) => Math.round(value).toLocaleString('en')
const middle = (values: readonly number[]) => whole(median(values))
console.log(`events ${whole(events)}, connections ${connections}, requests at once ${requestsAtOnce}, rounds ${rounds}
the end of a transfer, no webhook: ${ended.with.toFixed(3)} ms with the trigger, ${ended.without.toFixed(3)} ms without
written by ${writers} connections, no webhook: ${whole(unheard)}/s
written by ${writers} connections, one webhook: ${middle(figures.written)}/s
ceiling, a bare loop of the client: ${middle(figures.ceiling)}/s
sent: ${middle(figures.sent)}/s
written and sent at once: ${middle(figures.both)}/s
share of the ceiling: ${(median(figures.sent) / median(figures.ceiling)).toFixed(2)}`)
