import { ConnectorError, type ConnectorErrorCode, type Json } from '@penstock/connector'
import {
  columnsOf,
  errorOfEnd,
  isObject,
  lastOf,
  type ProgramStream,
  type Protocol,
  type Session,
  sentenceOf,
} from './protocol.ts'

const config = ['--config', '{config.json}']

/** Levels of lines that are shown to people. Other levels are for developers of the program. */
const shown: ReadonlySet<string> = new Set(['FATAL', 'ERROR', 'WARN', 'INFO'])

/** Connectors of the Airbyte protocol that are sources: https://docs.airbyte.com/understanding-airbyte/airbyte-protocol */
export const airbyte: Protocol = {
  async check(session) {
    const run = { command: ['check', ...config], files: {} }
    let failure: ConnectorError | undefined
    const { found, end } = await lastOf(session, run, (message) => {
      failure = failureOf(message) ?? failure
      return message.type === 'CONNECTION_STATUS' && isObject(message.connectionStatus)
        ? message.connectionStatus
        : undefined
    })
    if (!found) throw failure ?? errorOfEnd(end)
    if (found.status !== 'SUCCEEDED')
      throw new ConnectorError('invalid_setting', sentenceOf(found.message, 'The program refuses this configuration.'))
  },

  async discover(session) {
    let failure: ConnectorError | undefined
    const run = { command: ['discover', ...config], files: {} }
    const { found, end } = await lastOf(session, run, (message) => {
      failure = failureOf(message) ?? failure
      return message.type === 'CATALOG' && isObject(message.catalog) ? message.catalog : undefined
    })
    if (!found || !Array.isArray(found.streams)) throw failure ?? errorOfEnd(end)
    return found.streams.filter(isObject).map(streamOf)
  },

  reading({ stream, incremental, cursorField, state }) {
    const { source_defined_cursor, default_cursor_field, source_defined_primary_key } = stream.raw
    const configured = {
      stream: stream.raw,
      sync_mode: incremental ? 'incremental' : 'full_refresh',
      destination_sync_mode: 'append',
      cursor_field:
        cursorField === undefined || source_defined_cursor === true ? (default_cursor_field ?? []) : [cursorField],
      primary_key: source_defined_primary_key ?? [],
      generation_id: 0,
      minimum_generation_id: 0,
      sync_id: 0,
    }
    const continues = incremental && state !== undefined
    return {
      command: ['read', ...config, '--catalog', '{catalog.json}', ...(continues ? ['--state', '{state.json}'] : [])],
      files: {
        'catalog.json': JSON.stringify({ streams: [configured] }),
        ...(continues ? { 'state.json': state } : {}),
      },
    }
  },

  aside({ type, log, control }) {
    if (type === 'LOG' && isObject(log) && shown.has(String(log.level)))
      return { kind: 'log', text: sentenceOf(log.message, '') }
    if (type !== 'CONTROL' || !isObject(control) || !isObject(control.connectorConfig)) return undefined
    const { config } = control.connectorConfig
    return isObject(config) ? { kind: 'configuration', config } : undefined
  },

  said(message, { raw }) {
    if (message.type === 'RECORD' && isObject(message.record) && isObject(message.record.data)) {
      // Only one stream is configured. Some programs name its namespace only in the catalogue or only in records.
      return message.record.stream === raw.name ? { kind: 'record', data: message.record.data } : undefined
    }
    if (message.type === 'STATE' && isObject(message.state))
      return { kind: 'state', state: stateOf(message.state), records: countIn(message.state) }
    const failure = failureOf(message)
    if (failure) return { kind: 'failure', code: failure.code, message: failure.message }
    const status = statusOf(message, raw.name)
    return status && { kind: 'status', status }
  },
}

/** How many records the program has reported since its last state. Undefined if it does not report that. */
function countIn({ sourceStats }: Readonly<Record<string, unknown>>): number | undefined {
  const count = isObject(sourceStats) ? sourceStats.recordCount : undefined
  return typeof count === 'number' ? count : undefined
}

/** The stream status in a message. Some programs do not name the stream. */
function statusOf({ type, trace }: Readonly<Record<string, unknown>>, stream: unknown) {
  if (type !== 'TRACE' || !isObject(trace) || trace.type !== 'STREAM_STATUS') return undefined
  const { status, stream_descriptor: named } = isObject(trace.stream_status) ? trace.stream_status : {}
  if (isObject(named) && named.name !== stream) return undefined
  if (status === 'COMPLETE') return 'complete'
  return status === 'INCOMPLETE' ? 'incomplete' : 'begun'
}

/** A state as the program gets it to continue: a list of messages, or the object of programs before there were types. */
function stateOf(state: Readonly<Record<string, unknown>>): Json {
  const { type, stream, global, data } = state
  if (type === 'STREAM') return [{ type, stream }] as Json
  if (type === 'GLOBAL') return [{ type, global }] as Json
  return (data ?? {}) as Json
}

function streamOf(raw: Readonly<Record<string, unknown>>): ProgramStream {
  const modes = Array.isArray(raw.supported_sync_modes) ? raw.supported_sync_modes : []
  return {
    name: typeof raw.namespace === 'string' && raw.namespace !== '' ? `${raw.namespace}.${raw.name}` : String(raw.name),
    columns: columnsOf(raw.json_schema),
    incremental: modes.includes('incremental'),
    raw,
  }
}

const codes: Readonly<Record<string, ConnectorErrorCode>> = {
  config_error: 'invalid_setting',
  transient_error: 'platform_unavailable',
}

/** The failure that a program traces. */
function failureOf({ type, trace }: Readonly<Record<string, unknown>>): ConnectorError | undefined {
  if (type !== 'TRACE' || !isObject(trace)) return undefined
  if (trace.type !== 'ERROR' || !isObject(trace.error)) return undefined
  const code = codes[String(trace.error.failure_type)] ?? 'platform_error'
  return new ConnectorError(code, sentenceOf(trace.error.message, 'The program failed and did not say why.'))
}

/**
 * The JSON schema of the configuration of a program.
 * @throws ConnectorError if the program returns no schema
 */
export async function specOf(session: Session): Promise<Readonly<Record<string, unknown>>> {
  const { found, end } = await lastOf(session, { command: ['spec'], files: {} }, (message) =>
    message.type === 'SPEC' && isObject(message.spec) && isObject(message.spec.connectionSpecification)
      ? message.spec.connectionSpecification
      : undefined,
  )
  if (!found) throw errorOfEnd(end)
  return found
}
