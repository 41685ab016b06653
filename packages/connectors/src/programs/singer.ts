import { ConnectorError, type Json } from '@penstock/connector'
import {
  columnsOf,
  eachLine,
  errorOfEnd,
  isObject,
  objectOf,
  type ProgramStream,
  type Protocol,
  type Session,
} from './protocol.ts'

const config = ['--config', '{config.json}']

/**
 * Taps of Singer: https://github.com/singer-io/getting-started/blob/master/docs/SPEC.md
 * @param properties whether the tap expects its catalogue as `--properties`, as older taps do
 */
export const singer = (properties: boolean): Protocol => ({
  // A tap has no check. One that can list its streams has read its configuration.
  async check(session) {
    await discover(session)
  },

  discover,

  reading({ stream, incremental, cursorField, state }) {
    const catalog = { streams: [selected(stream.raw, incremental, cursorField)] }
    const continues = incremental && state !== undefined
    return {
      command: [
        ...config,
        properties ? '--properties' : '--catalog',
        '{catalog.json}',
        ...(continues ? ['--state', '{state.json}'] : []),
      ],
      files: {
        'catalog.json': JSON.stringify(catalog),
        ...(continues ? { 'state.json': state } : {}),
      },
    }
  },

  said(message, { raw }) {
    if (message.type === 'RECORD' && isObject(message.record))
      return message.stream === raw.stream || message.stream === raw.tap_stream_id
        ? { kind: 'record', data: message.record }
        : undefined
    if (message.type === 'STATE' && message.value !== undefined) return { kind: 'state', state: message.value as Json }
    return undefined
  },
})

async function discover(session: Session): Promise<readonly ProgramStream[]> {
  // Most taps write the catalogue on many lines, as people read it.
  const lines: string[] = []
  const end = await eachLine(session, { command: [...config, '--discover'], files: {} }, (line) => lines.push(line))
  if (end.code !== 0) throw errorOfEnd(end)
  const begin = lines.findIndex((line) => line.startsWith('{'))
  const found =
    objectOf(lines.slice(Math.max(0, begin)).join('\n')) ??
    lines.map((line) => objectOf(line)).find((one) => one?.streams)
  if (!Array.isArray(found?.streams)) throw new ConnectorError('malformed_response', 'The tap lists no streams.')
  return found.streams.filter(isObject).map(streamOf)
}

function streamOf(raw: Readonly<Record<string, unknown>>): ProgramStream {
  return {
    name: String(raw.tap_stream_id ?? raw.stream),
    columns: columnsOf(raw.schema),
    // Taps have no common way to declare it. A stream that writes no state has no checkpoint.
    incremental: true,
    raw,
  }
}

/** A stream of the catalogue, chosen in each of the ways that taps look for. */
function selected(raw: Readonly<Record<string, unknown>>, incremental: boolean, cursorField: string | undefined) {
  const method = incremental ? 'INCREMENTAL' : 'FULL_TABLE'
  const key = cursorField === undefined ? {} : { 'replication-key': cursorField }
  const given = Array.isArray(raw.metadata) ? raw.metadata.filter(isObject) : []
  const own = given.find(({ breadcrumb }) => Array.isArray(breadcrumb) && breadcrumb.length === 0)
  const chosen = { selected: true, 'replication-method': method, ...key }
  const { forced_replication_method, 'forced-replication-method': forced } = (own?.metadata ?? {}) as Record<
    string,
    unknown
  >
  return {
    ...raw,
    schema: isObject(raw.schema) ? { ...raw.schema, selected: true } : raw.schema,
    replication_method: forced_replication_method ?? forced ?? method,
    ...(cursorField === undefined ? {} : { replication_key: cursorField }),
    metadata: [
      { breadcrumb: [], metadata: { ...((own?.metadata as object) ?? {}), ...chosen } },
      ...given
        .filter((one) => one !== own)
        .map((one) => ({ ...one, metadata: { ...((one.metadata as object) ?? {}), selected: true } })),
    ],
  }
}
