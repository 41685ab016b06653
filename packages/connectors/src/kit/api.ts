import {
  type ConnectorContext,
  type ConnectorError,
  type ConnectorErrorCode,
  type FieldDefinition,
  text,
  type Values,
} from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { Credentials } from '../platform-api/client.ts'

/**
 * The facts of a platform's HTTP API, as its connectors share them: pure data, so that definitions load anywhere.
 * `run/open-api.ts` makes a client of it.
 */
export type RestApi = {
  /** For messages: `LinkedIn`. */
  readonly name: string
  /** Paths are relative to this address, which has no trailing slash: `https://api.linkedin.com/rest`. */
  readonly baseUrl: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The meaning of its answers, in addition to the meaning of every HTTP status. */
  readonly errors?: ErrorFacts
  /** The same as a function, if the codes of the platform need one. It has priority. */
  readonly errorOf?: (answer: Answer) => ConnectorError | null | undefined
}

/** A code of `@penstock/wire`, and a sentence that says what to do. */
export type ErrorFact = ConnectorErrorCode | readonly [code: ConnectorErrorCode, advice: string]

/**
 * The meaning of an answer, first by the platform's code and then by the status. A status can be a class, `4xx`, for the
 * statuses that are not listed. The platform's messages are not used, because they can quote what was sent.
 */
export type ErrorFacts = {
  /**
   * The path of the platform's own code in the answer: `error.code`, or its path in the errors of a list. Messages quote it.
   */
  readonly codeAt?: string
  readonly codes?: Readonly<Record<string, ErrorFact | 'success'>>
  /** The meaning of any other code. */
  readonly otherCodes?: ErrorFact
  readonly statuses?: Readonly<Record<string, ErrorFact>>
  /**
   * The meaning of answers that neither a code nor a status shows. `undefined` leaves the decision to them, `null` makes it an
   * answer like any other. An error is thrown unchanged.
   */
  readonly special?: (answer: Answer) => ErrorFact | ConnectorError | null | undefined
}

/** States the facts of an API. An identity function that checks the type. */
export const restApi = (api: RestApi): RestApi => Object.freeze(api)

/** How requests are signed in: with one secret in a header, with two as Basic, or in a way of the platform's own. */
export type Auth =
  /** `query`: parameters of the address of every request, made of the secrets. */
  | { readonly bearer: string; readonly query?: (secrets: Values) => Readonly<Record<string, string>> }
  | { readonly header: string; readonly secret: string }
  | { readonly basic: readonly [user: string, password: string] }
  /** Loads what signs in when it is called. */
  | { readonly open: (context: ConnectorContext) => Promise<Credentials> }

/** Signs in with `Authorization: Bearer`. @param secret the field of the connector's secrets */
export const bearer = (secret: string): Auth => ({ bearer: secret })

type IdFacts = {
  /** The pattern that the whole ID must match. */
  readonly pattern: RegExp
  /** One, for messages. */
  readonly example: string
  /** Its name in messages. By default an ID of the platform. */
  readonly what?: string
  /** Whether nothing can be delivered without it, although the form does not require it. */
  readonly needed?: boolean
}

/** A setting that is an ID of the platform, and can therefore be part of a path. */
export type IdSetting = FieldDefinition & IdFacts

export const idSetting = ({
  pattern,
  example,
  needed = false,
  what,
  ...options
}: Parameters<typeof text>[0] & IdFacts): IdSetting => ({
  ...text({ asked: true, ...options }),
  pattern,
  example,
  needed,
  ...(what && { what }),
})
