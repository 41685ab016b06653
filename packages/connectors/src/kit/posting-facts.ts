import type { ConnectorDefinition, Fields, Values } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { Read, Wrong } from '../platform-api/rows/events.ts'
import type { Auth, IdSetting, RestApi } from './api.ts'
import type { EventColumns } from './columns.ts'
import type { WhyNot } from './event-facts.ts'
import type { Lister } from './listing-facts.ts'

/**
 * A destination that creates campaigns and what they consist of, and changes them, as a statement of facts. A row is one object of
 * a level, by its ID, or by its name within the account and its parent. An object that exists is compared with the row, and only
 * differences are sent: a row that is repeated changes nothing. New objects are paused unless the row says otherwise. The form, the
 * mapping, the limits of budgets, the preview and the check follow from the facts.
 */
export type PostingDestination = Omit<
  ConnectorDefinition,
  'destination' | 'source' | 'check' | 'actions' | 'dataType' | 'dataTypeCategory'
> & {
  readonly platformApi: RestApi
  readonly auth: Auth
  /** Settings of a connection, in addition to the settings of every such destination. */
  readonly settings: Readonly<Record<string, Fields[string] | IdSetting>>
  readonly listed?: Lister['listed']
  readonly account: {
    /** The key of its setting. */
    readonly setting: string
    /** The account as paths contain it. Throws `invalid_setting`. */
    readonly of: (settings: Values) => string
    readonly get: (account: string) => PlatformCall
    readonly currency: (answer: Answer) => unknown
  }
  readonly money: {
    /**
     * Decimals of an amount in a currency, if the platform expects whole numbers of its smallest unit. `undefined` for an
     * unknown currency.
     */
    readonly digits: (currency: string) => number | undefined
    readonly as: 'number' | 'text'
  }
  /** By their names in rows, parents first. */
  readonly levels: Readonly<Record<string, PostingLevel>>
  /** Whether the platform can validate a request without doing it. */
  readonly validates: boolean
  /** Why an answer refuses the object of a request. `undefined` if it does not, or if it refuses for another reason. */
  readonly refusal: (answer: Answer, level: PostingLevel) => WhyNot | undefined
  /** Whether a refusal says that another object has the name. */
  readonly isTaken?: (answer: Answer) => boolean
  readonly check: {
    /** A request that only needs credentials. */
    readonly authentication: PlatformCall
    /** The credentials in words: `the access token`. */
    readonly credentials: string
    /** A request that shows the permissions of the credentials, and the permission that its answer lacks, in a sentence. */
    readonly permissions?: readonly [PlatformCall, lacks: (answer: Answer) => string | undefined]
  }
}

export type PostingLevel = {
  /** One of its objects, in words: `ad set`. */
  readonly one: string
  /** The level of its parents, which precedes it. */
  readonly parent?: string
  /** The form of an ID. */
  readonly id: RegExp
  /** The most characters of a name. */
  readonly nameMax: number
  /** Its columns. Paths are the platform's keys. The paths `name` and `status` are the paths of the name and the status. */
  readonly columns: EventColumns
  /** Columns without which an object cannot be created. A list means that one of its columns is enough. */
  readonly needs: readonly (string | readonly string[])[]
  /** Columns that cannot change once it is created. */
  readonly fixed: readonly string[]
  /** Finishes the values of a row, if columns do not say it all. */
  readonly finish?: (values: JsonObject) => Read<JsonObject>
  /** Values of a new object that its row lacks. The status must be among them. */
  readonly usual: (values: JsonObject, settings: Values) => JsonObject
  /** A page of the objects of the account that are not deleted, of one parent if the level has parents. */
  readonly page: (to: PostingTarget, cursor: string | undefined) => PlatformCall
  readonly next?: (answer: Answer) => unknown
  readonly found: (answer: Answer) => readonly PostedAnswer[]
  /** A request for an object by its ID, and the ID of the parent in the answer. Only for a level with parents. */
  readonly ofParent?: readonly [(account: string, id: string) => PlatformCall, parent: (answer: Answer) => unknown]
  /** Why an object cannot be changed like this. */
  readonly cannot?: (object: PostedObject, changes: JsonObject) => Wrong | undefined
  readonly create: (request: PostingRequest) => PlatformCall
  readonly change: (request: PostingRequest & { readonly object: PostedObject }) => PlatformCall
  /** The ID of the new object. */
  readonly made: (answer: Answer) => unknown
}

/** The account of the objects, and the ID of their parent, which is empty for a level without parents. */
export type PostingTarget = { readonly account: string; readonly parent: string }

export type PostingRequest = PostingTarget & {
  /** The values to set, by the platform's keys. Amounts are in the units of the platform. */
  readonly values: JsonObject
  /** Whether the platform only validates it. */
  readonly isTry: boolean
}

/** An object as the platform answers it. */
export type PostedAnswer = {
  readonly id: unknown
  readonly name: unknown
  /** The values by the paths of columns. Values that the object does not have are empty there. */
  readonly values: JsonObject
  /** More about it, for requests that change it. */
  readonly about?: JsonObject
}

/** An object of the account. */
export type PostedObject = {
  readonly id: string
  readonly name: string
  readonly parent: string
  readonly values: JsonObject
  readonly about: JsonObject
}
