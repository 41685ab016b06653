import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import type { Service } from '../service.ts'
import { type OpenStream, openStreams, requestOf } from './open.ts'
import { quantile, type Steady, sendSteadily } from './steady.ts'

const streams = 100
const perSecond = 198
const floodConnections = 32

/** How long a hundred streams wait for their answers while one of them is flooded, compared with the time without a flood. */
export async function measureFlood(service: Service, seconds: number): Promise<void> {
  const [flooded, ...others] = await openStreams(service, streams)
  if (!flooded) throw new Error('There is no stream')
  const send = () => sendSteadily(service.url, { perSecond, seconds }, (number) => requestTo(others, number))
  await send()
  const alone = await send()
  const before = residentMb(service.pid)
  const flood = autocannon({
    url: service.url,
    connections: floodConnections,
    duration: seconds + 2,
    // In a separate thread, so that the measurement does not wait for the flood.
    workers: 1,

    requests: [requestOf(`/events/${flooded.id}`, 100, flooded.headers)],
  })
  const beside = await send()
  const { statusCodeStats } = await flood
  const after = residentMb(service.pid)
  const answered = Object.entries(statusCodeStats).map(([status, { count }]) => `${count} of ${status}`)
  console.log(`Flood: ${floodConnections} connections send 100 events a request to one stream: ${answered.join(', ')}.`)
  console.log(`The other ${others.length}, alone:   ${figuresOf(alone)}`)
  console.log(`The other ${others.length}, beside:  ${figuresOf(beside)}`)
  const ratio = quantile(beside.tookMs, 0.99) / quantile(alone.tookMs, 0.99)
  console.log(`Ratio of the 99 %: ${ratio.toFixed(2)}, aim ≤ 2. Memory: ${before} MB before, ${after} MB after.`)
}

function requestTo(others: readonly OpenStream[], number: number) {
  const { id, headers } = others[number % others.length] as OpenStream
  return requestOf(`/events/${id}`, 1, headers)
}

const figuresOf = ({ tookMs, statuses }: Steady): string =>
  `half within ${quantile(tookMs, 0.5).toFixed(1)} ms, 99 % within ${quantile(tookMs, 0.99).toFixed(1)} ms, answers ${JSON.stringify(statuses)}`

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
