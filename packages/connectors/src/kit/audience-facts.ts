import type {
  ConnectorContext,
  ConnectorDefinition,
  DestinationContext,
  Fields,
  Json,
  Values,
} from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'
import type { Auth, ErrorFact, IdSetting, RestApi } from './api.ts'
import type { EventColumns } from './columns.ts'
import type { OpenLater } from './later.ts'
import type { Lister } from './listing-facts.ts'

/**
 * A destination of audiences as a statement of facts. People are added to audiences and removed from them. Rows give the ID or
 * the name of an audience, and an audience that is named is created if it does not exist. Audiences are found again after a
 * crash and in later transfers. The form, the mapping, the page, the reading of rows, the check and the inspection follow from
 * the facts.
 */
export type AudienceDestination = AudienceFacts & (RequestFacts | SendFacts)

/** The facts of a connection, of which the API is known. */
export type OpenedAudience = AudienceDestination & { readonly platformApi: RestApi }

type AudienceFacts = Omit<ConnectorDefinition, 'destination' | 'source' | 'check' | 'dataTypeCategory'> & {
  /**
   * The platform's API. A function of the secrets and settings if there are several hosts, or if the account is in a header.
   */
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
  readonly auth: Auth
  readonly settings: Readonly<Record<string, Fields[string] | IdSetting>>
  /** The setting of the account that owns the audiences. Rows that name audiences need it. */
  readonly account: string
  /** Finds the account in code, if it is not simply the setting: another form of it, or the only account of the credentials. */
  readonly findAccount?: (context: ConnectorContext, client: PlatformClient) => Promise<string>
  /**
   * Settings by which a connection names the audience of rows that name none. With `comesFirst`, its ID also applies to rows
   * that give a name.
   */
  readonly own?: { readonly id?: string; readonly name?: string; readonly comesFirst?: boolean }
  /** The lists that settings can name. By default, the settings in `own` name audiences of `lists`. */
  readonly listed?: Lister['listed']
  readonly batch: { readonly rowsMax: number; readonly bytesMax: number }
  /**
   * The columns of `segmentColumns`, and the columns of a person, whose paths are the platform's keys. If several columns have
   * the same path, the first has priority. A row can have a value of `action`: `create` and `replace` add, `delete` removes.
   */
  readonly columns: EventColumns
  /** Values that belong to nobody, such as the digest of an advertising ID of zeros. They are treated as missing. */
  readonly noOnes?: readonly string[]
  /** The part of a person that identifies them. By default, all of it. */
  readonly identity?: (member: JsonObject) => unknown
  /** The members that a person is sent as, if a row can mean several members, such as one for each of the person's IDs. */
  readonly members?: (person: JsonObject) => readonly JsonObject[]
  /** Finishes a person, if columns do not say it all. */
  readonly finish?: (member: JsonObject, row: BatchRow, settings: Values) => Read<JsonObject>
  readonly lists: ListFacts
  /** If the platform can replace the members of an audience: by the setting `replaceExistingAudience`, which `replaceSetting` makes. */
  readonly replace?: ReplaceFacts
  /** Whether a transfer with these settings replaces the earlier members of audiences, if the connector sees to it by hand. */
  readonly replaces?: (settings: Values) => boolean
  readonly check: {
    /** A request that only needs credentials, or a function that tries them. Without either, an access token is enough. */
    readonly authentication?: PlatformCall | ((context: ConnectorContext) => Promise<unknown>)
    /** The credentials in words: `the app and the refresh token`. */
    readonly credentials: string
    /** A request that shows the permissions of the credentials. */
    readonly permissions?: PlatformCall
    /** The permission that its answer lacks, in a sentence with its remedy. */
    readonly lacks?: (answer: Answer) => string | undefined
    /** A request for the account. */
    readonly account: (to: AccountTarget) => PlatformCall
    /** A request if a connection names no account. Without it, nothing is checked then. */
    readonly noAccount?: PlatformCall
    /**
     * The meaning of the answer for the account, if it differs from the meaning elsewhere: an account that cannot be changed.
     */
    readonly means?: (answer: Answer, to: AccountTarget) => ErrorFact | undefined
  }
}

/** How people are sent: in one request. */
type RequestFacts = {
  /** Which people share a request: people with the same keys, or single identifiers of one key. By default, all. */
  readonly sharing?: 'same keys' | 'one key'
  readonly request: (people: readonly JsonObject[], to: AudienceTarget) => PlatformCall
  readonly answer?: PeopleAnswerFacts
  /** For a platform that accepts a request now and processes it later. */
  readonly later?: OpenLater
  readonly send?: undefined
}

/** How people are sent, if that takes more than one request that facts describe: several requests, or a wait. */
type SendFacts = {
  /**
   * Opens the function that sends people of one audience, and loads the code for it. That function throws `invalid_batch` if
   * the platform refuses the people without naming anyone. Sending the same people again must make no difference. If `lists`
   * has no `make`, it also creates an audience from its first people, which cannot be empty. The audience then has only a name.
   */
  readonly send: (client: PlatformClient, context: DestinationContext) => Promise<SendPeople>
  readonly sharing?: undefined
  readonly request?: undefined
  readonly answer?: undefined
  readonly later?: undefined
}

export type SendPeople = (people: readonly JsonObject[], to: AudienceTarget) => Promise<SentPeople>

/** What was sent, and the people that the platform reports as not accepted. All other people are accepted. */
export type SentPeople = {
  readonly bytes: number
  readonly blamed: readonly PersonBlame[]
  /** How many further people it did not accept. */
  readonly missed: readonly { readonly count: number; readonly reason: string }[]
  /** The answer of the platform about the people who are not blamed. */
  readonly answer?: Json | null
  /** The ID in the answer, if an audience was created from the people who are not blamed. */
  readonly made?: unknown
}

/** A person by index in the request, and what is wrong. */
export type PersonBlame = { readonly at: number; readonly reason: string; readonly field?: string }

/**
 * How a transfer puts people in the place of the earlier members of an audience. With the setting, it does so in every audience that it
 * adds to, and rejects rows that remove people.
 */
export type ReplaceFacts = {
  /**
   * Whether rows can ask for a replacement too, each for its audience, by the action `replace`. If the mapping sets that action
   * for all rows, it works like the setting.
   */
  readonly byRows?: boolean
  /**
   * Opens what replaces members, and loads the code for it. Without it, the first request of a transfer that adds to an audience
   * has `replaces`, and an inspection warns that a transfer that fails leaves a part of the people.
   * @param send adds people
   */
  readonly open?: (client: PlatformClient, context: DestinationContext, send: SendPeople) => Promise<MemberReplacement>
}

/** The replacement of members by one writer. It is opened with the delivery states of earlier ones. */
export type MemberReplacement = {
  /**
   * Sends people who replace the members of an audience. Throws like `SendPeople`.
   * @param key identifies the same people of the same batch. If the key is repeated for the audience, the call must make no
   * difference
   */
  readonly send: (people: readonly JsonObject[], to: AudienceTarget, key: string) => Promise<SentPeople>
  /** The state that a later writer needs about people sent since the last call. `undefined` if there is no such state. */
  readonly deliveryState: () => Json | undefined
  /**
   * The audiences of which people are only kept, if it keeps them until `flush`: later people of these are kept, too, whether they
   * replace members or are added, and batches are held as long as there are some.
   */
  readonly held?: () => ReadonlySet<string>
  /** Sends buffered people, after the last batch. Resolves with the number of bytes. */
  readonly flush?: () => Promise<number>
  /** Completes it after the last batch. Called again, in a later writer too, it finds its work done. */
  readonly finish?: () => Promise<void>
}

/** Whose audiences they are. */
export type AccountTarget = { readonly account: string; readonly settings: Values }

/** Which audience changes. */
export type AudienceTarget = AccountTarget & {
  /** The ID of the audience. Empty if it is created from these people. */
  readonly audience: string
  /** The name of the audience in rows. Absent if they give its ID. */
  readonly name: string | undefined
  readonly verb: 'add' | 'remove'
  /** Whether the added people replace all earlier members. */
  readonly replaces: boolean
  /** The keys of the people of the request, with `sharing`. */
  readonly keys: readonly string[]
  /** For each of the people, the rows of the batch. */
  readonly rows: readonly (readonly number[])[]
}

/** How the platform lists audiences and makes them. */
export type ListFacts = {
  /** The form of an ID. */
  readonly id: RegExp
  readonly nameMax?: number
  /** The form of the whole name of an audience, and the same in words. */
  readonly name?: { readonly pattern: RegExp; readonly wanted: string }
  /** The name of the audience of rows that name none, if the name must not contain a space. */
  readonly ownName?: (transferId: string) => string
  /**
   * A page of the audiences. If it is absent, the platform does not list audiences. Then only the state of the connection has
   * the IDs of the audiences that it created, and a transfer that is interrupted right after it created one creates it again.
   * @param cursor the cursor that `next` returned for the page before. In a discovery it can come from anyone, if `own` names a
   * setting: then use it only as the value of a parameter.
   * @param name the only name that is needed, if the platform can search for it; `undefined` for all
   */
  readonly page?: (to: AccountTarget, cursor: string | undefined, name: string | undefined) => PlatformCall
  /** The audiences of a page that can be changed. */
  readonly found?: (
    answer: Answer,
  ) => readonly { readonly id: unknown; readonly name: unknown; readonly created?: unknown }[]
  /** The cursor of the page after it. @param cursor of the page */
  readonly next?: (answer: Answer, cursor: string | undefined) => unknown
  /**
   * Creates one. If the platform answers with `conflict`, another client created it meanwhile, and it is looked for again.
   * Without `make`, `send` creates an audience from its first people, and no transfer replaces members.
   * @param columns the columns of the rows
   */
  readonly make?: (to: AccountTarget, name: string, columns: readonly string[]) => PlatformCall
  /** The ID in the answer to `make`. */
  readonly made?: (answer: Answer) => unknown
  /** One audience, which is `object_not_found` if it is gone. */
  readonly get: (to: AccountTarget, id: string) => PlatformCall
  readonly isThere?: (answer: Answer, id: string) => boolean
  /** Whether a new audience accepts people only after it appears in the list. */
  readonly appearsLater?: boolean
  /** How the platform says the size of an audience, and its match. Absent if it does not say them. */
  readonly measure?: {
    /** By default, the request of `get`. */
    readonly ask?: (to: AccountTarget, id: string) => PlatformCall
    readonly read: (answer: Answer, id: string) => MeasuredFacts
  }
}

/** Values of an answer, unchanged. Values that are negative or not numbers are treated as unknown. */
export type MeasuredFacts = {
  readonly size?: unknown
  /** The bounds of a range, if the platform returns no single size. */
  readonly low?: unknown
  readonly high?: unknown
  readonly received?: unknown
  readonly matched?: unknown
  readonly status?: unknown
}

/** How an answer reports the result of each person. People that it neither blames nor leaves uncounted are accepted. */
export type PeopleAnswerFacts = {
  /**
   * The people that an answer blames, by index in the request. If the answer is a refusal, no one was taken: the others are
   * sent again. `undefined` or no one leaves it to the errors of the API.
   */
  readonly blames?: (answer: Answer, people: readonly JsonObject[]) => readonly PersonBlame[] | undefined
  /** How many were taken, if it does not say which. */
  readonly taken?: (answer: Answer, to: AudienceTarget) => number | undefined
  /**
   * The meaning of an answer that blames no one, if it differs from the meaning elsewhere: a success that does not confirm all
   * people, or a refusal of the people as a whole, which is `invalid_batch`.
   */
  readonly means?: (answer: Answer, people: number) => ErrorFact | undefined
}
