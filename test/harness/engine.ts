import assert from 'node:assert/strict'
import type {
  Batch,
  Check,
  Chunk,
  Connector,
  Delivery,
  Destination,
  DestinationContext,
  DestinationWriter,
  Division,
  DivisionBounds,
  Json,
  Row,
  SourceContext,
} from '@penstock/connector'
import type { Connection, Transfer } from '@penstock/wire'
import { createCatalogue } from '../../packages/server/src/connectors/catalogue.ts'
import type { Database, Db } from '../../packages/server/src/db/database.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { openKeyring } from '../../packages/server/src/secrets/keyring.ts'
import { type ClaimLimits, Claims } from '../../packages/server/src/transfers/supervisor/claim.ts'
import type { SupervisorDeps } from '../../packages/server/src/transfers/supervisor/deps.ts'
import { Probes } from '../../packages/server/src/transfers/supervisor/probes.ts'
import { keepUp } from '../../packages/server/src/transfers/supervisor/upkeep.ts'
import { workOnTransfers } from '../../packages/server/src/transfers/supervisor/work.ts'
import { connectorBySlug } from './fixtures.ts'
import { createInProcessRunners } from './in-process-runners.ts'
import { noSecretManagers } from './secret-managers.ts'
import { noLimits, supervision } from './supervision.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './transfers.ts'

/**
 * The engine on a real database, between two sides that a test writes as connectors are written: whatever they do, they
 * do it as the kit allows.
 */

/** The source of a test. */
export type TestSource = (context: SourceContext, after: Json | undefined) => AsyncIterable<Chunk> | Iterable<Chunk>

/** The destination of a test. Omitted functions do nothing. */
export type TestDestination = Partial<Omit<Destination, 'open'>> & {
  open?: (context: DestinationContext) => Partial<DestinationWriter> | Promise<Partial<DestinationWriter>>
}

export type TestSides = {
  source?: TestSource
  divide?: (bounds: DivisionBounds, context: SourceContext) => Promise<Division | undefined>
  destination?: TestDestination
  check?: Check
}

export type Engine = Fixture & {
  /** The sides of all connections of `connectSides`. A test can change them while transfers run. */
  readonly sides: TestSides
  /** Settings of its worker. A test can change them between transfers. */
  readonly settings: { -readonly [Name in keyof SupervisorDeps['settings']]: SupervisorDeps['settings'][Name] }
  /** A connection between the sides, active. */
  connectSides(): Promise<string>
  /** Works on transfers, as one of the loops of a worker does, until no transfer can be claimed. */
  work(signal?: AbortSignal, limits?: Partial<ClaimLimits>): Promise<void>
  /** Starts a transfer, works on it, and returns its result. */
  move(connectionId: string, body?: object): Promise<Transfer>
  /** Tries the connections that are offline, as if their time had come. */
  probe(): Promise<void>
  /** Looks after what a worker looks after, every few milliseconds, until the signal aborts. */
  keepUp(signal: AbortSignal): Promise<void>
  connection(id: string): Promise<Connection>
  /** Statements of its worker on our own database so far. */
  readonly statements: readonly string[]
  /** Any rows of our own database. */
  sql<T extends object = Record<string, unknown>>(text: string, ...values: unknown[]): Promise<T[]>
}

export async function startEngine(given: Partial<SupervisorDeps['settings']> = {}): Promise<Engine> {
  const settings = { ...supervision, ...given }
  const fixture = await startFixture()
  const { service, caller, accountId } = fixture
  const { database, config, logLines } = service
  assert(config.masterKey)
  const sides: TestSides = {}
  const catalogue = createCatalogue(config.publicUrl)
  const runners = createInProcessRunners({
    localFolders: config.localFolders,
    loadConnector: async (slug) => withSides(connectorBySlug(slug), sides),
  })
  const statements: string[] = []
  const deps: SupervisorDeps = {
    database: recorded(database, statements),
    runners,
    keyring: await openKeyring(database, config.masterKey),
    secretManagers: noSecretManagers,
    catalogue: { ...catalogue, known: (id) => withSides(catalogue.known(id), sides) },
    settings,
  }
  const log = createLogger('info', { write: (line) => void logLines.push(line) })
  const work = (signal = new AbortController().signal, limits: Partial<ClaimLimits> = {}) =>
    workOnTransfers(deps, new Claims({ ...noLimits, ...limits }), log, signal)
  const sql: Engine['sql'] = async (text, ...values) => (await database.pool.query(text, values)).rows
  return {
    ...fixture,
    sides,
    settings,
    statements,
    work,
    sql,
    connectSides: () => fixture.connect(localFolder, { files: 'any.csv' }, postgresql, { table: 'any' }),
    move: async (connectionId, body) => {
      const { id } = await fixture.start(connectionId, body)
      await work()
      return fixture.get(connectionId, id)
    },
    probe: async () => {
      await sql(`update probes set next_time = now()`)
      const probes = new Probes(deps, log, new AbortController().signal)
      await probes.begin()
      await probes.ended()
    },
    keepUp: (signal) =>
      keepUp(
        { ...deps, settings: { ...settings, heartbeatTimeoutMs: 1_000 } },
        { claims: new Claims(noLimits), wake: () => {} },
        log,
        signal,
      ),
    connection: (id) => caller.expect(caller.call('getConnection', { accountId, id })),
    close: async () => {
      await runners.close()
      await fixture.close()
    },
  }
}

/** The same database, which keeps the text of each statement. */
function recorded(database: Database, texts: string[]): Database {
  const record = <D extends Db>(db: D): D => ({
    ...db,
    query: (run) => {
      texts.push(run.text)
      return db.query(run)
    },
  })
  return { ...record(database), transaction: (work, actor) => database.transaction((tx) => work(record(tx)), actor) }
}

/** A connector with the sides of a test. */
export function withSides(connector: Connector, sides: TestSides): Connector {
  const { source, divide, destination, check } = sides
  const deliver: Destination = {
    batch: () => ({ rowsMax: 10, bytesMax: 1 << 20 }),
    ...destination,
    open: async (context) => ({ ...inert, ...(await destination?.open?.(context)) }),
  }
  return {
    ...connector,
    ...(check ? { check } : {}),
    source: {
      ...connector.source,
      open: async (context) => ({
        read: async function* (after) {
          yield* (source ?? people(25))(context, after)
        },
        ...(divide && { divide: (bounds) => divide(bounds, context) }),
        close: async () => {},
      }),
    },
    destination: { ...connector.destination, deliver },
  }
}

const inert: DestinationWriter = {
  deliver: async () => ({ bytes: 1 }),
  flush: async () => undefined,
  finish: async () => {},
  abort: async () => {},
  close: async () => {},
}

/** A source of `count` rows with their numbers, seven to a chunk. Its `cursor` is the beginning of the next transfer. */
export const people = (count: number): TestSource =>
  function* (_, after = 0) {
    for (let done = Number(after); done < count; ) {
      const rows: Row[] = Array.from({ length: Math.min(7, count - done) }, (_, i) => [done + i + 1, 'someone'])
      done += rows.length
      yield { columns: ['number', 'name'], rows, bytes: rows.length * 10, checkpoint: done, cursor: done }
    }
  }

/** The numbers of the rows of a batch. */
export const numbersIn = ({ rows }: Pick<Batch, 'rows'>): number[] => rows.map(([number]) => Number(number))

/** A delivery that took everything. */
export const taken = ({ rows }: Batch, more: Partial<Delivery> = {}): Delivery => ({ bytes: rows.length, ...more })
