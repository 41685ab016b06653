import type { ConnectorContext, Egress } from '../context.ts'
import type { DestinationContext, InspectionContext } from '../destination.ts'
import { createEgress, type NetworkPolicy, type OpenEgress } from '../egress/index.ts'
import type { Json, Row } from '../rows.ts'
import type { SourceContext, SourcePart, SourceRange } from '../source.ts'
import type { Values } from '../values.ts'

export type TestContextOptions = {
  readonly secrets?: Values
  /** Store for secrets that a connector replaces; by default, the secrets of this context. */
  readonly saveSecret?: ConnectorContext['saveSecret']
  /** Signs identity tokens; by default, asking for one fails. */
  readonly identityToken?: ConnectorContext['identityToken']
  /** Receives the lines for the log of a transfer; by default they are dropped. */
  readonly log?: ConnectorContext['log']
  readonly settings?: Values
  readonly signal?: AbortSignal
  /** Origins of platforms, and the test server for each: `{ 'https://graph.facebook.com': 'http://127.0.0.1:1234' }`. */
  readonly routes?: Readonly<Record<string, string>>
  readonly networkPolicy?: NetworkPolicy
  readonly egress?: Egress
  readonly localFolders?: readonly string[]
  /** Empty by default. */
  readonly uploads?: ConnectorContext['uploads']
  readonly rejects?: ConnectorContext['rejects']
  readonly events?: ConnectorContext['events']
  readonly cursor?: Json
  readonly part?: SourcePart
  readonly range?: SourceRange
  readonly takesRaw?: SourceContext['takesRaw']
  readonly transferId?: string
  readonly attempt?: number
  readonly test?: boolean
  readonly startedTime?: string
  readonly columns?: readonly string[]
  readonly rows?: readonly Row[]
  readonly deliveryStates?: readonly Json[]
  readonly state?: Json
}

/** Context for connectors of every kind: for a check, a source, a destination and its inspection. */
export type TestContext = SourceContext & DestinationContext & InspectionContext

/** One for each set of routes. Idle connections in it do not keep the process running. */
const egresses = new Map<string, OpenEgress>()

/**
 * A context for tests with real network access: requests are sent by the rules of the egress, and only the origins in `routes`
 * are redirected. Nothing must be closed.
 */
export function testContext(options: TestContextOptions = {}): TestContext {
  const { routes = {}, networkPolicy = 'any' } = options
  return {
    secrets: options.secrets ?? {},
    settings: options.settings ?? {},
    signal: options.signal ?? new AbortController().signal,
    egress: options.egress ?? sharedEgress(routes, networkPolicy),
    localFolders: options.localFolders ?? [],
    uploads: options.uploads ?? noUploads,
    rejects: options.rejects ?? noRejects,
    events: options.events ?? noEvents,
    saveSecret: options.saveSecret ?? savedSecrets(options.secrets ?? {}),
    identityToken: options.identityToken ?? noIdentity,
    log: options.log ?? (() => {}),
    cursor: options.cursor,
    ...(options.part && { part: options.part }),
    ...(options.takesRaw ? { takesRaw: options.takesRaw } : {}),
    ...(options.range && { range: options.range }),
    transferId: options.transferId ?? '0f1e2d3c4b5a6978',
    attempt: options.attempt ?? 1,
    test: options.test ?? false,
    startedTime: options.startedTime ?? '2026-01-31T12:00:00.000Z',
    columns: options.columns ?? [],
    rows: options.rows ?? [],
    deliveryStates: options.deliveryStates ?? [],
    state: options.state,
  }
}

const noIdentity = (): Promise<never> => Promise.reject(new Error('This test has no identity tokens'))

const noUploads: ConnectorContext['uploads'] = {
  find: async () => [],
  open: async () => undefined,
  read: async () => undefined,
}

const noRejects: ConnectorContext['rejects'] = {
  connections: async () => [],
  read: async () => undefined,
}

const noEvents: ConnectorContext['events'] = {
  open: async () => ({ id: '', last: 0, removed: 0, begin: 0, columns: [] }),
  read: async () => [],
  newest: async () => [],
}

/** Saves secrets in the memory of this process, one after the other. */
export function savedSecrets(secrets: Values): ConnectorContext['saveSecret'] {
  const saved = new Map(Object.entries(secrets).map(([key, value]) => [key, String(value)]))
  let last: Promise<unknown> = Promise.resolve()
  return (key, renew) => {
    const renewed = last.then(async () => {
      const next = await renew(saved.get(key) ?? '')
      saved.set(key, next)
      return next
    })
    last = renewed.catch(() => {})
    return renewed
  }
}

function sharedEgress(routes: Readonly<Record<string, string>>, networkPolicy: NetworkPolicy): OpenEgress {
  const key = JSON.stringify([networkPolicy, Object.entries(routes).sort()])
  const egress = egresses.get(key) ?? createEgress({ networkPolicy, routes })
  egresses.set(key, egress)
  return egress
}
