import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@penstock/client'
import pg from 'pg'
import { compare, type Rounds } from '../measure.ts'
import { parentOf, processorMs, processorMsOfChildren } from '../processor.ts'
import type { Service } from '../service.ts'
import { openStreams, requestOf } from './open.ts'
import { sendSteadily } from './steady.ts'

const steadyPerSecond = 20

/**
 * Measures how many events a second a stream puts on a topic, alternately with a stream of the same service that stores them in
 * PostgreSQL. Then measures the processor time of each process for the same events at a steady rate, which other work on the
 * machine does not change.
 */
export async function measureKafka(
  service: Service,
  brokerUrl: string,
  { batch, seconds }: { readonly batch: number; readonly seconds: number },
  rounds: Rounds,
): Promise<void> {
  const brokers = await (await fetch(brokerUrl)).text()
  const settings = { store: 'kafka', brokers, tlsMode: 'disable', topic: 'events', keyAt: '/userId' }
  const [kept, put] = await openStreams(service, 2, (at) => (at === 1 ? settings : { retentionMb: 100_000 }))
  if (!kept || !put) throw new Error('There are no streams')
  const requestTo = ({ id, headers }: typeof put) => requestOf(`/events/${id}`, batch, headers)
  // The first events wait for a process that puts them on the topic.
  for (;;) {
    const { method, path, headers, body } = requestTo(put)
    if ((await fetch(service.url + path, { method, headers, body })).ok) break
    await delay(500)
  }
  const side = (stream: typeof put) => ({ url: service.url, pick: () => requestTo(stream) })
  const { subject, limit, ratio } = await compare(side(put), side(kept), rounds)
  console.log(
    `Batches of ${batch}. Apache Kafka: ${Math.round(subject * batch)} events a second. PostgreSQL: ${Math.round(limit * batch)}. Ratio ${ratio.toFixed(2)}.`,
  )
  const postgresPid = await postmasterOf(service.databaseUrl)
  for (const [name, stream] of [
    ['Apache Kafka', put],
    ['PostgreSQL', kept],
  ] as const) {
    const send = () => sendSteadily(service.url, { perSecond: steadyPerSecond, seconds }, () => requestTo(stream))
    await send()
    const before = await timesOf(service.pid, postgresPid)
    await send()
    const after = await timesOf(service.pid, postgresPid)
    const thousands = (steadyPerSecond * seconds * batch) / 1_000
    const took = (part: keyof typeof after) => (spent(before[part], after[part]) / thousands).toFixed(1)
    console.log(
      `${name}: ms of a processor for 1,000 events: service ${took('service')}, its runners ${took('runners')}, PostgreSQL ${took('postgres')}.`,
    )
  }
  const runner = [...(await processorMsOfChildren(service.pid)).keys()].map((pid) => `${residentMb(pid)} MB`)
  // Counts are stored once a second.
  await delay(2_000)
  const client = createClient({ baseUrl: service.url, ...service.credentials })
  const { accepted } = (await client.getStream(put)).reply
  console.log(
    `On the topic: ${accepted} events. Runners: ${runner.join(', ')}. The broker is ours, and writes to no disk.`,
  )
}

/** The process that has started the process of a database session. */
async function postmasterOf(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const parent = await parentOf(rows[0].pid)
  await client.end()
  return parent
}

const timesOf = async (service: number, postgres: number) => ({
  service: new Map([[service, await processorMs(service)]]),
  runners: await processorMsOfChildren(service),
  postgres: await processorMsOfChildren(postgres),
})

/** The time of the processes that were there before and after. */
const spent = (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number =>
  [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? ms), 0)

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
