import {
  type Authorization,
  type Connector,
  type DestinationSide,
  type Fields,
  identifiesState,
  movesIn,
  type Records,
  type Side,
  type SourceSide,
  showValue,
  usualBatch,
} from '@penstock/connector'
import { foldName, wellKnownNames } from '@penstock/engine'
import type { ConnectorDefinition, FieldDefinition, RecordDefinition, SideDefinition } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { refuse } from '../refusal.ts'
import type { TransferDeps } from './transfers.ts'

/**
 * Definitions of connectors, for clients that draw a form or map columns. It is in this module because it lists the
 * names by which the mapping finds a column.
 */

/** Connectors do not change while the process runs: the definition of each is built, and frozen, once. */
const cached = new WeakMap<Connector, ConnectorDefinition>()

export async function getConnectorDefinition(
  { id }: Call<'getConnectorDefinition'>,
  { catalogue }: TransferDeps,
): Promise<Answer<'getConnectorDefinition'>> {
  const connector = catalogue.find(id) ?? refuse('not_found')
  const reply = cached.get(connector) ?? Object.freeze(viewDefinition(connector))
  cached.set(connector, reply)
  return { reply }
}

const viewDefinition = (connector: Connector): ConnectorDefinition => ({
  connectorId: connector.id,
  name: connector.name,
  description: connector.description,
  api: connector.api ?? null,
  notes: connector.notes ?? null,
  tested: connector.tested ?? null,
  prepare: [...(connector.platform.prepare ?? [])],
  secretFields: viewFields(connector.secrets),
  authorization: connector.authorization ? viewAuthorization(connector.authorization) : null,
  source: connector.source
    ? {
        ...viewSide(connector.source, movesIn(connector, 'Source'), false),
        ...(connector.source.backfill && { backfill: connector.source.backfill.by }),
        ...(connector.source.changeLog && { changeLog: true }),
      }
    : null,
  destination: connector.destination
    ? {
        ...viewSide(connector.destination, movesIn(connector, 'Destination'), true),
        ...viewDelivery(connector.destination),
      }
    : null,
})

function viewDelivery(
  side: DestinationSide,
): Pick<SideDefinition, 'removes' | 'tries' | 'audienceSizes' | 'batch' | 'columnTypes' | 'creates'> {
  const batch = usualBatch(side)
  return {
    ...(side.deliver?.removesBy && { removes: true }),
    ...(side.deliver?.try && { tries: true }),
    ...(side.deliver?.measureAudiences && { audienceSizes: true }),
    ...(batch && { batch }),
    ...(side.columnTypes && { columnTypes: [...side.columnTypes] }),
    ...(side.creates && {
      creates: { ...side.creates, records: [...side.creates.records], settings: [...side.creates.settings] },
    }),
  }
}

const viewAuthorization = ({ server, scopes, client, refreshToken, sets = {} }: Authorization) => ({
  platform: server.name,
  scopes: [...scopes],
  fields: [...Object.keys(sets), client.id, client.secret, refreshToken],
})

/** @param mapped its records are filled from columns, which are found by name */
const viewSide = (
  { fields = {}, records = {}, discover, ask }: Side & Pick<SourceSide, 'ask'>,
  moves: boolean,
  mapped: boolean,
): SideDefinition => ({
  ...(moves ? {} : { integrated: false }),
  fields: viewFields(fields),
  records: viewRecords(records, mapped),
  ...(discover ? { discover: Object.keys(discover) } : {}),
  ...(ask ? { asks: true } : {}),
})

const viewFields = (fields: Fields): FieldDefinition[] =>
  Object.entries(fields).map(([name, field]) => ({
    name,
    label: field.label,
    description: field.description,
    type: field.type,
    required: field.required,
    readonly: field.readonly,
    ...(field.min === undefined ? {} : { min: field.min }),
    ...(field.max === undefined ? {} : { max: field.max }),
    ...(field.options ? { options: [...field.options] } : {}),
    ...(field.labels ? { optionLabels: field.labels } : {}),
    ...(field.asked && { asked: true as const }),
    ...(field.meanings && { meanings: { ...field.meanings } }),
    ...(field.purpose && { purpose: field.purpose }),
    ...(field.default === undefined ? {} : { default: showValue(field.default) }),
    ...(field.when
      ? { when: Object.fromEntries(Object.entries(field.when).map(([other, values]) => [other, [values].flat()])) }
      : {}),
    ...(field.form ? { form: field.form } : {}),
    ...(identifiesState(field) ? {} : { keepsState: true }),
    ...(field.role ? { role: field.role } : {}),
  }))

const viewRecords = (records: Records, mapped: boolean): RecordDefinition[] =>
  Object.entries(records).map(([name, record]) => {
    const synonyms = mapped ? synonymsOf(name, record) : []
    return {
      name,
      description: record.description,
      required: record.required,
      ...(record.normalise ? { normalise: record.normalise } : {}),
      ...(record.hashed ? { hashed: [...record.hashed] } : {}),
      ...(record.digestEncoding ? { digestEncoding: record.digestEncoding } : {}),
      ...(record.oneOf === undefined ? {} : { oneOf: record.oneOf }),
      ...(record.together === undefined ? {} : { together: record.together }),
      ...(record.values ? { values: [...record.values] } : {}),
      ...(record.reads ? { reads: record.reads } : {}),
      ...(synonyms.length > 0 ? { synonyms } : {}),
    }
  })

/** The names that the author gave, then the well-known ones; each once, however it is written, and never the field's own. */
function synonymsOf(name: string, record: Records[string]): string[] {
  const byFolded = new Map<string, string>()
  for (const synonym of [...(record.synonyms ?? []), ...wellKnownNames(name, record)]) {
    const folded = foldName(synonym)
    if (folded !== foldName(name) && !byFolded.has(folded)) byFolded.set(folded, synonym)
  }
  return [...byFolded.values()]
}
