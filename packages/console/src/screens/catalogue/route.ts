import {
  httpApiConnectorId,
  incompatibilities,
  rejectedRecordsConnectorId,
  uploadedFileConnectorId,
} from '@penstock/wire'
import type { ConnectorPart, Sentence } from './sentence.ts'
import type { Entity, KnownConnector } from './vocabulary.ts'

/** The route that a sentence asks for: which connectors can be paired, and which the sub-account has already. */

/** Connectors of the sub-account, by their identifiers: whether each is configured. */
export type Added = ReadonlyMap<string, boolean>

/** A side of a route, and what else the same words can mean there, the most likely first. */
export type End = {
  readonly connector: KnownConnector
  /** The words that name it; undefined if the route proposes it. */
  readonly part: ConnectorPart | undefined
  readonly others: readonly KnownConnector[]
}

export type Route = {
  /** Undefined if there is no source to propose. */
  readonly source: End | undefined
  /** One for each connection; empty if the sentence names none. */
  readonly destinations: readonly End[]
  readonly entity: Entity | undefined
  /** Why the source and a destination cannot be paired; empty if they can. */
  readonly obstacles: readonly string[]
}

const isSource = ({ supportedType }: KnownConnector) => supportedType !== 'Destination'
const isDestination = ({ supportedType }: KnownConnector) => supportedType !== 'Source'
const fits = (source: KnownConnector | undefined, destination: KnownConnector | undefined) =>
  source === undefined || destination === undefined || incompatibilities(source, destination).length === 0

/** @returns undefined if the sentence names no connector and nothing that can be moved */
export function routeOf(sentence: Sentence, connectors: readonly KnownConnector[], added: Added): Route | undefined {
  const byId = new Map(connectors.map((one) => [one.connectorId, one]))
  const entity = sentence.parts.find((part) => part.as === 'entity')?.entity
  const named = sentence.parts.filter((part) => part.as === 'connector')
  if (named.length === 0) return undefined
  const candidates = (part: ConnectorPart, side: 'from' | 'to', other?: KnownConnector) => {
    const can = side === 'from' ? isSource : isDestination
    // Words such as `Amazon S3 Source` behind `to` mean the platform.
    const exact = part.ids.flatMap((id) => byId.get(id) ?? [])
    const siblings = connectors.filter((one) => exact.some(({ platformId }) => platformId === one.platformId))
    const found = exact.some(can) ? exact.filter(can) : siblings.filter(can)
    const score = (one: KnownConnector) => {
      const place = entity ? entity[side].indexOf(one.dataTypeCategory) : -1
      return (
        (part.named.includes(one.connectorId) ? 1000 : 0) +
        ((side === 'from' ? fits(one, other) : fits(other, one)) ? 200 : 0) +
        (place >= 0 ? 100 - place : 0) +
        (added.get(one.connectorId) ? 30 : added.has(one.connectorId) ? 15 : 0) +
        (one.connectorId === uploadedFileConnectorId ? 8 : 0)
      )
    }
    return found.toSorted((a, b) => score(b) - score(a) || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
  }
  const endOf = (part: ConnectorPart, side: 'from' | 'to', other?: KnownConnector): End[] => {
    const [connector, ...others] = candidates(part, side, other)
    return connector ? [{ connector, part, others }] : []
  }
  const [sourcePart, destinationParts] = sidesOf(named, (part) => isRatherSource(part, byId, entity))
  // The words of the destination decide which connector the words of the source mean, and the other way around.
  const likely = destinationParts[0] && candidates(destinationParts[0], 'to')[0]
  const [said] = sourcePart ? endOf(sourcePart, 'from', likely) : []
  const destinations = destinationParts.flatMap((part) => endOf(part, 'to', said?.connector))
  const source = said ?? (destinations[0] && proposedSource(destinations, connectors, added, entity))
  if (!source && destinations.length === 0) return undefined
  const obstacles = destinations.flatMap(({ connector }) =>
    source ? incompatibilities(source.connector, connector) : [],
  )
  return { source, destinations, entity, obstacles }
}

/** Whether words without `to` and `from` are rather a source: by what is moved, then by what most of the connectors are. */
function isRatherSource(
  { ids }: ConnectorPart,
  byId: ReadonlyMap<string, KnownConnector>,
  entity: Entity | undefined,
): boolean {
  const meant = ids.flatMap((id) => byId.get(id) ?? [])
  const sources = meant.filter(isSource)
  const destinations = meant.filter(isDestination)
  if (sources.length === 0 || destinations.length === 0) return sources.length > 0
  const suits = (side: 'from' | 'to', all: readonly KnownConnector[]) =>
    all.some(({ dataTypeCategory }) => entity?.[side][0] === dataTypeCategory)
  const [read, written] = [suits('from', sources), suits('to', destinations)]
  return read === written ? sources.length >= destinations.filter((one) => !isSource(one)).length : read
}

/** Which of the named connectors is the source. Without `to` and `from`, the first one is, unless it is rather a destination. */
function sidesOf(
  named: readonly ConnectorPart[],
  canRead: (part: ConnectorPart) => boolean,
): [ConnectorPart | undefined, readonly ConnectorPart[]] {
  const source = named.find(({ place }) => place === 'source')
  const destinations = named.filter(({ place }) => place === 'destination')
  const [first, ...others] = named.filter(({ place }) => place === 'open')
  if (!first) return [source, destinations]
  if (source) return [source, [first, ...others, ...destinations]]
  return canRead(first) ? [first, [...others, ...destinations]] : [undefined, [first, ...others, ...destinations]]
}

const otherSourcesMax = 4

/** Sources for destinations that are said without one: of the sub-account, then a file, then others of what is moved. */
function proposedSource(
  destinations: readonly End[],
  connectors: readonly KnownConnector[],
  added: Added,
  entity: Entity | undefined,
): End | undefined {
  const ids = destinations.map(({ connector }) => connector.connectorId)
  const place = (one: KnownConnector) => {
    if (added.get(one.connectorId)) return 0
    if (one.connectorId === uploadedFileConnectorId) return 1
    if (added.has(one.connectorId)) return 2
    if (one.kind === 'customer platform' && entity && entity.id !== 'reports') return 3
    return one.kind === 'database' || one.connectorId === httpApiConnectorId ? 4 : 5
  }
  const [connector, ...others] = connectors
    .filter(
      (one) =>
        isSource(one) &&
        one.connectorId !== rejectedRecordsConnectorId &&
        !ids.includes(one.connectorId) &&
        destinations.every((end) => fits(one, end.connector)) &&
        place(one) < 5,
    )
    .toSorted((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1))
  return connector && { connector, part: undefined, others: others.slice(0, otherSourcesMax) }
}

/** The connectors that a sentence names, with every meaning of its words. */
export function matching(sentence: Sentence, connectors: readonly KnownConnector[]): KnownConnector[] {
  const named = sentence.parts.flatMap((part) =>
    part.as === 'connector' ? [new Set(part.named.length > 0 ? part.named : part.ids)] : [],
  )
  return connectors.filter(({ connectorId }) => named.some((ids) => ids.has(connectorId)))
}

/** Connectors whose names, or other names, contain the text; for words that are not understood. */
export function searched(text: string, connectors: readonly KnownConnector[]): KnownConnector[] {
  const wanted = text.trim().toLowerCase()
  const byName = connectors.filter(({ name }) => name.toLowerCase().includes(wanted))
  if (byName.length > 0) return byName
  return connectors.filter(({ alsoCalled }) => alsoCalled.some((name) => name.startsWith(wanted)))
}
