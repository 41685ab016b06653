import type {
  Check,
  ConnectorContext,
  ConnectorDefinition,
  Ecapi,
  Erasure,
  Fields,
  Inspect,
  Values,
} from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'
import type { Auth, IdSetting, RestApi } from './api.ts'
import type { EventColumns } from './columns.ts'
import type { OpenLater } from './later.ts'
import type { Lister } from './listing-facts.ts'

/**
 * A destination of events as a statement of facts. The form, the mapping, the page in the documents, the reading of rows, the
 * batch and its split, the result of each row, the check, and the inspection before a transfer follow from it.
 */
export type EventDestination = Omit<ConnectorDefinition, 'destination' | 'source' | 'check' | 'dataTypeCategory'> &
  Partial<Pick<ConnectorDefinition, 'source' | 'dataTypeCategory'>> & {
    readonly api: Pick<NonNullable<ConnectorDefinition['api']>, 'version' | 'ends'>
    /** The platform's API. A function of the connector's secrets if there are several hosts. */
    readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
    readonly auth: Auth
    readonly settings: Readonly<Record<string, Fields[string] | IdSetting>>
    /** The lists that settings can name. */
    readonly listed?: Lister['listed']
    readonly batch: { readonly rowsMax: number; readonly bytesMax: number }
    /** How many events and bytes of JSON one request has at most, if a batch can have more. A function if settings decide it. */
    readonly requestMax?: RequestMax | ((settings: Values) => RequestMax)
    readonly columns: EventColumns
    /** How it receives events in the form of the standard ECAPI. Required of destinations of conversions. */
    readonly ecapi?: Ecapi
    /** How the platform erases a person. */
    readonly erasure?: Erasure
    /** Constant values of all events, by path. */
    readonly constants?: Readonly<Record<string, unknown>>
    /** Constant values of events that have one of some values at a path. */
    readonly puts?: readonly {
      readonly at: string
      readonly is: readonly (string | boolean)[]
      readonly what: Readonly<Record<string, unknown>>
    }[]
    /** By what the platform finds a person, if one identifying column is not enough: paths, of which one group must be there. */
    readonly person?: {
      readonly anyOf: readonly (string | readonly string[])[]
      readonly missing: string
      readonly field: string
    }
    /** Paths that events need which have one of some values at a path. */
    readonly needs?: readonly {
      readonly at: string
      readonly is: readonly string[]
      readonly paths: readonly string[]
      readonly missing: string
    }[]
    /** Completes the event of a row, if columns cannot express everything. It also sees paths with `@`. */
    readonly finish?: (event: JsonObject, row: BatchRow, settings: Values) => Read<JsonObject>
    /**
     * Asks the platform for what rows need, before the first batch of a transfer. The function that it makes completes each event
     * after `finish`, or says why it cannot be sent. A preview does not use it.
     */
    readonly lookUp?: (context: ConnectorContext) => Promise<Completion>
    /**
     * Where events go, if they do not all go to one place: by the value at a path, with the setting that is needed for it,
     * `null` if no setting is needed. Targets are sent in this order. Without settings, the value is the ID.
     */
    readonly targets?: {
      readonly at: string
      readonly settings?: Readonly<Record<string, readonly [setting: string, label: string] | null>>
      readonly field: string
    }
    /** Completes the settings before the first request, by what the platform knows. */
    readonly completeSettings?: (client: PlatformClient, settings: Values) => Promise<Values>
    /** One request with events of one target. */
    readonly request: (events: readonly JsonObject[], to: EventTarget) => PlatformCall
    readonly answer: AnswerFacts
    /** For a platform that accepts a request now and processes it later. */
    readonly later?: OpenLater
    /** `null` if the platform has no request that can be tried without recording an event. The check then reports that. */
    readonly probe?: Probe | null
    /** Of a connector that is a source, too: how that side is checked, and whether a context is of it. */
    readonly sourceCheck?: { readonly isMeant: (context: ConnectorContext) => boolean; readonly check: Check }
    /**
     * Replace the functions that `probe` creates. They must load their code when they are called. The settings are inspected
     * first.
     */
    readonly check?: Check
    readonly inspect?: Inspect
  }

type RequestMax = { readonly events: number; readonly bytes: number }

/** Completes an event by what the platform reports. */
export type Completion = (event: JsonObject) => Read<JsonObject>

/** The destination of a request. */
export type EventTarget = {
  readonly settings: Values
  readonly secrets: Values
  /** One of the keys of `targets.settings`, and the value of its setting. */
  readonly target: string | undefined
  readonly id: string | undefined
  /** Whether it only tries the credentials and the settings. */
  readonly isProbe: boolean
}

/** How an answer reports the result of each event. Events that it does not blame are accepted. */
export type AnswerFacts = {
  /**
   * Which answers refuse the whole request because of its content. The kit then sends halves, with the same IDs. `blamed`:
   * answers that blame an event. The engine halves the batch after other refusals, which is right if each event has its own ID.
   */
  readonly refuses?: readonly number[] | ((answer: Answer) => boolean) | 'blamed'
  /**
   * Why an event is rejected that was refused in a request without other events: words to which the status and the platform's
   * codes are added, or a sentence. By default, that the platform does not accept it.
   */
  readonly refusal?: string | ((answer: Answer) => string)
  /** Whether an answer that is a success says that all events were taken. */
  readonly confirms?: (answer: Answer, sent: number) => boolean
  /**
   * The result of each event of an answer, in the order in which they were sent: why it was not accepted, or `undefined`.
   * Throws errors of the connection, and errors after which all events must be sent again.
   */
  readonly results?: (
    answer: Answer,
    sent: readonly JsonObject[],
    to: EventTarget,
  ) => readonly (WhyNot | undefined)[] | undefined
  /** The events that an answer blames which refuses the request, by their places: the others are sent again. */
  readonly blames?: (answer: Answer, sent: readonly JsonObject[], to: EventTarget) => ReadonlyMap<number, WhyNot>
  /** The reasons of an answer with results for events that it does not name, one for each event. */
  readonly unnamed?: (answer: Answer, sent: readonly JsonObject[]) => readonly string[]
  /** How many events an answer says were taken, if it does not say which. */
  readonly taken?: (answer: Answer) => number | undefined
}

/**
 * Why an event was not taken, and the column to blame if it is known. `again`: the platform failed, and the event is sent once
 * more.
 */
export type WhyNot = string | { readonly reason: string; readonly field?: string; readonly again?: boolean }

/** How the credentials and the settings are tried, so that the platform records nothing. */
export type Probe = {
  /** The events to send. By default there are none. */
  readonly events?: () => readonly JsonObject[]
  /** Settings that name an object of no one, with which only the credentials are tried. */
  readonly stranger?: Values
  /** Whether the credentials are exchanged for a token. The check of the credentials is then only the exchange. */
  readonly exchanges?: boolean
  /** The object that the settings of a connection name: `pixel`. Without one, nothing is checked. */
  readonly names: string
  /** The settings without which nothing is checked, if one ID is not enough. */
  readonly needs?: readonly string[]
  /** Whether an answer that refuses these events shows that the platform would take others. */
  readonly mayBeRefused?: boolean
  /** The credentials in words: `conversion access token`. */
  readonly credentials: string
}
