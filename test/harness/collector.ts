import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A collector of OpenTelemetry, which reads what exporters send: OTLP over HTTP in protobuf, by its published numbers of fields. */

export type CollectedSpan = {
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly events: readonly string[]
  readonly failed: boolean
  readonly service: string
}

export type CollectedMetric = {
  readonly name: string
  readonly points: readonly { readonly attributes: CollectedSpan['attributes']; readonly value: number }[]
}

export type CollectedRecord = {
  readonly traceId: string
  readonly spanId: string
  readonly severity: string
  readonly body: string
  readonly attributes: CollectedSpan['attributes']
}

export type Collector = {
  readonly url: string
  readonly spans: CollectedSpan[]
  /** Newest values by name. */
  readonly metrics: Map<string, CollectedMetric>
  readonly records: CollectedRecord[]
  /** All bodies that came, by their path. */
  readonly received: { readonly path: string; readonly body: Buffer }[]
  readonly headers: Record<string, string | string[] | undefined>[]
  close(): Promise<void>
}

/** @param answer how it answers; by default immediately */
export async function startCollector(
  answer: (response: ServerResponse) => void = (response) => void response.end(),
): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const metrics = new Map<string, CollectedMetric>()
  const records: CollectedRecord[] = []
  const received: { path: string; body: Buffer }[] = []
  const headers: Collector['headers'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      received.push({ path: request.url ?? '', body })
      headers.push(request.headers)
      if (request.url === '/v1/traces') spans.push(...readSpans(body))
      if (request.url === '/v1/logs') records.push(...readRecords(body))
      if (request.url === '/v1/metrics') for (const metric of readMetrics(body)) metrics.set(metric.name, metric)
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    records,
    received,
    headers,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Field = { readonly number: number; readonly value: bigint | Buffer }

/** The fields of a message of protobuf. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const key = Number(varint())
    const [number, type] = [key >>> 3, key & 7]
    if (type === 0) yield { number, value: varint() }
    else {
      const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4
      yield { number, value: message.subarray(at, at + length) }
      at += length
    }
  }
}

const all = (message: Buffer, number: number): Buffer[] =>
  [...fieldsOf(message)].flatMap((field) => (field.number === number ? [field.value as Buffer] : []))
const bytes = (message: Buffer, number: number): Buffer => all(message, number).at(-1) ?? Buffer.alloc(0)
const text = (message: Buffer, number: number): string => bytes(message, number).toString('utf8')
const fixed64 = (message: Buffer, number: number): bigint => {
  const value = bytes(message, number)
  return value.length === 8 ? value.readBigUInt64LE() : 0n
}
const varintOf = (message: Buffer, number: number): bigint =>
  ([...fieldsOf(message)].find((field) => field.number === number)?.value ?? 0n) as bigint

function attributesOf(pairs: readonly Buffer[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [field] = fieldsOf(bytes(pair, 2))
      const { number = 0, value } = field ?? {}
      if (number === 2) return [text(pair, 1), value === 1n]
      if (number === 3) return [text(pair, 1), Number(value)]
      if (number === 4) return [text(pair, 1), (value as Buffer).readDoubleLE()]
      return [text(pair, 1), String(value)]
    }),
  )
}

function readSpans(body: Buffer): CollectedSpan[] {
  return all(body, 1).flatMap((ofResource) => {
    const service = String(attributesOf(all(bytes(ofResource, 1), 1))['service.name'])
    return all(ofResource, 2).flatMap((ofScope) =>
      all(ofScope, 2).map((span) => ({
        traceId: bytes(span, 1).toString('hex'),
        spanId: bytes(span, 2).toString('hex'),
        parentSpanId: bytes(span, 4).toString('hex'),
        name: text(span, 5),
        kind: Number(varintOf(span, 6)),
        startNs: fixed64(span, 7),
        endNs: fixed64(span, 8),
        attributes: attributesOf(all(span, 9)),
        events: all(span, 11).map((event) => text(event, 2)),
        failed: varintOf(bytes(span, 15), 3) === 2n,
        service,
      })),
    )
  })
}

function readRecords(body: Buffer): CollectedRecord[] {
  return all(body, 1)
    .flatMap((ofResource) => all(ofResource, 2))
    .flatMap((ofScope) => all(ofScope, 2))
    .map((record) => ({
      traceId: bytes(record, 9).toString('hex'),
      spanId: bytes(record, 10).toString('hex'),
      severity: text(record, 3),
      body: text(bytes(record, 5), 1),
      attributes: attributesOf(all(record, 6)),
    }))
}

function readMetrics(body: Buffer): CollectedMetric[] {
  return all(body, 1)
    .flatMap((ofResource) => all(ofResource, 2))
    .flatMap((ofScope) => all(ofScope, 2))
    .map((metric) => {
      const [numbers, histogram] = [[...all(metric, 5), ...all(metric, 7)], all(metric, 9)]
      return {
        name: text(metric, 1),
        points: [
          ...numbers
            .flatMap((data) => all(data, 1))
            .map((point) => ({
              attributes: attributesOf(all(point, 7)),
              value: bytes(point, 4).length === 8 ? bytes(point, 4).readDoubleLE() : Number(fixed64(point, 6)),
            })),
          ...histogram
            .flatMap((data) => all(data, 1))
            .map((point) => ({ attributes: attributesOf(all(point, 9)), value: Number(fixed64(point, 4)) })),
        ],
      }
    })
}
