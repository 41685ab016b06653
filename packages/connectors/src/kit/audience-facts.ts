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
 * A destination of audiences as a statement of facts: people are added to audiences and removed from them, each audience by its
 * ID or by its name, and one that is named is made if there is none. Audiences are found again after a crash and in later
 * transfers. The form, the mapping, the page, the reading of rows, the check and the inspection follow from the facts.
 */
export type AudienceDestination = AudienceFacts & (RequestFacts | SendFacts)

/** The facts of a connection, of which the API is known. */
export type OpenedAudience = AudienceDestination & { readonly platformApi: RestApi }

type AudienceFacts = Omit<ConnectorDefinition, 'destination' | 'source' | 'check' | 'dataTypeCategory'> & {
  /** The platform's API; of several hosts, or with the account in a header, by the secrets and settings. */
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
  readonly auth: Auth
  readonly settings: Readonly<Record<string, Fields[string] | IdSetting>>
  /** The setting of the account that owns the audiences. Rows that name audiences need it. */
  readonly account: string
  /** Finds the account by hand, if it is not the setting as it is: another form of it, or the only one of the credentials. */
  readonly findAccount?: (context: ConnectorContext, client: PlatformClient) => Promise<string>
  /** Settings by which a connection names the audience of rows that name none; with `comesFirst`, its ID is also for rows that give a name. */
  readonly own?: { readonly id?: string; readonly name?: string; readonly comesFirst?: boolean }
  /** What settings can name. Without it, those in `own` name audiences of `lists`. */
  readonly listed?: Lister['listed']
  readonly batch: { readonly rowsMax: number; readonly bytesMax: number }
  /**
   * The columns of `segmentColumns`, and those of a person, whose paths are the platform's keys. Of several with one path, the first
   * counts. A row may have the values of `action`: `create` and `replace` add, `delete` removes.
   */
  readonly columns: EventColumns
  /** Values that are no one's, such as the digest of an advertising ID of zeros: they count as missing. */
  readonly noOnes?: readonly string[]
  /** What of a person says who it is; by default, all. */
  readonly identity?: (member: JsonObject) => unknown
  /** The members that a person is sent as, if a row can stand for several, such as one for each of the person's IDs. */
  readonly members?: (person: JsonObject) => readonly JsonObject[]
  /** Finishes a person, if columns do not say it all. */
  readonly finish?: (member: JsonObject, row: BatchRow, settings: Values) => Read<JsonObject>
  readonly lists: ListFacts
  /** If the platform can replace the members of an audience: by the setting `replaceExistingAudience`, which `replaceSetting` makes. */
  readonly replace?: ReplaceFacts
  /** Whether a transfer with these settings replaces the earlier members of audiences, if the connector sees to it by hand. */
  readonly replaces?: (settings: Values) => boolean
  readonly check: {
    /** A request that only needs credentials, or what tries them by hand; without either, an access token is enough. */
    readonly authentication?: PlatformCall | ((context: ConnectorContext) => Promise<unknown>)
    /** The credentials in words: `the app and the refresh token`. */
    readonly credentials: string
    /** A request that shows the permissions of the credentials. */
    readonly permissions?: PlatformCall
    /** The permission that its answer lacks, in a sentence with its remedy. */
    readonly lacks?: (answer: Answer) => string | undefined
    /** A request for the account. */
    readonly account: (to: AccountTarget) => PlatformCall
    /** A request if a connection names no account; without one, nothing is checked then. */
    readonly noAccount?: PlatformCall
    /** What the answer for the account means, if it is not what it would mean elsewhere: an account that may not be changed. */
    readonly means?: (answer: Answer, to: AccountTarget) => ErrorFact | undefined
  }
}

/** How people are sent: in one request. */
type RequestFacts = {
  /** Which people share a request: those with the same keys, or single identifiers of one key. By default, all. */
  readonly sharing?: 'same keys' | 'one key'
  readonly request: (people: readonly JsonObject[], to: AudienceTarget) => PlatformCall
  readonly answer?: PeopleAnswerFacts
  /** For a platform that accepts a request now and processes it later. */
  readonly later?: OpenLater
  readonly send?: undefined
}

/** How people are sent, if it takes more than a request that facts describe: several of them, or a wait. */
type SendFacts = {
  /**
   * Opens what sends people of one audience, and loads the code for it. It throws `invalid_batch` if the platform refuses them without
   * naming anyone. The same people again must make no difference. If `lists` has no `make`, it also makes an audience of its first
   * people, which may not be empty: it then has only a name.
   */
  readonly send: (client: PlatformClient, context: DestinationContext) => Promise<SendPeople>
  readonly sharing?: undefined
  readonly request?: undefined
  readonly answer?: undefined
  readonly later?: undefined
}

export type SendPeople = (people: readonly JsonObject[], to: AudienceTarget) => Promise<SentPeople>

/** What was sent, and of whom the platform reports that it did not take them. All others are accepted. */
export type SentPeople = {
  readonly bytes: number
  readonly blamed: readonly PersonBlame[]
  /** How many it did not take beside those. */
  readonly missed: readonly { readonly count: number; readonly reason: string }[]
  /** The answer of the platform about the people who are not blamed. */
  readonly answer?: Json | null
  /** The ID in the answer, if an audience was made of the people who are not blamed. */
  readonly made?: unknown
}

/** A person by the place in the request, and what is wrong. */
export type PersonBlame = { readonly at: number; readonly reason: string; readonly field?: string }

/**
 * How a transfer puts people in the place of the earlier members of an audience. With the setting, it does so in every audience that it
 * adds to, and rejects rows that remove people.
 */
export type ReplaceFacts = {
  /** Whether rows can ask for it, too, each for its audience: by the action `replace`. If the mapping gives it to all rows, it is like the setting. */
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
   * Sends people of an audience of which they are to be the members; throws like `SendPeople`.
   * @param key of the same people of the same batch. If it comes again for the audience, it must make no difference.
   */
  readonly send: (people: readonly JsonObject[], to: AudienceTarget, key: string) => Promise<SentPeople>
  /** The state that a later writer needs about people sent since the last call; `undefined` if there is none. */
  readonly deliveryState: () => Json | undefined
  /**
   * The audiences of which people are only kept, if it keeps them until `flush`: later people of these are kept, too, whether they
   * replace members or are added, and batches are held as long as there are some.
   */
  readonly held?: () => ReadonlySet<string>
  /** Sends what is kept, after the last batch. Resolves with the number of bytes. */
  readonly flush?: () => Promise<number>
  /** Completes it after the last batch. Called again, in a later writer too, it finds its work done. */
  readonly finish?: () => Promise<void>
}

/** Whose audiences they are. */
export type AccountTarget = { readonly account: string; readonly settings: Values }

/** Which audience changes. */
export type AudienceTarget = AccountTarget & {
  /** Its ID; empty if it is made of these people. */
  readonly audience: string
  /** The name by which rows mean it; absent if they give its ID. */
  readonly name: string | undefined
  readonly verb: 'add' | 'remove'
  /** Whether the people, who are added, take the place of all earlier members. */
  readonly replaces: boolean
  /** The keys of the people of the request, with `sharing`. */
  readonly keys: readonly string[]
  /** The rows of the batch that each of the people stands for. */
  readonly rows: readonly (readonly number[])[]
}

/** How the platform lists audiences and makes them. */
export type ListFacts = {
  /** The form of an ID. */
  readonly id: RegExp
  readonly nameMax?: number
  /** The form of the whole name of an audience, and the same in words. */
  readonly name?: { readonly pattern: RegExp; readonly wanted: string }
  /** The name of the audience of rows that name none, if it may not have a space. */
  readonly ownName?: (transferId: string) => string
  /**
   * A page of the audiences. Without it, the platform does not list them: only the state of the connection has the IDs of the audiences
   * that it made, and a transfer that is interrupted right after it made one makes it again.
   * @param cursor what `next` made of the page before
   * A discovery passes one that can come from anyone, if `own` names a setting: then it may only be the value of a parameter.
   * @param name the only one that is needed, if the platform can look for it; `undefined` for all
   */
  readonly page?: (to: AccountTarget, cursor: string | undefined, name: string | undefined) => PlatformCall
  /** The audiences of a page that can be changed. */
  readonly found?: (
    answer: Answer,
  ) => readonly { readonly id: unknown; readonly name: unknown; readonly created?: unknown }[]
  /** The cursor of the page after it. @param cursor of the page */
  readonly next?: (answer: Answer, cursor: string | undefined) => unknown
  /**
   * Makes one. If the platform answers with `conflict`, another client made it meanwhile: it is looked for again. Without it, `send`
   * makes one of its first people, and no transfer replaces members.
   * @param columns those of the rows
   */
  readonly make?: (to: AccountTarget, name: string, columns: readonly string[]) => PlatformCall
  /** The ID in the answer to `make`. */
  readonly made?: (answer: Answer) => unknown
  /** One audience, which is `object_not_found` if it is gone. */
  readonly get: (to: AccountTarget, id: string) => PlatformCall
  readonly isThere?: (answer: Answer, id: string) => boolean
  /** Whether a new audience takes people only once it is seen. */
  readonly appearsLater?: boolean
  /** How the platform says the size of an audience, and its match. Absent if it does not say them. */
  readonly measure?: {
    /** By default, the request of `get`. */
    readonly ask?: (to: AccountTarget, id: string) => PlatformCall
    readonly read: (answer: Answer, id: string) => MeasuredFacts
  }
}

/** Values of an answer, as they are: numbers that are none, or negative, count as unknown. */
export type MeasuredFacts = {
  readonly size?: unknown
  /** The ends of a range, if the platform gives no single size. */
  readonly low?: unknown
  readonly high?: unknown
  readonly received?: unknown
  readonly matched?: unknown
  readonly status?: unknown
}

/** How an answer reports the result of each person. People that it neither blames nor leaves uncounted are accepted. */
export type PeopleAnswerFacts = {
  /**
   * Whom an answer blames, by their places in the request. If the answer is a refusal, no one was taken: the others are sent
   * again. `undefined` or no one leaves it to the errors of the API.
   */
  readonly blames?: (answer: Answer, people: readonly JsonObject[]) => readonly PersonBlame[] | undefined
  /** How many were taken, if it does not say which. */
  readonly taken?: (answer: Answer, to: AudienceTarget) => number | undefined
  /**
   * What an answer that blames no one means, if it is not what it would mean elsewhere: a success that does not confirm all people,
   * a refusal of the people as a whole, which is `invalid_batch`.
   */
  readonly means?: (answer: Answer, people: number) => ErrorFact | undefined
}
