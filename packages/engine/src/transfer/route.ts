import type {
  Connector,
  ConnectorContext,
  FileExporter,
  FileLoader,
  FileOffer,
  HandoverTransfer,
  Loads,
  TableForm,
} from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import type { Role } from '@penstock/wire'
import type { RowMapping } from '../map-rows.ts'
import type { SideSecrets } from '../side-secrets.ts'
import { ofConnector } from './connector-calls.ts'

/** Which way the rows of a transfer go: through a worker, or from platform to platform (docs/decisions/handover.md). */

/** A side of a connection that is opened. */
export type RouteSide = {
  readonly connector: Connector
  readonly context: ConnectorContext
  readonly redact: SideSecrets['redact']
}

/** Files that the destination loads itself. */
export type LoadRoute = {
  readonly by: 'destination'
  readonly offer: FileOffer
  readonly formOf: (file: StoredFile) => TableForm
  readonly mapping: RowMapping
  /** Why a worker must fill the existing table. */
  whyNotTable(): Promise<string | undefined>
  /** Opens the loader, unless only a worker can fill the table. */
  open(): Promise<{ readonly loader: FileLoader; readonly redact: SideSecrets['redact'] } | { readonly whyNot: string }>
}

/** Rows that the source writes to the store of the destination itself. */
export type ExportRoute = {
  readonly by: 'source'
  readonly exporter: FileExporter
  readonly redact: SideSecrets['redact']
}

/** `whyNot`: why the rows pass a worker, the end of a sentence. */
export type Route = LoadRoute | ExportRoute | { readonly by: 'worker'; readonly whyNot: string }

/** Files that are looked at concurrently. */
const looksMax = 8

const worker = (whyNot: string): Route => ({ by: 'worker', whyNot })

/** How a connection can be looked at. */
export type RouteDeps = {
  readonly source: RouteSide
  readonly destination: RouteSide
  readonly signal: AbortSignal
  /** How the columns of the source are mapped. Throws a `ConnectorError`. */
  readonly mappingFor: (columns: readonly string[]) => Promise<RowMapping>
  readonly transfer: HandoverTransfer
  /** Maximum files to inspect; all files by default. */
  readonly filesMax?: number
}

/**
 * Decides the route of a transfer. Does not change either side.
 * @param whyNot why this transfer needs a worker, whatever the connection allows
 * @returns `undefined` if the only route between the two connectors leads through a worker
 * @throws a `ConnectorError` of the source, which can be retried, or which reading by a worker would cause as well
 */
export async function routeOf(deps: RouteDeps, whyNot: string | undefined): Promise<Route | undefined> {
  const { source, destination, signal } = deps
  const offerOf = source.connector.source?.offer
  const loads = destination.connector.destination?.deliver?.loads
  if (!offerOf || !loads) return exportRouteOf(deps, whyNot)
  const { settings, secrets } = destination.context
  const { name } = destination.connector
  if (!loads.isWanted(settings)) return worker(`the connection does not have ${name} load files`)
  const needed = whyNot ?? loads.whyNot({ settings, secrets })
  if (needed !== undefined) return worker(needed)
  const ofSource = <T>(call: () => Promise<T>) => ofConnector(signal, { side: 'Source', redact: source.redact }, call)
  const offer = await ofSource(() => offerOf(source.context))
  if ('whyNot' in offer) return worker(offer.whyNot)
  if (!loads.schemes.includes(offer.scheme)) return worker(`${name} does not load files from ${source.connector.name}`)
  const forms = await ofSource(() => lookAt(offer, loads, deps.filesMax))
  if ('whyNot' in forms) return worker(forms.whyNot)
  const first = forms.get(offer.files[0]?.name ?? '')
  if (!first) return worker('there is no file')
  const mapping = await deps.mappingFor(first.columns)
  const changed = await changedStep(mapping)
  if (changed !== undefined) return worker(`the mapping changes values of ${changed}`)
  return {
    by: 'destination',
    offer: { ...offer, changedOf: (files) => ofSource(() => offer.changedOf(files)) },
    mapping,
    whyNotTable: () =>
      ofConnector(signal, { side: 'Destination', redact: destination.redact }, () =>
        loads.whyNotTable({
          ...destination.context,
          columns: mapping.columns,
          picked: pickedOf(mapping),
          sourceTypes: first.types,
        }),
      ),
    formOf: (file) => forms.get(file.name) ?? first,
    open: () => openLoader(deps, loads, { offer, mapping, first }),
  }
}

async function exportRouteOf(deps: RouteDeps, whyNot: string | undefined): Promise<Route | undefined> {
  const { source, destination, signal, transfer } = deps
  const exports = source.connector.source?.exports
  const placeOf = destination.connector.destination?.deliver?.place
  if (!exports || !placeOf) return undefined
  const { name } = source.connector
  if (!exports.isWanted(source.context.settings)) return worker(`the connection does not have ${name} write files`)
  if (whyNot !== undefined) return worker(whyNot)
  const place = await ofConnector(signal, { side: 'Destination', redact: destination.redact }, () =>
    placeOf({ ...destination.context, ...transfer }),
  )
  if ('whyNot' in place) return worker(place.whyNot)
  if (!exports.schemes.includes(place.scheme)) return worker(`${name} does not write to ${destination.connector.name}`)
  const { redact } = source
  const exporter = await ofConnector(signal, { side: 'Source', redact }, () =>
    exports.open({ ...source.context, ...transfer, place }),
  )
  if ('whyNot' in exporter) return worker(exporter.whyNot)
  const { plan } = await deps.mappingFor(exporter.columns)
  return plan.asIs ? { by: 'source', exporter, redact } : worker('the mapping changes or renames columns')
}

/** The forms of the files, which have the same columns, or why a worker must read them. */
async function lookAt(
  offer: FileOffer,
  loads: Loads,
  filesMax = Number.POSITIVE_INFINITY,
): Promise<ReadonlyMap<string, TableForm> | { readonly whyNot: string }> {
  const left = offer.files.slice(0, filesMax).reverse()
  const forms = new Map<string, TableForm>()
  let whyNot: string | undefined
  const work = async () => {
    for (let file = left.pop(); file && whyNot === undefined; file = left.pop()) {
      const found = await offer.formOf(file)
      const why = 'whyNot' in found ? found.whyNot : loads.whyNotFile?.(file, found.form)
      if (why !== undefined) whyNot ??= why
      else if ('form' in found) forms.set(file.name, found.form)
    }
  }
  await Promise.all(Array.from({ length: looksMax }, work))
  if (whyNot !== undefined) return { whyNot }
  const [first, ...others] = forms.values()
  const columns = new Set(first?.columns)
  if (others.some(({ types }) => JSON.stringify(types) !== JSON.stringify(first?.types))) {
    return { whyNot: 'not all files have the same types' }
  }
  const other = others.some(
    (form) => form.columns.length !== columns.size || form.columns.some((name) => !columns.has(name)),
  )
  return other ? { whyNot: 'not all files have the same columns' } : forms
}

/** The first field whose values are not the values of one column of the source. */
async function changedStep({ plan, options }: RowMapping): Promise<string | undefined> {
  if (plan.asIs) return undefined
  const { passesUnchanged } = await import('../mapping/mapping.ts')
  return plan.steps.find((step) => !passesUnchanged(step, options))?.field
}

/** For each delivered column, the index of the column of the source that fills it. */
const pickedOf = ({ plan }: RowMapping): number[] => plan.steps.map(({ column }) => column?.index ?? -1)

async function openLoader(
  { destination, signal, transfer }: RouteDeps,
  loads: Loads,
  { offer, mapping, first }: { offer: FileOffer; mapping: RowMapping; first: TableForm },
) {
  const { redact, context } = destination
  const side: Role = 'Destination'
  const opened = await ofConnector(signal, { side, redact }, () =>
    loads.open({
      ...context,
      ...transfer,
      scheme: offer.scheme,
      bucket: offer.bucket,
      columns: mapping.columns,
      sourceColumns: first.columns,
      sourceTypes: first.types,
      picked: pickedOf(mapping),
    }),
  )
  return 'whyNot' in opened ? opened : { loader: opened, redact }
}

/** A sentence for people: which way the rows go, and why. @param names of the connectors */
export function sentenceOfRoute(
  route: Route,
  names: { readonly source: string; readonly destination: string },
): string {
  if (route.by === 'worker') return `Rows pass a worker, because ${route.whyNot}.`
  return route.by === 'destination'
    ? `${names.destination} loads the files itself. Their rows pass no worker.`
    : `${names.source} writes the files itself. Their rows pass no worker.`
}
