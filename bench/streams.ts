/**
 * `npm run bench:streams [-- --only throughput] [--seconds 10]`: event streams, in four parts.
 * - `throughput`: how many events a second a stream stores, compared with a bare Fastify that stores the same batches with one
 *   insert
 *   each, alternately on one database server (`--batch`, `--rounds`, `--connections`).
 * - `kafka`: how many events a second a stream puts on a topic, alternately with a stream that stores them in PostgreSQL.
 * - `delivery`: the time from the request that brings an event to its arrival at a webhook.
 * - `flood`: how long 99 streams wait for their answers while another one is flooded.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@penstock/client'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { compare } from './measure.ts'
import { freePort, startServer } from './processes.ts'
import { startService } from './service.ts'
import { measureDelivery } from './streams/delivery.ts'
import { measureFlood } from './streams/flood.ts'
import { measureKafka } from './streams/kafka.ts'
import { openStreams, requestOf } from './streams/open.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    batch: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '16' },
  },
})
const [batch, seconds] = [Number(options.batch), Number(options.seconds)]
const wanted = (name: string) => options.only === '' || options.only === name

await using cleanup = cleanupOfRun()
const postgres = await startPostgres(cleanup)
const start = async (name: string, accounts: number, env: Record<string, string>) => {
  const service = await startService(postgres, name, { accounts, connectionsPerAccount: 1 }, env)
  cleanup.defer(() => service.stop())
  return service
}

const rounds = {
  connections: Number(options.connections),
  rounds: Number(options.rounds),
  secondsPerRound: Math.min(seconds, 2),
}
const unbounded = {
  PENSTOCK_STREAM_EVENTS_PER_SECOND: '1000000',
  PENSTOCK_STREAM_MB: '100000',
  PENSTOCK_STREAMS_MB: '100000',
}

if (wanted('throughput')) await measureThroughput()
if (wanted('kafka')) await measureTopic()
// With the default limits of streams, because they protect the other streams.
if (wanted('delivery')) await measureDelivery(await start('delivery', 1, { PENSTOCK_EGRESS: 'any' }), seconds)
if (wanted('flood')) await measureFlood(await start('flood', 100, {}), seconds)

async function measureThroughput(): Promise<void> {
  const service = await start('streams', 1, unbounded)
  const [stream] = await openStreams(service, 1)
  if (!stream) throw new Error('There is no stream')
  const port = await freePort()
  const bare = await startServer('bench/limits/bare-events.ts', [], {
    port,
    path: '/ready',
    logFile: join(postgres.directory, 'bare.log'),
    env: { DATABASE_URL: service.databaseUrl, BARE_PORT: String(port) },
  })
  cleanup.defer(() => bare.stop())
  const { subject, limit, ratio } = await compare(
    { url: service.url, pick: () => requestOf(`/events/${stream.id}`, batch, stream.headers) },
    { url: bare.url, pick: () => requestOf('/events', batch, { 'content-type': 'application/json' }) },
    rounds,
  )
  const client = createClient({ baseUrl: service.url, ...service.credentials })
  const { accepted, keptBytes } = (await client.getStream(stream)).reply
  console.log(
    `Batches of ${batch}. A stream: ${Math.round(subject * batch)} events a second. Bare: ${Math.round(limit * batch)}.`,
  )
  console.log(`Ratio ${ratio.toFixed(2)}. Stored: ${accepted} events in ${Math.round((keptBytes ?? 0) / 2 ** 20)} MiB.`)
}

async function measureTopic(): Promise<void> {
  const service = await start('topic', 2, { ...unbounded, PENSTOCK_EGRESS: 'any' })
  const port = await freePort()
  const broker = await startServer('bench/limits/topic-broker.ts', [], {
    port,
    path: '/ready',
    logFile: join(postgres.directory, 'broker.log'),
    env: { BROKER_PORT: String(port) },
  })
  cleanup.defer(() => broker.stop())
  await measureKafka(service, broker.url, { batch, seconds }, rounds)
}
