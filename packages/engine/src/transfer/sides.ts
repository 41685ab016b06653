import {
  asConnectorError,
  type Chunk,
  type Connector,
  ConnectorError,
  type Destination,
  type DestinationContext,
  type DestinationWriter,
  type Discovered,
  type DiscoveredPage,
  type Division,
  type Json,
  type RawFormat,
  type Row,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import { limits, type Role } from '@penstock/wire/rules'
import { runDiscovery } from '../discover.ts'
import { type ColumnTypes, type RowMapping, requireMapping, type SettingErrors } from '../map-rows.ts'
import { extendMapping } from '../mapping/add-columns.ts'
import type { BatchStart, OpenedSide, Shape, SideShape, TransferHost, TransferState } from '../protocol.ts'
import { type JobRuntime, openContext } from '../runtime.ts'
import { sideSettings } from '../settings.ts'
import type { SideSecrets } from '../side-secrets.ts'
import { storable } from '../storable.ts'
import { type AddedTo, hasColumn, shapeOf, typeIn } from './column-changes.ts'
import { guarded, ofConnector } from './connector-calls.ts'
import type { Bounds, MappedChunk } from './filled-batch.ts'
import { type RawRoute, rawRouteOf, takesRawOf } from './raw/why-not-raw.ts'
import { readReplay } from './replay.ts'
import { type Route, type RouteDeps, type RouteSide, routeOf } from './route.ts'
import type { Repeating } from './stages/repeated-rows/recovered-rows.ts'
import { areApart, scopeAt, type WindowOf } from './windows.ts'

/** A writer of the destination, and the function that removes the destination's secrets from its reports. */
export type OpenedWriter = { readonly writer: DestinationWriter; readonly redact: SideSecrets['redact'] }

/** Maximum pages of columns that are requested. */
const pagesMax = 25

/** Parameters of a writer that are not in a configuration. */
type Delivered = Pick<DestinationContext, 'transferId' | 'deliveryStates' | 'state'>

/** The source and the destination of a transfer: their connectors, opened, and the mapping between them. */
export class Sides {
  readonly #runtime: JobRuntime
  readonly #host: Pick<TransferHost, 'readRejects'>
  readonly #state: TransferState
  readonly #settingErrors: SettingErrors
  readonly #source: Connector | undefined
  readonly #destination: Connector
  /** How the destination receives rows. */
  readonly deliver: Destination
  /** The parameters of the destination from now on: its secrets can change while a transfer runs. */
  destinationSide: TransferState['destination']
  /** Maximum size of a batch. */
  readonly bounds: Bounds
  /** Whether the destination replaces all that it had. */
  readonly replaces: boolean
  #mapping: RowMapping | undefined
  /** Columns of the source, once a chunk was read. */
  sourceColumns: readonly string[] = []
  /** The types of the columns that the destination gets, once a chunk was read. */
  types: ColumnTypes
  /** Some of the first rows that the destination gets, once a chunk was mapped. */
  #firstRows: readonly Row[] = []

  #hasCursor = false

  /** The plan of the source for the transfer, if that is not stored yet. */
  plan: Json | undefined

  private constructor(
    runtime: JobRuntime,
    host: Pick<TransferHost, 'readRejects'>,
    state: TransferState,
    settingErrors: SettingErrors,
    connectors: { source: Connector | undefined; destination: Connector; deliver: Destination },
  ) {
    this.#runtime = runtime
    this.#host = host
    this.#state = state
    this.#settingErrors = settingErrors
    this.destinationSide = state.destination
    this.#source = connectors.source
    this.#destination = connectors.destination
    this.deliver = connectors.deliver
    this.bounds = connectors.deliver.batch(this.settings)
    this.replaces = connectors.deliver.replaces?.(this.settings) ?? false
  }

  /** Loads the connectors of both sides. Nothing is opened yet. @param settingErrors finds errors of the settings of stages */
  static async load(
    runtime: JobRuntime,
    host: Pick<TransferHost, 'readRejects'>,
    state: TransferState,
    settingErrors: SettingErrors,
  ): Promise<Sides> {
    const destination = await runtime.loadConnector(state.destination.slug)
    const source = state.source ? await runtime.loadConnector(state.source.slug) : undefined
    const deliver = destination.destination?.deliver
    if (!deliver || (source && !source.source?.open)) throw new Error('A side of this transfer moves no data')
    return new Sides(runtime, host, state, settingErrors, { source, destination, deliver })
  }

  /** The settings of the destination, with their defaults. */
  get settings(): Values {
    return sideSettings(this.#destination, 'Destination', this.destinationSide.settings)
  }

  /** The names of the connectors. */
  get names(): { readonly source: string; readonly destination: string } {
    return { source: this.#source?.name ?? '', destination: this.#destination.name }
  }

  /**
   * Why one worker must move all rows, as the end of a sentence; `undefined` if several workers can. The mapping must be known if
   * there is `apart`.
   * @param whyStages the reason of the stages
   */
  whyNotParts({ apart }: Pick<Division, 'apart'>, whyStages: string | undefined): string | undefined {
    const { name } = this.#destination
    if (whyStages !== undefined) return whyStages
    if (this.replaces) return `${name} replaces everything that it has`
    const { whyNotParts, windowKeys } = this.deliver
    const whyNot = whyNotParts ? whyNotParts(this.settings) : `${name} takes them in one order`
    const keys = whyNot === undefined ? windowKeys?.(this.settings) : undefined
    if (!keys || (apart && this.#mapping && areApart(this.#mapping.plan.steps, keys, apart))) return whyNot
    const added = apart ? `: the key columns need ${apart.join(' and ')} of the source, unchanged` : ''
    return `the last of several records with the same key must win${added}`
  }

  /** Whether the destination adds rows, whichever it has. */
  get adds(): boolean {
    return !this.replaces && this.keyNames === undefined
  }

  /** How batches are repeated that were announced. */
  get repeating(): Repeating & { readonly sendsChanged: boolean } {
    const { digests, cursor } = this.#state
    const recognisesKeys = this.adds && this.deliver.recognisesKeys === true
    return { recognisesKeys, isIncremental: this.#hasCursor || cursor !== null, sendsChanged: digests !== null }
  }

  /** Whether the destination notes batches under the transfer that announced them. */
  get notesBatches(): boolean {
    return this.deliver.notesBatches === true
  }

  /** The columns by which the destination removes rows; `undefined` if it does not remove rows. */
  get removesBy(): readonly string[] | undefined {
    return this.deliver.removesBy?.(this.settings)
  }

  /** The columns by which the destination finds a row again; `undefined` if it cannot. */
  get keyNames(): readonly string[] | undefined {
    return this.deliver.windowKeys?.(this.settings) ?? this.removesBy
  }

  /** The columns that the destination gets, as far as they are known. */
  get columns(): readonly string[] {
    const known = this.#mapping?.columns ?? this.#state.columns
    // A mirror removes rows even if the source has no rows and no columns.
    return known ?? this.removesBy ?? Object.keys(this.#destination.destination?.records ?? {})
  }

  /** Whether a row removes a person from an audience; `undefined` if no column determines this. The mapping must be known. */
  get removal(): ((row: Row) => boolean) | undefined {
    const records = this.#destination.destination?.records
    const at = this.columns.findIndex((name) => records?.[name]?.removing !== undefined)
    const values = records?.[this.columns[at] ?? '']?.removing
    return values && ((row) => values.includes(String(row[at] ?? '').toLowerCase()))
  }

  /** The mapping for these columns of a source. Throws a `ConnectorError` if they are no valid input for it. */
  mappingFor = (columns: readonly string[]): Promise<RowMapping> =>
    requireMapping(
      this.#destination,
      columns,
      { settings: this.settings, secrets: this.destinationSide.secrets, purposes: this.#state.purposes },
      this.#settingErrors,
    )

  /** The window of a chunk by the destination's columns; absent if it does not support windows. The mapping must be known. */
  windowOf: WindowOf = ({ window }) => {
    if (!window || !this.#mapping) return undefined
    const { scope } = scopeAt(this.deliver, this.settings, this.#mapping.plan.steps, window)
    return scope && { ...window, scope }
  }

  /** Whether rows pass without being decoded. @param readers the stages that read all of them */
  rawRoute(readers: readonly string[]): RawRoute {
    return rawRouteOf({ source: this.#source, destination: this.#destination, state: this.#state, readers })
  }

  /**
   * Opens the source, or the rejected rows that are sent again.
   * @param cursor the beginning, if not at the cursor of the transfer
   * @param formats forms of rows that need not be values
   */
  async openReader(
    signal: AbortSignal,
    cursor = this.#state.cursor,
    formats: readonly RawFormat[] = [],
  ): Promise<SourceReader> {
    const { source, replay, reached, part, range } = this.#state
    const plan = this.plan ?? this.#state.plan
    if (replay) return readReplay(this.#host, replay)
    const open = this.#source?.source?.open
    if (!source || !open || !this.#source) throw new Error('A transfer needs a source or rows to send again')
    const { context, redact } = openContext(this.#runtime, this.#source, 'Source', source, signal)
    const to = openContext(this.#runtime, this.#destination, 'Destination', this.destinationSide, signal).context
    const reader = await ofConnector(signal, { side: 'Source', redact }, () =>
      open({
        ...context,
        cursor: cursor ?? undefined,
        ...(reached !== null && { reached }),
        ...(part && { part }),
        ...(range && { range }),
        ...(plan !== null && { plan }),
        takesRaw: takesRawOf(formats, this.deliver, to, (names) => this.#mapping ?? this.mappingFor(names)),
      }),
    )
    this.plan ??= this.#state.plan === null && !part ? reader.plan : undefined
    return guarded(reader, signal, redact)
  }

  /**
   * The route of the rows.
   * @param mappingFor maps the columns of the source, after they are known
   * @param whyNot why this transfer needs a worker, whatever the connection allows
   */
  async route(
    transferId: string,
    mappingFor: RouteDeps['mappingFor'],
    whyNot: string | undefined,
    signal: AbortSignal,
  ): Promise<Route | undefined> {
    const source = this.#state.source
    if (!source || !this.#source) return undefined
    const side = (connector: Connector, role: Role, opened: OpenedSide): RouteSide => ({
      connector,
      ...openContext(this.#runtime, connector, role, opened, signal),
    })
    return routeOf(
      {
        source: side(this.#source, 'Source', source),
        destination: side(this.#destination, 'Destination', this.destinationSide),
        signal,
        mappingFor,
        transfer: { transferId, attempt: this.#state.attempt, startedTime: this.#state.startedTime },
      },
      whyNot,
    )
  }

  /** The columns that the side's platform lists; `null` if it cannot list them. Throws a `ConnectorError` that can be retried. */
  async shapeOf(role: Role, signal: AbortSignal): Promise<SideShape | null> {
    const opened = role === 'Source' ? this.#state.source : this.destinationSide
    const connector = role === 'Source' ? this.#source : this.#destination
    const discover = (role === 'Source' ? connector?.source : connector?.destination)?.discover
    if (!opened || !discover?.columns) return null
    if (role === 'Source' && connector?.source?.columnsByReading) return null
    const found: Discovered[] = []
    const ask = {
      kind: 'discovery',
      connector: opened,
      role,
      field: 'columns',
      search: '',
      withSamples: false,
      showing: 'masked',
      deadlineMs: 0,
    } as const
    try {
      let cursor: string | null = null
      for (let page = 0; page < pagesMax; page += 1) {
        const { items, next }: DiscoveredPage = await runDiscovery(
          { ...ask, cursor, size: limits.discoverySizeMax },
          this.#runtime,
          signal,
        )
        found.push(...items)
        if (next === undefined) break
        cursor = next
      }
    } catch (error) {
      signal.throwIfAborted()
      const action = asConnectorError(error)?.action
      if (action === undefined || action === 'retry' || action === 'reconnect') throw error
      // The transfer meets it as well, and reports it.
      return null
    }
    return shapeOf(found)
  }

  /**
   * Prepares the destination for further columns of the source under their own names: adds them to its table, if it has one.
   * Throws a `ConnectorError` if the table lacks the columns and they cannot be added. Can be called again.
   * @param names of columns that are new in the source
   * @param shape the columns of both sides, for types and for the current table
   * @returns the columns that the mapping lacked, none if all columns pass; and the columns that the table got
   */
  async addColumns(names: readonly string[], shape: Shape, signal: AbortSignal): Promise<Record<AddedTo, string[]>> {
    if (this.#destination.destination?.records) return { mapping: [], table: [] }
    const extended = extendMapping(this.mapping, names)
    if (!extended) throw new ConnectorError('columns_do_not_fit', 'The mapping would become too long.')
    const sent = extended.passes ? names : extended.added
    if (sent.length > 0) await this.#addToTable(sent, shape, signal)
    const table = this.deliver.addColumns ? sent.filter((name) => !hasColumn(shape.destination, name)) : []
    return { mapping: [...extended.added], table }
  }

  async #addToTable(names: readonly string[], { source, destination }: Shape, signal: AbortSignal): Promise<void> {
    const { addColumns } = this.deliver
    if (addColumns) {
      const { context, redact } = openContext(
        this.#runtime,
        this.#destination,
        'Destination',
        this.destinationSide,
        signal,
      )
      const added = names.map((name) => ({ name, type: typeIn(source, name) }))
      return ofConnector(signal, { side: 'Destination', redact }, () => addColumns({ ...context, added }))
    }
    if (!destination || names.every((name) => hasColumn(destination, name))) return
    const { name } = this.#destination
    throw new ConnectorError('not_supported', `Penstock does not add columns to tables of ${name}.`)
  }

  /** The text of the mapping; empty if there is no mapping. */
  get mapping(): string {
    const { mapping } = this.settings
    return mapping === undefined ? '' : String(mapping)
  }

  /** Follows another mapping from now on. To be called before the first row is mapped. */
  follow(mapping: string): void {
    if (mapping === this.mapping) return
    this.destinationSide = { ...this.destinationSide, settings: { ...this.destinationSide.settings, mapping } }
  }

  /**
   * Keeps some of the first rows, which are needed to create a table if the source declares no types. Also keeps whether there
   * are cursors.
   * @param map maps the rows of a chunk
   */
  async sample({ rows: all, ...chunk }: Chunk, map: (some: Chunk) => Promise<MappedChunk>): Promise<void> {
    this.#hasCursor ||= !chunk.readsAll && (chunk.cursor !== undefined || chunk.cursorAfter !== undefined)
    if (this.#firstRows.length > 0 || !this.#mapping) return
    const { rows, errors, skipped } = await map({ ...chunk, rows: all.slice(0, limits.previewRowsMax) })
    this.#firstRows = rows.filter((_, at) => !chunk.errors?.has(at) && !errors.has(at) && !skipped?.[at])
  }

  /** Opens the destination. */
  async openWriter(signal: AbortSignal, delivered: Delivered): Promise<OpenedWriter> {
    const opened = openContext(this.#runtime, this.#destination, 'Destination', this.destinationSide, signal)
    const { redact } = opened
    const context: DestinationContext = {
      ...opened.context,
      startedTime: this.#state.startedTime,
      attempt: this.#state.attempt,
      test: this.#state.testRows !== null,
      columns: this.columns,
      types: this.types,
      rows: this.#firstRows,
      ...delivered,
    }
    const writer = await ofConnector(signal, { side: 'Destination', redact }, () => this.deliver.open(context))
    return { writer, redact }
  }

  /**
   * Answers how the rows of a chunk are mapped. The mapping follows from the columns, which the first chunk has: with it
   * come the columns of both sides, which are not stored yet.
   */
  async mapperFor({
    columns,
    types,
  }: Pick<Chunk, 'columns' | 'types'>): Promise<{ mapping: RowMapping; newColumns?: BatchStart['columns'] }> {
    if (this.#mapping) {
      // The rows may have been mapped before the first chunk was read, which contains the types.
      this.types ??= this.#mapping.typesOf(types)
      return { mapping: this.#mapping }
    }
    const mapping = await this.mappingFor(columns)
    this.use(mapping, columns, types)
    const newColumns = { source: columns.map(storable), destination: mapping.columns.map(storable) }
    return { mapping, newColumns }
  }

  /** Maps rows in this way from now on. @param columns of the source, with their types */
  use(mapping: RowMapping, columns: readonly string[], types: ColumnTypes): void {
    this.#mapping = mapping
    this.sourceColumns = columns
    this.types = mapping.typesOf(types)
  }
}
